# Tests. unit/NAME.c: check(3) programs under ASan and UBSan. asm/: golden
# edits. flow/NAME: scripts, end to end. fuzz/NAME.c: libFuzzer harnesses.
#	make check            all            make T=wire check     one
#	make asan             all programs with sanitizers, in build/asan
#	make check-packages   real packages, with their own suites (tests/packages)

UNIT := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/*.c))
FUZZ := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
S := $(B)/asan
SAN := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
sanitized = $(MAKE) --no-print-directory B=$(S) SANITIZE="$(SAN)" CFLAGS="-O1 -g1"

deps-check:
	@config/install-deps config/packages.build config/packages.check

# The sanitized twin of every folder library, and the unit tests on it.
asan: deps
	$(sanitized) all

# UNITS and HARNESSES, each linked again when it or a library changed.
UNITS := $(UNIT)
units:
	@$(sanitized) $(UNITS:%=$(S)/unit/%)
asm-edit:
	@$(sanitized) $(S)/asm/edit
HARNESSES := $(FUZZ)
harnesses:
	@$(MAKE) --no-print-directory B=$(B)/fuzz CC=clang WARN= SANITIZE="-fsanitize=fuzzer-no-link $(SAN)" \
		CFLAGS="-O1 -g1" $(HARNESSES:%=$(B)/fuzz/harness/%)
linked = $(Q)$(CC) $(ALL_CFLAGS) $(1) -o $@ $< -Wl,--start-group $(LIBFILES) -Wl,--end-group $(2) $(LIBS)
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
TESTOBJS := $(UNIT:%=$(B)/obj/tests/unit/%.o) $(B)/obj/tests/asm/edit.o $(FUZZ:%=$(B)/obj/tests/fuzz/%.o)
.SECONDARY: $(TESTOBJS)
-include $(TESTOBJS:.o=.d)

check: deps-check all
	@MORPH_BUILD=$(B) tests/run $(T)

# Real packages and their own suites: hours. P="bzip2 re2": these.
check-packages: deps-check all
	@MORPH_BUILD=$(B) tests/packages/run $(P) && tests/packages/run --table

fuzz: deps-check
	tests/fuzz/run $(if $(SECONDS_EACH),$(SECONDS_EACH),60)

.PHONY: deps-check units asm-edit harnesses check-packages
