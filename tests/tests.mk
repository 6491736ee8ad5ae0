# Tests. unit/NAME.c: check(3) programs under ASan and UBSan. asm/: golden
# edits. flow/NAME: scripts, end to end. fuzz/NAME.c: libFuzzer harnesses.
#	make check            all            make T=wire check     one
#	make asan             all programs with sanitizers, in build/asan

UNIT := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/*.c))
S := $(B)/asan
SAN := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer

deps-check:
	@config/install-deps config/packages.build config/packages.check

# The sanitized twin of every folder library, and the unit tests on it.
asan: deps
	$(MAKE) B=$(S) SANITIZE="$(SAN)" CFLAGS="-O1 -g" all

# UNITS of them, the libraries first.
UNITS := $(UNIT)
units:
	@$(MAKE) --no-print-directory -s B=$(S) SANITIZE="$(SAN)" CFLAGS="-O1 -g" unit-libs
	@$(MAKE) --no-print-directory -s $(UNITS:%=$(S)/unit/%)
unit-libs: $(LIBFILES)
$(S)/unit/%: tests/unit/%.c FORCE
	@mkdir -p $(@D)
	@rm -f $@
	@$(CC) $(CPPFLAGS) -std=gnu11 $(WARN) -O1 -g $(SAN) -o $@ $< -Wl,--start-group \
		$(patsubst $(B)/%,$(S)/%,$(LIBFILES)) -Wl,--end-group -lcheck -lsubunit -lrt $(LIBS)

check: deps-check all
	@MORPH_BUILD=$(B) tests/run $(T)

fuzz: deps-check
	tests/fuzz/run $(if $(SECONDS_EACH),$(SECONDS_EACH),60)

FORCE:
.PHONY: deps-check units unit-libs FORCE
