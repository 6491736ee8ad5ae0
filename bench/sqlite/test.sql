-- Test workload, other queries than in train.sql: windows, trees, sets, JSON, blobs.
drop table if exists node;
drop table if exists event;
drop view if exists busy;
create table node(id integer primary key, parent int, label text);
create table event(at int, node int, kind int, body blob, primary key(at, node)) without rowid;
begin;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 1200)
insert into node select i, i / 3, hex(i * 31 % 257) || '-' || i from n;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 2500)
insert into event select i * 7 % 2500, i * 11 % 1200, i % 5, zeroblob(i % 40) from n;
commit;
create index event_node on event(node) where kind > 1;
create view busy as select node, count(*) c from event group by node;
with recursive under(id, depth) as (select 1, 0 union all
	select node.id, depth + 1 from node join under on node.parent = under.id where depth < 4)
select depth, count(*) from under group by depth;
select sum(r) from (select row_number() over (partition by kind order by at) * kind as r from event);
select node, at, lag(at, 1, 0) over (partition by node order by at) from event where node < 12 order by 1, 2;
select count(*) from (select node from event where kind = 1 intersect select node from event where kind = 3);
select count(*) from (select id from node union select at from event except select node from event);
select avg(c), max(c) from busy;
select sum(json_extract(json_object('a', at, 'b', json_array(kind, node)), '$.b[1]')) from event;
select group_concat(label, ';') from (select label from node where label glob '*3?-*7' order by label desc);
insert into event select at + 10000, node, kind, body from event where true on conflict do nothing;
insert or replace into node select id, parent, lower(label) from node where id % 2;
select case when kind = 0 then 'none' when kind < 3 then 'few' else 'many' end k, sum(length(body))
	from event left join node on node.id = event.node group by k order by k;
select count(*), total(at) from event where node not in (select parent from node where parent is not null);
select strftime('%Y-%m', 1700000000 + at * 40000, 'unixepoch') m, count(*) from event group by m order by 2 desc, 1 limit 5;
