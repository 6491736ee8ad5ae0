#include "common/command/ldopt.h"

#include <string.h>

/* Options that are read alike. */
struct known {
	enum ldopt_kind kind;
	enum ldopt_operand operand;
	const char *names; /* without dashes, blanks between */
	const char *words;
	bool optional; /* the operand, which then is never the next argument */
};

#define FORMATS "default elf64-x86-64 binary"
#define EMULATIONS "elf_x86_64"
#define Z_WORDS \
	"call-nop= cet-report= combreloc common common-page-size= defs dynamic-undefined-weak " \
	"execstack extern-protected-data global globalaudit gnu-version-tag ibt ibtplt " \
	"indirect-extern-access initfirst interpose isa-level-report= lam-report= lam-u48 " \
	"lam-u48-report= lam-u57 lam-u57-report= lazy loadfltr mark-plt max-page-size= " \
	"memory-seal muldefs nocombreloc nocommon nocopyreloc nodefaultlib nodefs nodelete " \
	"nodlopen nodump nodynamic-undefined-weak noexecstack noextern-protected-data " \
	"nognu-version-tag noindirect-extern-access nomark-plt nomemory-seal " \
	"nopack-relative-relocs norelr norelro noreloc-overflow nosectionheader noseparate-code " \
	"nostart-stop-gc notext nounique nounique-symbol now origin pack-relative-relocs relr " \
	"relro report-relative-reloc sectionheader separate-code shstk stack-size= start-stop-gc " \
	"start-stop-visibility= text textoff undefs unique unique-symbol x86-64-baseline " \
	"x86-64-v2 x86-64-v3 x86-64-v4"

static const struct known long_option[] = {
    {LDOPT_KEEP, LDARG_NONE,
	"accept-unknown-input-arch add-needed allow-multiple-definition allow-shlib-undefined "
	"as-needed Bdynamic Bgroup Bno-symbolic Bshareable Bstatic Bsymbolic "
	"Bsymbolic-functions call_shared check-sections copy-dt-needed-entries ctf-variables "
	"dc default-imported-symver default-symver disable-linker-version "
	"disable-multiple-abs-defs disable-new-dtags discard-all discard-locals discard-none "
	"dn dp dy dynamic-list-cpp-new dynamic-list-cpp-typeinfo dynamic-list-data EB "
	"eh-frame-hdr EL embedded-relocs emit-relocs enable-linker-version enable-new-dtags "
	"enable-non-contiguous-regions enable-non-contiguous-regions-warnings end-group "
	"error-execstack error-rwx-segments error-unresolved-symbols export-dynamic "
	"fatal-warnings force-group-allocation gc-keep-exported gc-sections "
	"ld-generated-unwind-info nmagic no-accept-unknown-input-arch no-add-needed "
	"no-allow-shlib-undefined no-as-needed no-check-sections no-copy-dt-needed-entries "
	"no-ctf-variables no-define-common no-demangle no-dynamic-linker no-eh-frame-hdr "
	"no-error-execstack no-error-rwx-segments no-export-dynamic no-fatal-warnings "
	"no-gc-sections no-keep-memory no-ld-generated-unwind-info no-omagic no-pie no-relax "
	"no-rosegment no-strip-discarded no-undefined no-undefined-version no-warn-execstack "
	"no-warn-mismatch no-warn-rwx-segments no-warn-search-mismatch no-warnings "
	"no-whole-archive noinhibit-exec non_shared nostdlib omagic pic-executable pie "
	"pop-state push-state qmagic Qy reduce-memory-overheads relax rosegment shared "
	"start-group static strip-all strip-debug strip-discarded traditional-format "
	"undefined-version warn-alternate-em warn-common warn-constructors warn-execstack "
	"warn-multiple-gp warn-once warn-rwx-segments warn-section-align warn-shared-textrel "
	"warn-textrel warn-unresolved-symbols whole-archive"},
    {LDOPT_KEEP, LDARG_NUMBER,
	"gpsize hash-size max-cache-size spare-dynamic-tags Tbss Tdata Tldata-segment "
	"Trodata-segment Ttext Ttext-segment"},
    {LDOPT_KEEP, LDARG_NUMBER, "split-by-file split-by-reloc", NULL, true},
    {LDOPT_KEEP, LDARG_SYMBOL,
	"defsym exclude-libs export-dynamic-symbol fini ignore-unresolved-symbol init "
	"require-defined section-start undefined version-exports-section wrap"},
    {LDOPT_KEEP, LDARG_SYMBOL, "unique", NULL, true},
    {LDOPT_KEEP, LDARG_WORD, "compress-debug-sections", "none zlib zlib-gnu zlib-gabi zstd"},
    {LDOPT_KEEP, LDARG_WORD, "ctf-share-types", "share-unconflicted share-duplicated"},
    {LDOPT_KEEP, LDARG_WORD, "hash-style", "sysv gnu both"},
    {LDOPT_KEEP, LDARG_WORD, "oformat", "elf64-x86-64"},
    {LDOPT_KEEP, LDARG_WORD, "orphan-handling", "place discard warn error"},
    {LDOPT_KEEP, LDARG_WORD, "sort-section", "name alignment none"},
    {LDOPT_KEEP, LDARG_WORD, "unresolved-symbols",
	"ignore-all report-all ignore-in-object-files ignore-in-shared-libs"},
    {LDOPT_KEEP, LDARG_WORD, "demangle",
	"none auto gnu lucid arm hp edg gnu-v3 java gnat dlang rust", true},
    {LDOPT_KEEP, LDARG_WORD, "sort-common", "ascending descending", true},
    {LDOPT_KEEP, LDARG_TEXT, "audit auxiliary depaudit dynamic-linker filter rpath soname"},
    {LDOPT_KEEP, LDARG_TEXT, "package-metadata", NULL, true},
    {LDOPT_ENTRY, LDARG_SYMBOL, "entry"},
    {LDOPT_LIBRARY, LDARG_LIBRARY, "library"},
    {LDOPT_FOLDER, LDARG_FOLDER, "library-path"},
    {LDOPT_FILE, LDARG_FILE,
	"default-script dT dynamic-list export-dynamic-symbol-list retain-symbols-file script "
	"version-script"},
    {LDOPT_SYMBOLS, LDARG_FILE, "just-symbols"},
    {LDOPT_FORMAT, LDARG_WORD, "format", FORMATS},
    {LDOPT_OUTPUT, LDARG_ANY, "output"},
    {LDOPT_MAP, LDARG_NONE, "print-map"},
    {LDOPT_MAP, LDARG_ANY, "Map"},
    {LDOPT_DEPENDENCY_FILE, LDARG_ANY, "dependency-file"},
    {LDOPT_RELOCATABLE, LDARG_NONE, "relocatable Ur"},
    {LDOPT_SYSROOT, LDARG_ANY, "sysroot"},
    {LDOPT_BUILD_ID, LDARG_ANY, "build-id", NULL, true},
    {LDOPT_DROP, LDARG_NONE,
	"cref map-whole-files no-map-whole-files no-print-gc-sections no-print-map-discarded "
	"print-gc-sections print-map-discarded print-memory-usage stats trace"},
    {LDOPT_DROP, LDARG_ANY,
	"assert error-handling-script flto-partition fuse-ld out-implib plugin plugin-opt "
	"rpath-link trace-symbol"},
    {LDOPT_DROP, LDARG_ANY, "flto verbose", NULL, true},
    {LDOPT_INQUIRY, LDARG_NONE, "help print-output-format print-sysroot target-help version"},
    {LDOPT_REFUSED, LDARG_NONE, "force-exe-suffix"},
    {LDOPT_REFUSED, LDARG_ANY,
	"architecture mri-script remap-inputs remap-inputs-file section-ordering-file "
	"task-link"},
};

/* Of one dash and one letter. */
static const struct known short_option[] = {
    {LDOPT_KEEP, LDARG_NONE, "( ) d E g N n q S s w X x"},
    {LDOPT_KEEP, LDARG_NUMBER, "G O"},
    {LDOPT_KEEP, LDARG_SYMBOL, "u"},
    {LDOPT_KEEP, LDARG_WORD, "a", "archive shared default"},
    {LDOPT_KEEP, LDARG_WORD, "m", EMULATIONS},
    {LDOPT_KEEP, LDARG_WORD, "z", Z_WORDS},
    {LDOPT_KEEP, LDARG_TEXT, "F f h I P"},
    {LDOPT_ENTRY, LDARG_SYMBOL, "e"},
    {LDOPT_LIBRARY, LDARG_LIBRARY, "l"},
    {LDOPT_FOLDER, LDARG_FOLDER, "L"},
    {LDOPT_FILE, LDARG_FILE, "T"},
    {LDOPT_SYMBOLS, LDARG_FILE, "R"},
    {LDOPT_FORMAT, LDARG_WORD, "b", FORMATS},
    {LDOPT_OUTPUT, LDARG_ANY, "o"},
    {LDOPT_MAP, LDARG_NONE, "M"},
    {LDOPT_RELOCATABLE, LDARG_NONE, "i r"},
    {LDOPT_DROP, LDARG_NONE, "t V v"},
    {LDOPT_DROP, LDARG_ANY, "y"},
    {LDOPT_REFUSED, LDARG_ANY, "A c Y"},
};

/* Of gold, lld and mold; with dashes, as a recipe has them. */
static const struct known other_long[] = {
    {LDOPT_KEEP, LDARG_NONE,
	"--allow-multiple-definition --allow-shlib-undefined --apply-dynamic-relocs "
	"--as-needed --Bdynamic --Bno-symbolic --Bshareable --Bstatic --Bsymbolic "
	"--Bsymbolic-functions --Bsymbolic-non-weak-functions --call_shared "
	"--check-sections --ctors-in-init-array --define-common --disable-new-dtags "
	"--discard-all --discard-locals --discard-none --dn --dy "
	"--dynamic-list-cpp-new --dynamic-list-cpp-typeinfo --dynamic-list-data "
	"--eh-frame-hdr --emit-relocs --enable-new-dtags --end-group --end-lib "
	"--error-unresolved-symbols --export-dynamic --gc-sections --gdb-index "
	"--gnu-unique --ld-generated-unwind-info --nmagic --no-add-needed "
	"--no-allow-multiple-definition --no-allow-shlib-undefined "
	"--no-apply-dynamic-relocs --no-as-needed --no-call-graph-profile-sort "
	"--no-check-sections --no-copy-dt-needed-entries --no-ctors-in-init-array "
	"--no-define-common --no-dynamic-linker --no-eh-frame-hdr --no-export-dynamic "
	"--no-gc-sections --no-gdb-index --no-gnu-unique --no-icf "
	"--no-ld-generated-unwind-info --no-omagic --no-pie --no-relax --no-rosegment "
	"--no-text-reorder --no-undefined --no-undefined-version --no-whole-archive "
	"--noinhibit-exec --non_shared --nostdlib --omagic --pic-executable --pie "
	"--pop-state --push-state --relax --rosegment --shared --start-group --start-lib --static "
	"--strip-all --strip-debug --text-reorder --undefined-version "
	"--warn-unresolved-symbols --whole-archive"},
    {LDOPT_KEEP, LDARG_TEXT, "--auxiliary --dynamic-linker --filter --rpath --soname"},
    {LDOPT_KEEP, LDARG_WORD, "--compress-debug-sections", "none zlib zlib-gnu zlib-gabi zstd"},
    {LDOPT_KEEP, LDARG_SYMBOL,
	"--defsym --exclude-libs --export-dynamic-symbol --fini --init "
	"--require-defined --section-start --undefined --wrap"},
    {LDOPT_KEEP, LDARG_WORD, "--hash-style", "sysv gnu both"},
    {LDOPT_KEEP, LDARG_WORD, "--icf", "none"},
    {LDOPT_KEEP, LDARG_NUMBER,
	"--image-base --spare-dynamic-tags --Tbss --Tdata --Ttext --Ttext-segment"},
    {LDOPT_KEEP, LDARG_WORD, "--oformat", "elf elf64-x86-64"},
    {LDOPT_KEEP, LDARG_WORD, "--orphan-handling", "place discard warn error"},
    {LDOPT_KEEP, LDARG_WORD, "--pack-dyn-relocs", "none relr"},
    {LDOPT_KEEP, LDARG_TEXT, "--package-metadata", NULL, true},
    {LDOPT_KEEP, LDARG_WORD, "--sort-common", "ascending descending", true},
    {LDOPT_KEEP, LDARG_WORD, "--sort-section", "name alignment none"},
    {LDOPT_KEEP, LDARG_WORD, "--unresolved-symbols",
	"ignore-all report-all ignore-in-object-files ignore-in-shared-libs"},
    {LDOPT_ENTRY, LDARG_SYMBOL, "--entry"},
    {LDOPT_FILE, LDARG_FILE,
	"--dynamic-list --export-dynamic-symbol-list --just-symbols "
	"--retain-symbols-file --script --version-script"},
    {LDOPT_FORMAT, LDARG_WORD, "--format", "default elf elf64-x86-64 binary"},
    {LDOPT_OUTPUT, LDARG_ANY, "--output"},
    {LDOPT_MAP, LDARG_ANY, "--Map"},
    {LDOPT_MAP, LDARG_NONE, "--print-map"},
    {LDOPT_DEPENDENCY_FILE, LDARG_ANY, "--dependency-file"},
    {LDOPT_RELOCATABLE, LDARG_NONE, "--relocatable"},
    {LDOPT_SYSROOT, LDARG_ANY, "--sysroot"},
    {LDOPT_BUILD_ID, LDARG_ANY, "--build-id", NULL, true},
    {LDOPT_BUILD_ID, LDARG_NONE, "--no-build-id"},
    {LDOPT_DROP, LDARG_ANY, "--color-diagnostics --demangle --threads", NULL, true},
    {LDOPT_DROP, LDARG_NONE,
	"--cref --detect-odr-violations --fatal-warnings --fork --mmap-output-file "
	"--no-color-diagnostics --no-demangle --no-fatal-warnings --no-fork "
	"--no-mmap-output-file --no-print-gc-sections --no-print-icf-sections "
	"--no-quick-exit --no-threads --no-warn-common --no-warn-mismatch --perf "
	"--print-gc-sections --print-icf-sections --quick-exit --stats --trace "
	"--verbose --warn-common --warn-execstack --warn-once --warn-shared-textrel "
	"--warn-textrel"},
    {LDOPT_DROP, LDARG_ANY,
	"--error-limit --lto-cs-profile-file --lto-partitions --mllvm --plugin --plugin-opt "
	"--rpath-link --thinlto-cache-dir --thinlto-cache-policy --thinlto-jobs --thread-count "
	"--trace-symbol --why-extract"},
    {LDOPT_DROP, LDARG_NONE,
	"--lto-CGO0 --lto-CGO1 --lto-CGO2 --lto-CGO3 --lto-O0 --lto-O1 --lto-O2 --lto-O3 "
	"--lto-whole-program-visibility"},
    {LDOPT_INQUIRY, LDARG_NONE, "--help --print-output-format --version"},
    {LDOPT_REFUSED, LDARG_ANY, "--library --library-path"},
};

/* With no long name. */
static const struct known other_short[] = {
    {LDOPT_KEEP, LDARG_NUMBER, "-O"},
    {LDOPT_KEEP, LDARG_WORD, "-m", EMULATIONS},
    {LDOPT_KEEP, LDARG_WORD, "-z",
	Z_WORDS " copyreloc execstack-if-needed force-ibt nognustack nokeep-text-section-prefix "
		"rel rela retpolineplt rodynamic separate-loadable-segments wxneeded"},
    {LDOPT_LIBRARY, LDARG_LIBRARY, "-l"},
    {LDOPT_FOLDER, LDARG_FOLDER, "-L"},
    {LDOPT_DROP, LDARG_NONE, "-g -V -v"},
};

/* The long name of a letter. */
static const char *const other_letter[] = {"(--start-group", ")--end-group", "b--format",
    "d--define-common", "E--export-dynamic", "e--entry", "F--filter", "f--auxiliary", "G--shared",
    "h--soname", "I--dynamic-linker", "i--relocatable", "M--print-map", "N--omagic", "n--nmagic",
    "o--output", "q--emit-relocs", "R--rpath", "r--relocatable", "S--strip-debug", "s--strip-all",
    "T--script", "t--trace", "u--undefined", "X--discard-locals", "x--discard-all",
    "y--trace-symbol"};

#define COUNT(A) (sizeof(A) / sizeof *(A))

/* The options of which one is called s, or begins so. *at, when not NULL: where its name is. */
static const struct known *find(
    const struct known *t, size_t count, const char *s, size_t n, bool begins, const char **at)
{
	const char *name;
	size_t len;

	for (; count--; t++)
		for (name = t->names; *name; name += len + (name[len] == ' ')) {
			len = strcspn(name, " ");
			if ((len == n || (begins && len > n)) && !memcmp(name, s, n)) {
				if (at)
					*at = name;
				return t;
			}
		}
	return NULL;
}

/* -Tdata=0x1000 and -T data are distinguished as getopt does: the long names
 * first, but none that begins with 'o' after one dash. -library is -l ibrary to ld. */
static const struct known *find_long(const char *s, size_t n, bool one_dash)
{
	if (one_dash && (*s == 'o' || *s == 'l' || n < 2))
		return NULL;
	return find(long_option, COUNT(long_option), s, n, false, NULL);
}

/* getopt prefers the abbreviation of a long option to letters with operands.
 * ld itself sees to it that -l is never taken for one. */
static bool abbreviates(const char *s, size_t n)
{
	return n >= 2 && *s != 'l' && *s != 'o' &&
	       find(long_option, COUNT(long_option), s, n, true, NULL);
}

static const struct known *find_short(const char *body, size_t n)
{
	const struct known *k = find(short_option, COUNT(short_option), body, 1, false, NULL);

	if (!k || !body[1])
		return k;
	/* Joined to it must be its operand, not another letter. */
	return k->operand == LDARG_NONE || abbreviates(body, n) ? NULL : k;
}

static void take_value(const char *const *arg, size_t n, struct ldopt *o)
{
	if (!o->value && o->first + 1 < n) {
		o->value = arg[o->first + 1];
		o->n = 2;
	}
}

static void read_option(const char *const *arg, size_t count, struct ldopt *o)
{
	const char *s = arg[o->first], *body = s + (s[1] == '-' ? 2 : 1);
	size_t n = strcspn(body, "=");
	const struct known *k = find_long(body, n, s[1] != '-');

	o->name = s;
	o->name_n = (size_t)(body - s) + n;
	o->is_long = true;
	o->value = body[n] ? body + n + 1 : NULL;
	if (!k && s[1] != '-' && (k = find_short(body, n))) {
		o->is_long = false;
		o->name_n = 2;
		o->value = body[1] ? body + 1 : NULL;
	}
	o->kind = k ? k->kind : LDOPT_UNKNOWN;
	if (!k)
		return;
	o->operand = k->operand;
	o->words = k->words;
	o->optional = k->optional;
	if (k->operand != LDARG_NONE && !k->optional)
		take_value(arg, count, o);
}

static const struct known *find_letter(char c, const char **at)
{
	const char name[] = {'-', c, '\0'}, *full = NULL;
	size_t i;

	for (i = 0; i < COUNT(other_letter); i++)
		if (*other_letter[i] == c)
			full = other_letter[i] + 1;
	return full ? find(other_long, COUNT(other_long), full, strlen(full), false, at)
		    : find(other_short, COUNT(other_short), name, 2, false, at);
}

/* As gold, lld and mold read. */
static const struct known *find_other(const char *body, size_t n, bool one_dash, const char **at)
{
	char name[64] = "--";

	/* -o joined to its file might be any name. */
	if (n + 3 > sizeof name || (one_dash && (*body == 'o' || n < 2)))
		return NULL;
	memcpy(name + 2, body, n);
	return find(other_long, COUNT(other_long), name, n + 2, false, at);
}

static void read_other(const char *const *arg, size_t count, struct ldopt *o)
{
	const char *s = arg[o->first], *body = s + (s[1] == '-' ? 2 : 1);
	size_t n = strcspn(body, "=");
	const char *name = s;
	const struct known *k = find_other(body, n, s[1] != '-', &name);

	o->value = k && body[n] ? body + n + 1 : NULL;
	if (!k && s[1] != '-' && (k = find_letter(*body, &name))) {
		o->value = body[1] ? body + 1 : NULL;
		if (o->value && k->operand == LDARG_NONE)
			k = NULL; /* several letters */
	}
	o->name = k ? name : s;
	o->name_n = strcspn(o->name, k ? " " : "");
	o->is_long = o->name[1] == '-';
	o->kind = k ? k->kind : LDOPT_UNKNOWN;
	if (!k)
		return;
	o->operand = k->operand;
	o->words = k->words;
	o->optional = k->optional;
	if (k->operand != LDARG_NONE && !k->optional)
		take_value(arg, count, o);
}

bool ldopt_next(enum linker linker, const char *const *arg, size_t n, size_t *i, struct ldopt *o)
{
	if (*i >= n)
		return false;
	*o = (struct ldopt){.first = *i, .n = 1};
	if (arg[*i][0] != '-' || !arg[*i][1]) {
		o->kind = LDOPT_INPUT;
		o->value = arg[*i];
	} else if (linker == LINKER_GNU) {
		read_option(arg, n, o);
	} else {
		read_other(arg, n, o);
	}
	*i += o->n;
	return true;
}

bool ldopt_is(const struct ldopt *o, const char *name)
{
	size_t dashes = o->is_long ? 1 + (o->name[1] == '-') : 0;

	return o->is_long && o->name_n - dashes == strlen(name) &&
	       !memcmp(o->name + dashes, name, strlen(name));
}

void ldcmd_read(struct ldcmd *c, enum linker linker, const char *const *arg, size_t n)
{
	struct ldopt o;
	size_t i = 0;

	*c = (struct ldcmd){.output = "a.out"};
	while (ldopt_next(linker, arg, n, &i, &o)) {
		if (o.kind == LDOPT_INPUT || o.kind == LDOPT_LIBRARY)
			c->inputs++;
		else if (o.kind == LDOPT_OUTPUT && o.value)
			c->output = o.value;
		else if (o.kind == LDOPT_MAP && o.value)
			c->map = o.value;
		else if (o.kind == LDOPT_MAP)
			c->map_stdout = true;
		else if (o.kind == LDOPT_DEPENDENCY_FILE)
			c->dependency_file = o.value;
		else if (o.kind == LDOPT_SYSROOT)
			c->sysroot = o.value;
		else if (o.kind == LDOPT_RELOCATABLE)
			c->relocatable = true;
		else if (o.kind == LDOPT_INQUIRY)
			c->inquiry = true;
		else if (!o.is_long && o.name_n == 2 && o.name[1] == 'm')
			c->emulation = o.value;
		else if (ldopt_is(&o, "plugin"))
			c->plugin = linker == LINKER_LLD ? NULL : o.value; /* it has its own */
		else if (ldopt_is(&o, "gc-sections") || ldopt_is(&o, "no-gc-sections"))
			c->gc = ldopt_is(&o, "gc-sections");
	}
	/* ld -v alone is a question; with inputs it links as well. */
	if (!c->inputs)
		c->inquiry = true;
}
