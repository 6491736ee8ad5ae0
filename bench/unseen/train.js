// Training workload: sieve, sorting, objects, patterns, closures; argument = rounds.
var rounds = Number(scriptArgs[scriptArgs.length - 1]);
var seed = 12345;
function rnd(n) { seed = (seed * 1103515 + 12345) % 2147483648; return Math.floor(seed / 256) % n; }

function sieve(n) {
	var found = 0, out = [], i, k;
	for (i = 0; i <= n; i++) out[i] = true;
	for (i = 2; i <= n; i++)
		if (out[i]) {
			found++;
			for (k = i * i; k <= n; k += i) out[k] = false;
		}
	return found;
}

function word() {
	var s = '', n = 2 + rnd(7);
	while (n--) s += String.fromCharCode(97 + rnd(26));
	return s;
}

function Account(name) { this.name = name; this.sum = 0; }
Account.prototype.add = function (n) { if (n > 0) this.sum += n; else this.sum -= 1; return this; };

function counter(step) {
	var n = 0;
	return function () { return n += step; };
}

for (var round = 0; round < rounds; round++) {
	print(sieve(6000));
	var words = [], count = {}, i;
	for (i = 0; i < 500; i++) words.push(word());
	words.sort(function (a, b) { return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0); });
	print(words[0], words[499]);
	var text = words.join(' ');
	text.replace(/[aeiou]+([^aeiou ])/g, function (all, c) { count[c] = (count[c] || 0) + 1; return all; });
	print(count.b, count.n, text.split(/z|q/).length);
	var accounts = words.map(function (w) { return new Account(w); });
	for (i = 0; i < 8000; i++) accounts[i % 500].add(rnd(50) - 10);
	print(accounts.reduce(function (s, a) { return s + a.sum; }, 0));
	var c = [counter(1), counter(3)], total = 0;
	for (i = 0; i < 12000; i++) total += c[i & 1]();
	print(total);
}
