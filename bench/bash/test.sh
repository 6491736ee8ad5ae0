# Test workload: sorting, queens, a calculator, substitutions, quoting, a here document; argument = rounds.
rounds=${1:-1}
state=77
next() { ((state = (state * 69069 + 1) & 0x7fffffff)); REPLY=$((state >> 8)); }
quick() { # into list
	local pivot=$1 x
	local -a less more
	[ $# -eq 0 ] && return
	shift
	for x; do
		if ((x < pivot)); then less+=("$x"); else more+=("$x"); fi
	done
	quick "${less[@]}"
	list+=("$pivot")
	quick "${more[@]}"
}
queens() { # ROW SIZE
	local row=$1 size=$2 col r
	if ((row == size)); then
		((solutions++))
		return
	fi
	for ((col = 0; col < size; col++)); do
		for ((r = 0; r < row; r++)); do
			((board[r] == col || board[r] - col == row - r || col - board[r] == row - r)) && continue 2
		done
		board[row]=$col
		queens $((row + 1)) "$size"
	done
}
calculate() { # postfix
	local -a stack
	local t top
	for t in $1; do
		top=$((${#stack[@]} - 1))
		case $t in
		[-+*/])
			stack[top - 1]=$((stack[top - 1] $t stack[top]))
			unset "stack[top]"
			;;
		*) stack+=("$t") ;;
		esac
	done
	REPLY=${stack[0]}
}
for ((round = 0; round < rounds; round++)); do
	values=()
	for ((i = 0; i < 50; i++)); do
		next
		values+=($((REPLY % 1000)))
	done
	list=()
	quick "${values[@]}"
	solutions=0 board=()
	queens 0 5
	calculate "3 4 + 5 * 7 - 2 / 9 9 * +"
	result=$REPLY
	path=/usr/share/doc/some.package-$round/README.Debian.gz
	base=${path##*/} folder=${path%/*} stem=${base%%.*} changed=${path//a/<A>} lower=${base,,}
	printf -v beta '%03x' "$round"
	while IFS=' ' read -r key value; do
		[[ -n $value ]] && table+="$key=${value:1:4};"
	done <<-END
		alpha one$round
		beta $beta
		gamma two words
	END
	for f in {a..e}{1..4}; do
		[[ $f == [b-d][24] ]] || continue
		out+=${f@Q}
	done
	set -- $folder $stem
	printf '%d %s %s %d %d %s %s %s %s\n' "${list[0]}" "${list[25]}" "$changed" $solutions $result "$lower" $# "${table:0:30}" "$out"
	out= table=
done
