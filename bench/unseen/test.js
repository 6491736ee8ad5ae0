// Test workload: a parser, matrices, JSON, trees, strings; argument = rounds.
var rounds = Number(scriptArgs[scriptArgs.length - 1]);
var seed = 99;
function rnd(n) { seed = (seed * 1664525 + 1013904223) % 4294967296; return Math.floor(seed / 1024) % n; }

function expression(depth) {
	if (!depth) return String(1 + rnd(99));
	return '(' + expression(depth - 1) + ' ' + '+-*'.charAt(rnd(3)) + ' ' + expression(depth - 1) + ')';
}

function Parser(text) { this.text = text; this.at = 0; }
Parser.prototype.value = function () {
	while (this.text.charAt(this.at) === ' ') this.at++;
	if (this.text.charAt(this.at) === '(') {
		this.at++;
		var a = this.value(), op = this.text.charAt(this.at + 1);
		this.at += 2;
		var b = this.value();
		this.at++;
		switch (op) {
		case '+': return (a + b) % 65521;
		case '-': return (a - b) % 65521;
		default: return (a * b) % 65521;
		}
	}
	var n = 0, c;
	while ((c = this.text.charCodeAt(this.at)) >= 48 && c <= 57) {
		n = n * 10 + c - 48;
		this.at++;
	}
	return n;
};

function multiply(a, b, n) {
	var out = [], i, j, k, s;
	for (i = 0; i < n; i++)
		for (out[i] = [], j = 0; j < n; j++) {
			for (s = 0, k = 0; k < n; k++) s += a[i][k] * b[k][j];
			out[i][j] = s & 1023;
		}
	return out;
}

function insert(tree, key) {
	if (!tree) return { key: key, n: 1, left: null, right: null };
	if (key < tree.key) tree.left = insert(tree.left, key);
	else if (key > tree.key) tree.right = insert(tree.right, key);
	else tree.n++;
	return tree;
}

function depth(tree) { return tree ? 1 + Math.max(depth(tree.left), depth(tree.right)) : 0; }

for (var round = 0; round < rounds; round++) {
	print(new Parser(expression(9)).value());
	var n = 22, m = [], i, j;
	for (i = 0; i < n; i++)
		for (m[i] = [], j = 0; j < n; j++) m[i][j] = rnd(100);
	print(multiply(m, m, n)[3].join(','));
	var tree = null;
	for (i = 0; i < 1500; i++) tree = insert(tree, rnd(100000));
	print(depth(tree));
	var data = { rows: m, names: ['a', 'b\n', '\u00e9'], deep: { list: [1, 2.5, null, true] } };
	var copy = JSON.parse(JSON.stringify(data));
	print(copy.rows[1][2], copy.names.length, JSON.stringify(copy.deep));
	var text = '';
	for (i = 0; i < 600; i++) text += i.toString(16) + (i % 7 ? '-' : ';');
	print(text.split('-').reverse().join('+').substring(10, 40), text.lastIndexOf(';1'));
	var log = text.match(/[0-9]+;[a-f]?/g);
	print(log.length, log[5]);
}
