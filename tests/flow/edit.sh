# Sourced by the edit-* tests: a folder to work in, the programs, ways to say no.
set -u
: "${MORPH_BUILD:?names the build folder}"
corpus=$(dirname "$(readlink -f "$0")")/../corpus/edit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tmp"
export TMPDIR=$work/tmp XDG_CACHE_HOME=$work/cache
cd "$work" || exit 1

fail() {
	echo "FAILED: $*"
	exit 1
}

edit() { # ARTIFACT ARGUMENT…
	local a=$1
	shift
	"$MORPH_BUILD/bin/morph-edit" --artifact "$a" "$@"
}

hooked() { # COMPILER ARGUMENT…
	"$MORPH_BUILD/bin/morph-cc" "$@" || fail "cannot build: $*"
}

build() { # OUT OPTION…: the program, through the hooks
	local out=$1
	shift
	rm -f "$out" "$out.morph"
	hooked "${CC:-gcc}" "$@" -rdynamic -o "$out" "$corpus/program.c" "$corpus/program2.c" -lm
	[ -f "$out.morph" ] || fail "no artifact of $out ($*)"
}

sections_equal() { # A B SECTION…
	local a=$1 b=$2 s
	shift 2
	for s; do
		objcopy -O binary -j "$s" "$a" a.section && objcopy -O binary -j "$s" "$b" b.section &&
			cmp a.section b.section || fail "$s of $a and $b differ"
	done
}

note() { # ELF OWNER: the bytes of the note, in hex
	readelf -Wn "$1" | sed -n "/$2/,\$ {s/.*\(description data\|Build ID\): *//p}" | head -n 1 | tr -d ' '
}
