# Builds tests/flow/recording.c:	sh tests/flow/recording.sh OUT
top=$(dirname "$0")/../..
build=${MORPH_BUILD:-$top/build}
exec cc -I"$top" -D_GNU_SOURCE -std=gnu11 -o "$1" "$top/tests/flow/recording.c" \
	"$build/obj/libmorphctl/report.a" "$build/obj/libcommon.a" \
	-Wl,--as-needed -lz -lzstd -llzma -lelf -lxxhash
