# Training workload: word counts, fields, sums by key, substitutions; -v rounds=N.
function rnd(n) { seed = (seed * 1103515 + 12345) % 2147483648; return int(seed / 256) % n }
function word(  s, n) {
	s = ""
	for (n = 2 + rnd(7); n; n--) s = s substr("abcdefghijklmnopqrstuvwxyz", 1 + rnd(26), 1)
	return s
}
BEGIN {
	seed = 12345
	for (i = 0; i < 300; i++) words[i] = word()
	for (round = 0; round < rounds; round++) {
		for (i = 0; i < 1500; i++) {
			$0 = words[rnd(300)] " " rnd(1000) " " words[rnd(300)] "," rnd(90) / 7
			count[$1]++
			sum[$1 % 7] += $2
			if ($3 ~ /^[aeiou][^,]*,[1-9]/) vowels++
			if (NF != 3) bad++
			$2 = $2 * 2
			length_ += length($0)
			gsub(/[aeiou]+/, "<&>", $3)
			if (match($3, />[^<]+</)) inner += RLENGTH
			lines[i % 50] = $0
		}
		best = ""
		for (w in count) if (best == "" || count[w] > count[best] || count[w] == count[best] && w < best) best = w
		printf "%s %d %d %d %d %s\n", best, count[best], vowels, length_, inner, lines[7]
	}
}
