# Morph. `make` builds, `make check` tests, `make demo` shows the main job,
# `make bench` measures, `make fuzz`, `make asan`, `make install`, `make deb`.

VERSION := 0.1.0
PREFIX ?= /usr/local
DESTDIR ?=
B ?= build
# Where perl looks for modules of this prefix.
PERLDIR ?= $(if $(filter /usr/local,$(PREFIX)),/usr/local/lib/site_perl,$(PREFIX)/share/perl5)

CC ?= gcc
CFLAGS ?= -O2 -g
WARN := -Wall -Wextra -Werror -Wno-unused-parameter -Wno-missing-field-initializers
CPPFLAGS += -I. -D_GNU_SOURCE -DMORPH_VERSION='"$(VERSION)"'
ALL_CFLAGS = -std=gnu11 $(WARN) $(CFLAGS) $(SANITIZE)
LIBS := -Wl,--as-needed -lsqlite3 -luv -lyaml -ljansson -lmicrohttpd -lcurl -lzstd -llzma -lz -lelf -lxxhash \
	-lseccomp -lcap -lsodium -lncursesw -ltinfo -ldw -lZydis -lZycore -liberty -lm -lpthread

# V=1 shows the commands.
Q := $(if $(V),,@)
say := @$(if $(V),:,echo)

FOLDERS := common editor lifter editor-driver hooks monitor-client managerd managerd/fetch managerd/inspect managerd/parent managerd/simulate managerd/watch morphctl morphctl/report morphctl/web
# One main each: PROGRAM:FOLDER/SOURCE. The rest of a folder is its library.
PROGRAMS := bin/morph-edit:editor-driver/main bin/morph-monitor:monitor-client/main \
	bin/morphd:managerd/parent/main libexec/morph/morph-manager:managerd/main bin/morphctl:morphctl/main bin/morph-cc:hooks/cc \
	libexec/morph/as:hooks/as libexec/morph/ld:hooks/ld \
	libexec/morph/morph-inspect:managerd/inspect/main libexec/morph/morph-fetch:managerd/fetch/main \
	libexec/morph/morph-simulate:managerd/simulate/main libexec/morph/morph-report:morphctl/report/main \
	libexec/morph/morph-web:morphctl/web/main libexec/morph/morph-watch:managerd/watch/main
MAINS := $(foreach p,$(PROGRAMS),$(word 2,$(subst :, ,$(p))))
# Without what is no part of Morph's own programs.
SRCS := $(filter-out editor-driver/runtime/%,$(sort $(shell find $(FOLDERS) -name '*.c')))
OBJS := $(SRCS:%.c=$(B)/obj/%.o)
LIBFILES := $(foreach f,$(FOLDERS),$(B)/obj/lib$(f).a)
TARGETS := $(foreach p,$(PROGRAMS),$(B)/$(word 1,$(subst :, ,$(p))))

all: $(TARGETS) links

# Pairs that functions return in two registers are not worth a vector's detour.
$(B)/obj/managerd/replay/%.o: ALL_CFLAGS += -fno-tree-slp-vectorize

$(B)/obj/%.o: %.c | deps
	@mkdir -p $(@D)
	$(say) "  CC      $<"
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

# What is linked into counting builds, as assembly text inside morph-edit.
RUNTIME_CFLAGS := -std=gnu11 $(WARN) -O2 -fPIC -ffreestanding -fno-builtin -mgeneral-regs-only \
	-fno-stack-protector -fno-asynchronous-unwind-tables -fcf-protection=none
$(B)/obj/editor-driver/counting.s: editor-driver/runtime/counting.c | deps
	@mkdir -p $(@D)
	$(say) "  CC -S   $<"
	$(Q)$(CC) $(RUNTIME_CFLAGS) -S $< -o $@
$(B)/obj/editor-driver/link/runtime.o: $(B)/obj/editor-driver/counting.s
$(B)/obj/editor-driver/link/runtime.o: CPPFLAGS += -DCOUNTING_TEXT='"$(B)/obj/editor-driver/counting.s"'

# All rooms of a folder, but those that are a library of their own.
room_srcs = $(filter-out $(MAINS:%=%.c) $(patsubst %,%/%,$(filter $(1)/%,$(FOLDERS))),$(filter $(1)/%,$(SRCS)))
define folder_lib
$(B)/obj/lib$(1).a: $(patsubst %.c,$(B)/obj/%.o,$(call room_srcs,$(1)))
	@mkdir -p $$(@D); rm -f $$@; ar qcsD $$@ $$^
endef
$(foreach f,$(FOLDERS),$(eval $(call folder_lib,$(f))))

# A program links its own folder, the folder that one is in, lifter and editor where it
# may use them, and common.
define program
$(B)/$(1): $(B)/obj/$(2).o $(B)/obj/lib$(patsubst %/,%,$(dir $(2))).a \
		$(patsubst %,$(B)/obj/lib%.a,$(filter $(FOLDERS),$(firstword $(subst /, ,$(2))))) \
		$(B)/obj/liblifter.a $(B)/obj/libeditor.a $(B)/obj/libcommon.a
	@mkdir -p $$(@D)
	$$(say) "  LINK    $$@"
	$$(Q)$(if $(filter hooks/%,$(2)),$$(linked_static) || )$$(CC) $$(ALL_CFLAGS) $$(LDFLAGS) -o $$@ $$^ $$(LIBS)
endef
# Compilers run the hooks a thousand times: without shared libraries to load, where those there are
# static ones of.
linked_static = $(if $(SANITIZE),false,$(CC) $(ALL_CFLAGS) $(LDFLAGS) -static-pie -o $@ $^ \
	-lsqlite3 -lzstd -llzma -lelf -lz -lxxhash -lm 2>/dev/null)
$(foreach p,$(PROGRAMS),$(eval $(call program,$(word 1,$(subst :, ,$(p))),$(word 2,$(subst :, ,$(p))))))

-include $(OBJS:.o=.d)

include tests/tests.mk

.PHONY: all links web deps check asan fuzz bench demo deb install uninstall clean format format-list

# The compilers' names as links to morph-cc, for PATH or CC.
MASQUERADE := cc gcc g++ c++ clang clang++
# What they run as linker: ld, and by -fuse-ld=.
LINKERS := ld.bfd ld.gold ld.lld ld.mold
links: $(B)/bin/morph-cc $(B)/libexec/morph/ld
	@for n in $(LINKERS); do ln -sfn ld $(B)/libexec/morph/$$n; done
	@mkdir -p $(B)/libexec/morph/masquerade
	@for n in $(MASQUERADE); do ln -sfn ../../../bin/morph-cc $(B)/libexec/morph/masquerade/$$n; done
	@mkdir -p $(B)/share/morph && cp config/morph.yaml $(B)/share/morph/

# The page of `morphctl web`, and of other people's code what its pictures are made with, as
# package-lock.json has it, with their licences.
PAGE := morphctl/web/page
WEB := $(B)/share/morph/web
NPM_THERE := command -v npm >/dev/null || config/install-deps config/packages.web
NPM_CI := npm ci --ignore-scripts --no-audit --no-fund --silent
web: $(WEB)/index.html
$(WEB)/index.html: $(wildcard $(PAGE)/*)
	@$(NPM_THERE)
	$(say) "  WEB     $@"
	$(Q)rm -rf $(B)/obj/page $(WEB) && mkdir -p $(B)/obj/page $(WEB)
	$(Q)cp $(PAGE)/package.json $(PAGE)/package-lock.json $(B)/obj/page && cd $(B)/obj/page && $(NPM_CI)
	$(Q)cd $(B)/obj/page/node_modules && cp d3/dist/d3.min.js \
		d3-flame-graph/dist/d3-flamegraph.umd.min.js $(abspath $(WEB)) && \
		cp d3-flame-graph/dist/d3-flamegraph.css $(abspath $(WEB))/flamegraph.css && \
		for p in d3 d3-* delaunator internmap robust-predicates; do \
		printf '==== %s ====\n\n' $$p; cat $$p/LICENSE; echo; done >$(abspath $(WEB))/licences.txt
	$(Q)cp $(filter-out %.json %/index.html,$^) $(WEB) && cp $(PAGE)/index.html $(WEB)

# Debian packages this needs, installed when they are missing.
deps:
	@config/install-deps config/packages.build

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec/morph/masquerade
	install -m 755 $(filter $(B)/bin/%,$(TARGETS)) $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(filter $(B)/libexec/%,$(TARGETS)) $(DESTDIR)$(PREFIX)/libexec/morph
	for n in $(LINKERS); do ln -sfn ld $(DESTDIR)$(PREFIX)/libexec/morph/$$n; done
	for n in $(MASQUERADE); do ln -sfn ../../../bin/morph-cc \
		$(DESTDIR)$(PREFIX)/libexec/morph/masquerade/$$n; done
	install -d $(DESTDIR)$(PREFIX)/share/morph $(DESTDIR)$(PREFIX)/share/man/man1 \
		$(DESTDIR)$(PREFIX)/share/man/man8 $(DESTDIR)$(PREFIX)/share/man/man5 \
		$(DESTDIR)$(PREFIX)/lib/systemd/system $(DESTDIR)$(PREFIX)/lib/systemd/user \
		$(DESTDIR)$(PREFIX)/lib/sysusers.d
	install -m 644 config/morph.yaml $(DESTDIR)$(PREFIX)/share/morph
	[ ! -f $(WEB)/index.html ] || { install -d $(DESTDIR)$(PREFIX)/share/morph/web && \
		install -m 644 $(WEB)/* $(DESTDIR)$(PREFIX)/share/morph/web; }
	install -Dm 644 config/morphctl.bash-completion \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/morphctl
	install -Dm 644 config/morphctl.zsh $(DESTDIR)$(PREFIX)/share/zsh/vendor-completions/_morphctl
	install -Dm 644 config/morphctl.fish \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/morphctl.fish
	install -Dm 644 config/debhelper/morph.pm $(DESTDIR)$(PERLDIR)/Debian/Debhelper/Sequence/morph.pm
	install -m 755 config/debhelper/dh_morph $(DESTDIR)$(PREFIX)/bin
	for s in 1 5 8; do for f in docs/man/*.$$s; do [ ! -f $$f ] || \
		install -m 644 $$f $(DESTDIR)$(PREFIX)/share/man/man$$s; done; done
	for f in config/*.service; do [ ! -f $$f ] || sed 's|@PREFIX@|$(PREFIX)|g' $$f \
		>$(DESTDIR)$(PREFIX)/lib/systemd/system/$${f##*/}; done
	sed 's|@PREFIX@|$(PREFIX)|g' config/user/morphd.service \
		>$(DESTDIR)$(PREFIX)/lib/systemd/user/morphd.service
	[ ! -f config/morph.sysusers ] || \
		install -m 644 config/morph.sysusers $(DESTDIR)$(PREFIX)/lib/sysusers.d/morph.conf

# All that install put there; policies, state and artifacts stay.
uninstall:
	rm -f $(foreach t,$(filter $(B)/bin/%,$(TARGETS)),$(DESTDIR)$(PREFIX)/bin/$(notdir $t)) \
		$(foreach f,$(wildcard config/*.service),$(DESTDIR)$(PREFIX)/lib/systemd/system/$(notdir $f)) \
		$(DESTDIR)$(PREFIX)/lib/systemd/user/morphd.service \
		$(foreach f,$(wildcard docs/man/*),$(DESTDIR)$(PREFIX)/share/man/man$(patsubst .%,%,$(suffix $f))/$(notdir $f)) \
		$(DESTDIR)$(PREFIX)/lib/sysusers.d/morph.conf $(DESTDIR)$(PREFIX)/share/morph/morph.yaml \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/morphctl \
		$(DESTDIR)$(PREFIX)/share/zsh/vendor-completions/_morphctl \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/morphctl.fish \
		$(DESTDIR)$(PREFIX)/bin/dh_morph $(DESTDIR)$(PERLDIR)/Debian/Debhelper/Sequence/morph.pm
	rm -rf $(DESTDIR)$(PREFIX)/libexec/morph $(DESTDIR)$(PREFIX)/share/morph/web
	[ ! -d $(DESTDIR)$(PREFIX)/share/morph ] || rmdir $(DESTDIR)$(PREFIX)/share/morph

# Debian packages, in $(B)/deb.
deb: deps
	@$(MAKE) web || echo "morph: no package of the page"
	@config/install-deps config/packages.deb
	@config/make-deb $(B)/deb

# PROGRAM: of any other program (TRAIN, TEST: what it is to do).
demo: all
	@config/install-deps config/packages.demo
	@MORPH_BUILD=$(B) $(if $(PROGRAM),TRAIN='$(TRAIN)' TEST='$(TEST)' bench/demo-program '$(PROGRAM)',bench/demo)

bench: all
	@MORPH_BUILD=$(B) bench/run

clean:
	rm -rf $(B)

# Inputs of tests stay as they are.
format-list:
	@find $(FOLDERS) tests bench -name '*.[ch]' -not -path 'tests/corpus/*'

format:
	$(MAKE) -s format-list | xargs clang-format -i
