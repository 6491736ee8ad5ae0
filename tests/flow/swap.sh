# Sourced by the swap tests: $t (work folder, removed at the end), $driver
# (tests/flow/swapdriver.c against the parent's library), helpers.
set -eu
cd "$(dirname "$0")/../.."
t=$(mktemp -d)
chmod 755 "$t"
driver=$t/swapdriver
cc -I. -D_GNU_SOURCE -std=gnu11 -o "$driver" tests/flow/swapdriver.c \
	"$MORPH_BUILD/obj/libmanagerd/parent.a" "$MORPH_BUILD/obj/libcommon.a" -lsodium

fail() { echo "$*"; exit 1; }
build() { # OUT STATUS: a program that exits with it
	echo "int main(void) { return $2; }" | cc -Wl,--build-id -x c -o "$1" -
}
build_id() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }
status() { # PROGRAM: its exit status
	local s=0
	"$1" || s=$?
	echo $s
}
listing() { find "$1" -mindepth 1 -printf '%P\n' | sort; }
