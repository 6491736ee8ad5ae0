-- Training workload: loading, indexes, joins, groups, text, updates by key.
drop table if exists item;
drop table if exists sale;
create table item(id integer primary key, name text, kind text, price real);
create table sale(id integer primary key, item int, shop int, day text, amount int);
begin;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 600)
insert into item select i, printf('item %d %x', i * 7919 % 1009, i),
	substr('abcdefghij', i % 10 + 1, 1), i % 97 + i / 3.0 from n;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 4000)
insert into sale select i, i * 48271 % 600 + 1, i * 16807 % 23,
	printf('2026-%02d-%02d', i % 12 + 1, i % 28 + 1), i * 69621 % 11 + 1 from n;
commit;
create index sale_item on sale(item, day);
create index item_name on item(name);
select kind, count(*), round(sum(price * amount), 2) from sale join item on item.id = sale.item
	group by kind order by kind;
select shop, day, sum(amount) as s from sale where day between '2026-03-01' and '2026-06-31'
	group by shop, day having s > 14 order by s desc, shop, day limit 20;
select count(*) from item where name like '%9%' and upper(name) > 'ITEM 5';
select count(*) from sale a where exists (select 1 from sale b where b.item = a.item and b.day > a.day);
begin;
update item set price = price * 1.1 where id % 3 = 0;
update sale set amount = amount + 1 where item in (select id from item where kind = 'c');
delete from sale where id % 17 = 0;
commit;
select name, length(name), replace(name, 'item', 'thing') from item where id < 10;
select round(avg(price), 3), max(name), min(name) from item;
select sum(amount), count(distinct item) from sale;
