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

#define COUNT(A) (sizeof(A) / sizeof *(A))

/* The options of which one is called s, or begins so. */
static const struct known *find(
    const struct known *t, size_t count, const char *s, size_t n, bool begins)
{
	const char *name;
	size_t len;

	for (; count--; t++)
		for (name = t->names; *name; name += len + (name[len] == ' ')) {
			len = strcspn(name, " ");
			if ((len == n || (begins && len > n)) && !memcmp(name, s, n))
				return t;
		}
	return NULL;
}

/* -Tdata=0x1000 and -T data are distinguished as getopt does: the long names
 * first, but none that begins with 'o' after one dash. -library is -l ibrary to ld. */
static const struct known *find_long(const char *s, size_t n, bool one_dash)
{
	if (one_dash && (*s == 'o' || *s == 'l' || n < 2))
		return NULL;
	return find(long_option, COUNT(long_option), s, n, false);
}

/* getopt prefers the abbreviation of a long option to letters with operands.
 * ld itself sees to it that -l is never taken for one. */
static bool abbreviates(const char *s, size_t n)
{
	return n >= 2 && *s != 'l' && *s != 'o' &&
	       find(long_option, COUNT(long_option), s, n, true);
}

static const struct known *find_short(const char *body, size_t n)
{
	const struct known *k = find(short_option, COUNT(short_option), body, 1, false);

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

bool ldopt_next(const char *const *arg, size_t n, size_t *i, struct ldopt *o)
{
	if (*i >= n)
		return false;
	*o = (struct ldopt){.first = *i, .n = 1};
	if (arg[*i][0] != '-' || !arg[*i][1]) {
		o->kind = LDOPT_INPUT;
		o->value = arg[*i];
	} else {
		read_option(arg, n, o);
	}
	*i += o->n;
	return true;
}

void ldcmd_read(struct ldcmd *c, const char *const *arg, size_t n)
{
	struct ldopt o;
	size_t i = 0;

	*c = (struct ldcmd){.output = "a.out"};
	while (ldopt_next(arg, n, &i, &o)) {
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
		else if (o.kind == LDOPT_BUILD_ID)
			c->fixed_build_id = o.value && !strncmp(o.value, "0x", 2);
		else if (!o.is_long && o.name_n == 2 && o.name[1] == 'm')
			c->emulation = o.value;
	}
	/* ld -v alone is a question; with inputs it links as well. */
	if (!c->inputs)
		c->inquiry = true;
}
