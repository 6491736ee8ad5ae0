# fish completion for morphctl(1)

# The words so far that are neither options nor their values, without morphctl itself.
function __morphctl_words
	set -l skip no
	for word in (commandline -opc)[2..-1]
		if test $skip = yes
			set skip no
			continue
		end
		switch $word
			case --socket --limit --policy --output -o --install --listen --input -i --from --program --by --event --since --until
				set skip yes
			case '-*'
			case '*'
				echo -- $word
		end
	end
end

# Are these the first words?
function __morphctl_in
	set -l words (__morphctl_words)
	string match -q -- "$argv *" "$words "
end

# Are these all words?
function __morphctl_at
	set -l words (__morphctl_words)
	test "$words" = "$argv"
end

# Programs that the manager knows, by path and by name.
function __morphctl_modules
	set -l paths (morphctl status --json --limit 1000 2>/dev/null |
		string replace -rf '^ *"path": "(/[^"\\\\]*)",?$' '$1' | sort -u)
	string join \n -- $paths
	string replace -r '.*/' '' -- $paths
end

set -l commands status 'what is known of programs, what is being done and why' \
	reoptimize 'decide at once, make a new layout if it pays' \
	rollback 'put the build before the last swap back' \
	history 'past swaps and failures, newest first' \
	explain 'the last decision, rung by rung' \
	profile 'hot functions and blocks' \
	reload 'have the policy read again' \
	artifact 'artifacts of programs' \
	compare 'how far two profiles of a program agree' \
	merge 'add profiles up, by weight' \
	report 'where the time goes' \
	annotate 'instructions of a function, with samples' \
	top 'what runs now' \
	export 'the samples in the format of another tool' \
	web 'all of that as a page in a browser' \
	optimize 'a faster copy of any program, for yourself' \
	simulate 'what the manager would do on traces of usage' \
	hooks 'build programs with an artifact'

complete -c morphctl -f
for i in (seq 1 2 (count $commands))
	complete -c morphctl -n '__morphctl_at' -a $commands[$i] -d $commands[(math $i + 1)]
	complete -c morphctl -n '__morphctl_at help' -a $commands[$i] -d $commands[(math $i + 1)]
end
complete -c morphctl -n '__morphctl_at' -a 'help version'
complete -c morphctl -n '__morphctl_at' -s V -l version -d 'print the version'
complete -c morphctl -n 'not __morphctl_in hooks' -s h -l help -d 'help of the command'
complete -c morphctl -n 'not __morphctl_in hooks' -l json -d 'the result as JSON'
complete -c morphctl -n 'not __morphctl_in hooks' -l socket -rF -d 'ask the manager at this socket'
complete -c morphctl -n 'not __morphctl_in hooks' -l system -d 'ask the system\'s manager'
complete -c morphctl -n 'not __morphctl_in hooks' -l version -d 'print the version'

complete -c morphctl -n '__morphctl_in status' -l all -d 'also modules without artifact'
complete -c morphctl -n '__morphctl_in rollback' -l all -d 'all modules'
for command in status history profile compare report
	complete -c morphctl -n "__morphctl_in $command" -l limit -x -d 'at most so many lines'
end
for command in reoptimize rollback
	complete -c morphctl -n "__morphctl_in $command" -l wait -d 'return when it is done'
end
complete -c morphctl -n '__morphctl_in reoptimize' -l force -d 'also where the gain is small or not certain'
complete -c morphctl -n '__morphctl_in profile' -l blocks -d 'with the hottest blocks'
for command in annotate export
	complete -c morphctl -n "__morphctl_in $command" -l blocks -d 'as the editor knows them'
end
complete -c morphctl -n '__morphctl_in profile' -l text -d 'as morph-edit(1) reads it'
complete -c morphctl -n '__morphctl_in artifact show' -l functions -d 'list the functions too'
complete -c morphctl -n '__morphctl_in merge' -l equal -d 'scale all to the same sum'
complete -c morphctl -n '__morphctl_in merge' -s o -l output -rF -d 'write this file'
complete -c morphctl -n '__morphctl_in report' -l by -x -a 'module function line address process' -d 'rows'
complete -c morphctl -n '__morphctl_in report' -l callers -d 'between callers and callees'
complete -c morphctl -n '__morphctl_in report' -l charged -d 'with what other code was called for'
for command in report annotate
	complete -c morphctl -n "__morphctl_in $command" -l event -x -d 'the event to count'
end
for command in report annotate export
	complete -c morphctl -n "__morphctl_in $command" -l since -x -d 'from a time on, or so long ago'
	complete -c morphctl -n "__morphctl_in $command" -l until -x -d 'up to a time'
	complete -c morphctl -n "__morphctl_in $command" -s i -l input -rF -d 'a profile of another tool'
	complete -c morphctl -n "__morphctl_in $command" -l from -x -d 'its format'
	complete -c morphctl -n "__morphctl_in $command" -l program -rF -d 'the program that it is of'
end
for command in export optimize
	complete -c morphctl -n "__morphctl_in $command" -s o -l output -rF -d 'write this file'
end
complete -c morphctl -n '__morphctl_at export' -a "list (morphctl export list 2>/dev/null | string match -rg '^  ([a-z-]+) ')"
complete -c morphctl -n '__morphctl_in optimize' -s i -l input -rF -d 'a profile of another tool'
complete -c morphctl -n '__morphctl_in optimize' -l from -x -d 'its format'
complete -c morphctl -n '__morphctl_in web' -l listen -rF -d 'serve at this socket'
complete -c morphctl -n '__morphctl_in simulate' -l policy -rF -d 'by this policy'
complete -c morphctl -n '__morphctl_in simulate' -l decisions -d 'with the decisions, one by one'

complete -c morphctl -n '__morphctl_at reoptimize' -a now
complete -c morphctl -n '__morphctl_at artifact' -a 'show find list install fetch remove'
for command in status 'reoptimize now' rollback history explain profile report annotate
	complete -c morphctl -n "__morphctl_at $command" -F -a '(__morphctl_modules)'
end
for command in 'artifact show' 'artifact find' 'artifact fetch' 'artifact remove' compare merge optimize simulate
	complete -c morphctl -n "__morphctl_in $command" -F
end
complete -c morphctl -n '__morphctl_in artifact install' -a '(__fish_complete_directories)'

complete -c morphctl -n '__morphctl_at hooks' -a 'run env cmake doctor log'
complete -c morphctl -n '__morphctl_at hooks run' -l store -d 'artifacts by build-id alone'
complete -c morphctl -n '__morphctl_at hooks run' -l install -x -a '(__fish_complete_directories)' -d 'artifacts of what was put there'
complete -c morphctl -n '__morphctl_in hooks run' -F -a '(__fish_complete_command)'
complete -c morphctl -n '__morphctl_in hooks doctor' -a '(__fish_complete_directories)'
complete -c morphctl -n '__morphctl_in hooks log' -s f -l follow -d 'go on as lines come'
complete -c morphctl -n '__morphctl_in hooks log' -l json -d 'as JSON'
