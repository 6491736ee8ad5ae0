# Tests. unit/NAME.c: check(3) programs under ASan and UBSan. asm/: golden
# edits. flow/NAME: scripts, end to end. fuzz/NAME.c: libFuzzer harnesses.
#	make check            all            make T=wire check     one
#	make asan             all programs with sanitizers, in build/asan
#	make check-packages   real packages, with their own suites (tests/packages)
#	make check-legacy     programs and libraries as Debian ships them, lifted (tests/legacy)
#	make check-deb        Morph's own Debian packages (tests/deb)

UNIT := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/*.c))
FUZZ := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
S := $(B)/asan
# One sanitized build for unit tests and fuzzers, which clang alone has. Empty lists are walked from
# NULL to NULL + 0, which it would report; older ones do not name the sanitizer as GCC does.
SAN := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=pointer-overflow \
	-fno-sanitize-recover=undefined -fno-omit-frame-pointer -D__SANITIZE_ADDRESS__
sanitized = $(MAKE) --no-print-directory B=$(S) CC=clang SANITIZE="$(SAN)" CFLAGS="-O1 -g1"

# After deps: apt-get runs once at a time.
deps-check: deps
	@config/install-deps config/packages.check

asan: deps-check
	+$(sanitized) all

# Sanitized programs of tests, unit/NAME, asm/edit and harness/NAME, each linked again when it or
# a library changed.
TESTS := $(UNIT:%=unit/%) asm/edit $(FUZZ:%=harness/%)
tests:
	+@$(sanitized) $(TESTS:%=$(S)/%)
linked = $(Q)$(CC) $(ALL_CFLAGS) -fuse-ld=lld $(1) -o $@ $< -Wl,--start-group $(LIBFILES) -Wl,--end-group $(2) $(LIBS)
$(B)/unit/%: $(B)/obj/tests/unit/%.o $(LIBFILES)
	@mkdir -p $(@D)
	$(say) "  LINK    $@"
	$(call linked,,-lcheck -lsubunit -lrt)
$(B)/asm/edit: $(B)/obj/tests/asm/edit.o $(LIBFILES)
	@mkdir -p $(@D)
	$(say) "  LINK    $@"
	$(call linked)
$(B)/harness/%: $(B)/obj/tests/fuzz/%.o $(LIBFILES)
	@mkdir -p $(@D)
	$(say) "  LINK    $@"
	$(call linked,-fsanitize=fuzzer)
# What tests call is to be fast, not they: a third of the time to compile.
$(B)/obj/tests/unit/%.o: ALL_CFLAGS += -O0
TESTOBJS := $(UNIT:%=$(B)/obj/tests/unit/%.o) $(B)/obj/tests/asm/edit.o $(FUZZ:%=$(B)/obj/tests/fuzz/%.o)
.SECONDARY: $(TESTOBJS)
-include $(TESTOBJS:.o=.d)

# Other people's programs that run in a browser; without them what they read is not tried on them.
$(B)/npm/package-lock.json: tests/npm/package-lock.json tests/npm/package.json
	@$(NPM_THERE)
	@rm -rf $(@D) && mkdir -p $(@D) && cp $^ $(@D) && cd $(@D) && $(NPM_CI) || { rm -rf $(@D); false; }

check: deps-check all
	-@$(MAKE) --no-print-directory $(B)/npm/package-lock.json
	@MORPH_BUILD=$(B) tests/run $(T)

# Real packages and their own suites: hours, and it goes on where it was stopped. P="bzip2 re2": these.
# What builds of them cost is timed apart: tests/packages/run --cost.
check-packages: deps-check all
	@MORPH_BUILD=$(B) tests/packages/run --record $(P); status=$$?; tests/packages/run --table; exit $$status

# Programs and libraries as Debian ships them, lifted and moved: hours, likewise. P="perl xz": these.
check-legacy: deps-check all
	@MORPH_BUILD=$(B) tests/legacy/run --record $(P); status=$$?; tests/legacy/run --table; exit $$status

# The Debian packages of this tree: built twice, installed, upgraded and purged in a root of their own.
check-deb: deps-check
	@config/install-deps config/packages.deb config/packages.check-deb
	@MORPH_BUILD=$(B) tests/deb/run

fuzz: deps-check
	tests/fuzz/run $(if $(SECONDS_EACH),$(SECONDS_EACH),60)

.PHONY: deps-check tests check-packages check-legacy check-deb
