#compdef morphctl
# zsh completion for morphctl(1)

# Programs that the manager knows, by path and by name.
_morphctl_modules() {
	local -a paths
	paths=(${(f)"$(morphctl status --json --limit 1000 2>/dev/null |
		sed -n 's/^ *"path": "\(\/[^"\\]*\)",\{0,1\}$/\1/p' | sort -u)"})
	compadd -a paths
	compadd -- ${paths:t}
	_files
}

_morphctl() {
	local -a commands options value words_so_far
	local word skip
	commands=(
		'status:what is known of programs, what is being done and why'
		'reoptimize:decide at once, make a new layout if it pays'
		'rollback:put the build before the last swap back'
		'history:past swaps and failures, newest first'
		'explain:the last decision, rung by rung'
		'profile:hot functions and blocks'
		'reload:have the policy read again'
		'artifact:artifacts of programs'
		'compare:how far two profiles of a program agree'
		'merge:add profiles up, by weight'
		'report:where the time goes'
		'annotate:instructions of a function, with samples'
		'top:what runs now'
		'export:the samples in the format of another tool'
		'optimize:a faster copy of any program, for yourself'
		'simulate:what the manager would do on traces of usage'
		'web:all of that as a page in a browser'
		'hooks:build programs with an artifact'
	)
	value=(--socket --limit --policy --output -o --install --listen --input -i --from --program --by --event
		--since --until)
	for word in ${words[2,CURRENT-1]}; do
		if [[ -n $skip ]]; then
			skip=
		elif (( ${value[(Ie)$word]} )); then
			skip=$word
		elif [[ $word != -* ]]; then
			words_so_far+=($word)
		fi
	done
	case $skip in
	--by) compadd module function line address process; return ;;
	--limit | --event | --from | --since | --until) return ;;
	--install) _files -/; return ;;
	?*) _files; return ;;
	esac

	local -a samples
	samples=('--event:the event to count' '--since:from a time on, or so long ago' '--until:up to a time'
		'--input:a profile of another tool' '--from:its format' '--program:the program that it is of')
	options=('--help:help of the command' '--json:the result as JSON'
		'--socket:ask the manager at this socket' "--system:ask the system's manager" '--version:print the version')
	case $words_so_far[1] in
	status) options+=('--all:also modules without artifact' '--limit:at most so many lines') ;;
	compare | history) options+=('--limit:at most so many lines') ;;
	reoptimize) options+=('--wait:return when it is done' '--force:also where the gain is small or not certain') ;;
	rollback) options+=('--wait:return when it is done' '--all:all modules') ;;
	profile) options+=('--blocks:with the hottest blocks' '--limit:at most so many lines' '--text:as morph-edit(1) reads it') ;;
	artifact) [[ $words_so_far[2] == show ]] && options+=('--functions:list the functions too') ;;
	report) options+=('--by:rows' '--callers:between callers and callees' '--charged:with what other code was called for' '--limit:at most so many lines' $samples) ;;
	annotate) options+=('--blocks:as the editor knows them' $samples) ;;
	export) options+=('--blocks:as the editor knows them' '--output:write this file' ${samples:1}) ;;
	optimize) options+=('--output:write this file' '--input:a profile of another tool' '--from:its format') ;;
	web) options+=('--listen:serve at this socket') ;;
	merge) options+=('--equal:scale all to the same sum' '--output:write this file') ;;
	simulate) options+=('--policy:by this policy' '--decisions:with the decisions, one by one') ;;
	hooks)
		options=()
		[[ $words_so_far[2] == run ]] && options=('--store:artifacts by build-id alone' '--install:artifacts of what was put there')
		[[ $words_so_far[2] == log ]] && options=('--follow:go on as lines come' '--json:as JSON')
		;;
	esac
	if [[ $words[CURRENT] == -* ]]; then
		_describe option options
		return
	fi

	case ${words_so_far[*]} in
	"") commands+=('help:help of a command' 'version:print the version'); _describe command commands ;;
	help) _describe command commands ;;
	reoptimize) compadd now ;;
	artifact) compadd show find list install fetch remove ;;
	hooks) compadd run env cmake doctor log ;;
	"hooks run") _command_names; _files ;;
	"hooks doctor" | "artifact install"*) _files -/ ;;
	"hooks log" | "hooks env" | "hooks cmake" | "artifact list" | reload | top | web) ;;
	export) compadd list $(morphctl export list 2>/dev/null | sed -n '/^Written/,$s/^  \([a-z-]*\) .*/\1/p') ;;
	status | "reoptimize now" | rollback | history | explain | profile | report | annotate) _morphctl_modules ;;
	artifact* | compare* | merge* | optimize* | simulate* | "hooks run"*) _files ;;
	esac
}

_morphctl "$@"
