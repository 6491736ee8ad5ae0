# Builds a program of tests that reads or writes recordings:	sh tests/flow/reportlink.sh SOURCE OUT
top=$(dirname "$0")/../..
build=${MORPH_BUILD:-$top/build}
exec cc -I"$top" -D_GNU_SOURCE -std=gnu11 -o "$2" "$1" \
	"$build/obj/libmorphctl/report.a" "$build/obj/libmorphctl.a" "$build/obj/liblifter.a" "$build/obj/libcommon.a" \
	-Wl,--as-needed -ljansson -lsqlite3 -lz -lzstd -llzma -ldw -lelf -lZydis -lZycore -liberty -lseccomp -lxxhash -lm
