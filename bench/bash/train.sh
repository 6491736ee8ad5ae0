# Training workload: words, tables, fields, patterns, arithmetic; argument = rounds.
rounds=${1:-1} seed=12345
rnd() { seed=$(((seed * 1103515245 + 12345) % 2147483648)) got=$((seed / 256 % $1)); }
word() {
	local n c
	rnd 7
	n=$((got + 2)) made=
	for ((c = 0; c < n; c++)); do
		rnd 26
		made+=${letters:got:1}
	done
}
letters=abcdefghijklmnopqrstuvwxyz
for ((i = 0; i < 60; i++)); do
	word
	words[i]=$made
done
primes() {
	local n=$1 i k
	local -a sieve
	found=0
	for ((i = 2; i < n; i++)); do
		[[ ${sieve[i]} ]] && continue
		((++found))
		for ((k = i * i; k < n; k += i)); do sieve[k]=x; done
	done
}
declare -A count
for ((round = 0; round < rounds; round++)); do
	primes 250
	sum=0 vowels=0
	for ((i = 0; i < 60; i++)); do
		rnd 60
		w=${words[got]}
		((count[$w]++))
		line="$w:$i:${w^^}:/home/$w"
		IFS=:
		set -- $line
		unset IFS
		name=$1 number=$2 upper=$3 home=$4
		((sum += number))
		case $name in
		[aeiou]*) ((vowels++)) ;;
		*[xyz]) name=${name%?} ;;
		esac
		[[ $home =~ ^/([a-z]+)/([a-f]*) ]] && part=${BASH_REMATCH[2]}
		text+=${upper/A/-}${part:-none}
	done
	best=
	for w in "${!count[@]}"; do
		if [ -z "$best" ] || [ "${count[$w]}" -gt "${count[$best]}" ] || { [ "${count[$w]}" -eq "${count[$best]}" ] && [[ $w < $best ]]; }; then
			best=$w
		fi
	done
	printf '%s %d %d %d %d %s\n' "$best" "${count[$best]}" $found $sum $vowels "${text:0:20}"
	text=
done
