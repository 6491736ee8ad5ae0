# Test workload: a calculator, sorting, matrices, formats, splitting; -v rounds=N.
function rnd(n) { seed = (seed * 1664525 + 1013904223) % 4294967296; return int(seed / 1024) % n }
function expression(depth) {
	if (!depth) return 1 + rnd(99)
	return "(" expression(depth - 1) substr("+-*", 1 + rnd(3), 1) expression(depth - 1) ")"
}
function value(  a, b, op) {
	if (substr(text, at, 1) == "(") {
		at++
		a = value()
		op = substr(text, at++, 1)
		b = value()
		at++
		return (op == "+" ? a + b : op == "-" ? a - b : a * b) % 65521
	}
	for (a = 0; (b = substr(text, at, 1)) ~ /[0-9]/; at++) a = a * 10 + b
	return a
}
function quick(v, low, high,  i, last, t) {
	if (low >= high) return
	last = low
	for (i = low + 1; i <= high; i++)
		if (v[i] < v[low]) { last++; t = v[last]; v[last] = v[i]; v[i] = t }
	t = v[low]; v[low] = v[last]; v[last] = t
	quick(v, low, last - 1)
	quick(v, last + 1, high)
}
BEGIN {
	seed = 99
	for (round = 0; round < rounds; round++) {
		text = expression(8)
		at = 1
		print value()
		for (i = 1; i <= 900; i++) v[i] = rnd(100000)
		quick(v, 1, 900)
		n = 14
		for (i = 1; i <= n; i++) for (k = 1; k <= n; k++) m[i, k] = v[i * k]
		for (i = 1; i <= n; i++) for (k = 1; k <= n; k++) {
			s = 0
			for (j = 1; j <= n; j++) s += m[i, j] * m[j, k]
			p[i, k] = s % 1000
		}
		line = ""
		for (i = 1; i <= 200; i++) line = line sprintf("%05d;%x:%-4s|%.2f,", v[i], i, i % 9, v[i] / 7)
		parts = split(line, cell, /[;:|,]/)
		for (i = sum = 0; i < parts; i++) sum += toupper(cell[i + 1]) ~ /[A-F]/ ? 1 : cell[i + 1]
		print v[450], p[3, 7], parts, sum, index(line, ";c8"), tolower(substr(line, 50, 30))
	}
}
