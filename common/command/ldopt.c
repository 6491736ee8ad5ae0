#include "common/command/ldopt.h"

#include <string.h>

struct known {
	const char *name; /* without dashes */
	enum ldopt_kind kind;
	enum ldopt_operand operand;
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
	"relro " \
	"report-relative-reloc sectionheader separate-code shstk stack-size= start-stop-gc " \
	"start-stop-visibility= text textoff undefs unique unique-symbol x86-64-baseline " \
	"x86-64-v2 x86-64-v3 x86-64-v4"

static const struct known long_option[] = {
    {"accept-unknown-input-arch", LDOPT_KEEP, LDARG_NONE},
    {"add-needed", LDOPT_KEEP, LDARG_NONE},
    {"allow-multiple-definition", LDOPT_KEEP, LDARG_NONE},
    {"allow-shlib-undefined", LDOPT_KEEP, LDARG_NONE},
    {"architecture", LDOPT_REFUSED, LDARG_ANY},
    {"as-needed", LDOPT_KEEP, LDARG_NONE},
    {"assert", LDOPT_DROP, LDARG_ANY},
    {"audit", LDOPT_KEEP, LDARG_TEXT},
    {"auxiliary", LDOPT_KEEP, LDARG_TEXT},
    {"Bdynamic", LDOPT_KEEP, LDARG_NONE},
    {"Bgroup", LDOPT_KEEP, LDARG_NONE},
    {"Bno-symbolic", LDOPT_KEEP, LDARG_NONE},
    {"Bshareable", LDOPT_KEEP, LDARG_NONE},
    {"Bstatic", LDOPT_KEEP, LDARG_NONE},
    {"Bsymbolic", LDOPT_KEEP, LDARG_NONE},
    {"Bsymbolic-functions", LDOPT_KEEP, LDARG_NONE},
    {"build-id", LDOPT_BUILD_ID, LDARG_ANY, NULL, true},
    {"call_shared", LDOPT_KEEP, LDARG_NONE},
    {"check-sections", LDOPT_KEEP, LDARG_NONE},
    {"compress-debug-sections", LDOPT_KEEP, LDARG_WORD, "none zlib zlib-gnu zlib-gabi zstd"},
    {"copy-dt-needed-entries", LDOPT_KEEP, LDARG_NONE},
    {"cref", LDOPT_DROP, LDARG_NONE},
    {"ctf-share-types", LDOPT_KEEP, LDARG_WORD, "share-unconflicted share-duplicated"},
    {"ctf-variables", LDOPT_KEEP, LDARG_NONE},
    {"dc", LDOPT_KEEP, LDARG_NONE},
    {"default-imported-symver", LDOPT_KEEP, LDARG_NONE},
    {"default-script", LDOPT_FILE, LDARG_FILE},
    {"default-symver", LDOPT_KEEP, LDARG_NONE},
    {"defsym", LDOPT_KEEP, LDARG_SYMBOL},
    {"demangle", LDOPT_KEEP, LDARG_WORD,
	"none auto gnu lucid arm hp edg gnu-v3 java gnat dlang rust", true},
    {"depaudit", LDOPT_KEEP, LDARG_TEXT},
    {"dependency-file", LDOPT_DEPENDENCY_FILE, LDARG_ANY},
    {"disable-linker-version", LDOPT_KEEP, LDARG_NONE},
    {"disable-multiple-abs-defs", LDOPT_KEEP, LDARG_NONE},
    {"disable-new-dtags", LDOPT_KEEP, LDARG_NONE},
    {"discard-all", LDOPT_KEEP, LDARG_NONE},
    {"discard-locals", LDOPT_KEEP, LDARG_NONE},
    {"discard-none", LDOPT_KEEP, LDARG_NONE},
    {"dn", LDOPT_KEEP, LDARG_NONE},
    {"dp", LDOPT_KEEP, LDARG_NONE},
    {"dT", LDOPT_FILE, LDARG_FILE},
    {"dy", LDOPT_KEEP, LDARG_NONE},
    {"dynamic-linker", LDOPT_KEEP, LDARG_TEXT},
    {"dynamic-list", LDOPT_FILE, LDARG_FILE},
    {"dynamic-list-cpp-new", LDOPT_KEEP, LDARG_NONE},
    {"dynamic-list-cpp-typeinfo", LDOPT_KEEP, LDARG_NONE},
    {"dynamic-list-data", LDOPT_KEEP, LDARG_NONE},
    {"EB", LDOPT_KEEP, LDARG_NONE},
    {"eh-frame-hdr", LDOPT_KEEP, LDARG_NONE},
    {"EL", LDOPT_KEEP, LDARG_NONE},
    {"embedded-relocs", LDOPT_KEEP, LDARG_NONE},
    {"emit-relocs", LDOPT_KEEP, LDARG_NONE},
    {"enable-linker-version", LDOPT_KEEP, LDARG_NONE},
    {"enable-new-dtags", LDOPT_KEEP, LDARG_NONE},
    {"enable-non-contiguous-regions", LDOPT_KEEP, LDARG_NONE},
    {"enable-non-contiguous-regions-warnings", LDOPT_KEEP, LDARG_NONE},
    {"end-group", LDOPT_KEEP, LDARG_NONE},
    {"entry", LDOPT_ENTRY, LDARG_SYMBOL},
    {"error-execstack", LDOPT_KEEP, LDARG_NONE},
    {"error-handling-script", LDOPT_DROP, LDARG_ANY},
    {"error-rwx-segments", LDOPT_KEEP, LDARG_NONE},
    {"error-unresolved-symbols", LDOPT_KEEP, LDARG_NONE},
    {"exclude-libs", LDOPT_KEEP, LDARG_SYMBOL},
    {"export-dynamic", LDOPT_KEEP, LDARG_NONE},
    {"export-dynamic-symbol", LDOPT_KEEP, LDARG_SYMBOL},
    {"export-dynamic-symbol-list", LDOPT_FILE, LDARG_FILE},
    {"fatal-warnings", LDOPT_KEEP, LDARG_NONE},
    {"filter", LDOPT_KEEP, LDARG_TEXT},
    {"fini", LDOPT_KEEP, LDARG_SYMBOL},
    {"flto", LDOPT_DROP, LDARG_ANY, NULL, true},
    {"flto-partition", LDOPT_DROP, LDARG_ANY},
    {"force-exe-suffix", LDOPT_REFUSED, LDARG_NONE},
    {"force-group-allocation", LDOPT_KEEP, LDARG_NONE},
    {"format", LDOPT_FORMAT, LDARG_WORD, FORMATS},
    {"fuse-ld", LDOPT_DROP, LDARG_ANY},
    {"gc-keep-exported", LDOPT_KEEP, LDARG_NONE},
    {"gc-sections", LDOPT_KEEP, LDARG_NONE},
    {"gpsize", LDOPT_KEEP, LDARG_NUMBER},
    {"hash-size", LDOPT_KEEP, LDARG_NUMBER},
    {"hash-style", LDOPT_KEEP, LDARG_WORD, "sysv gnu both"},
    {"help", LDOPT_INQUIRY, LDARG_NONE},
    {"ignore-unresolved-symbol", LDOPT_KEEP, LDARG_SYMBOL},
    {"init", LDOPT_KEEP, LDARG_SYMBOL},
    {"just-symbols", LDOPT_SYMBOLS, LDARG_FILE},
    {"ld-generated-unwind-info", LDOPT_KEEP, LDARG_NONE},
    {"library", LDOPT_LIBRARY, LDARG_LIBRARY},
    {"library-path", LDOPT_FOLDER, LDARG_FOLDER},
    {"Map", LDOPT_MAP, LDARG_ANY},
    {"map-whole-files", LDOPT_DROP, LDARG_NONE},
    {"max-cache-size", LDOPT_KEEP, LDARG_NUMBER},
    {"mri-script", LDOPT_REFUSED, LDARG_ANY},
    {"nmagic", LDOPT_KEEP, LDARG_NONE},
    {"no-accept-unknown-input-arch", LDOPT_KEEP, LDARG_NONE},
    {"no-add-needed", LDOPT_KEEP, LDARG_NONE},
    {"no-allow-shlib-undefined", LDOPT_KEEP, LDARG_NONE},
    {"no-as-needed", LDOPT_KEEP, LDARG_NONE},
    {"no-check-sections", LDOPT_KEEP, LDARG_NONE},
    {"no-copy-dt-needed-entries", LDOPT_KEEP, LDARG_NONE},
    {"no-ctf-variables", LDOPT_KEEP, LDARG_NONE},
    {"no-define-common", LDOPT_KEEP, LDARG_NONE},
    {"no-demangle", LDOPT_KEEP, LDARG_NONE},
    {"no-dynamic-linker", LDOPT_KEEP, LDARG_NONE},
    {"no-eh-frame-hdr", LDOPT_KEEP, LDARG_NONE},
    {"no-error-execstack", LDOPT_KEEP, LDARG_NONE},
    {"no-error-rwx-segments", LDOPT_KEEP, LDARG_NONE},
    {"no-export-dynamic", LDOPT_KEEP, LDARG_NONE},
    {"no-fatal-warnings", LDOPT_KEEP, LDARG_NONE},
    {"no-gc-sections", LDOPT_KEEP, LDARG_NONE},
    {"no-keep-memory", LDOPT_KEEP, LDARG_NONE},
    {"no-ld-generated-unwind-info", LDOPT_KEEP, LDARG_NONE},
    {"no-map-whole-files", LDOPT_DROP, LDARG_NONE},
    {"no-omagic", LDOPT_KEEP, LDARG_NONE},
    {"no-pie", LDOPT_KEEP, LDARG_NONE},
    {"no-print-gc-sections", LDOPT_DROP, LDARG_NONE},
    {"no-print-map-discarded", LDOPT_DROP, LDARG_NONE},
    {"no-relax", LDOPT_KEEP, LDARG_NONE},
    {"no-rosegment", LDOPT_KEEP, LDARG_NONE},
    {"no-strip-discarded", LDOPT_KEEP, LDARG_NONE},
    {"no-undefined", LDOPT_KEEP, LDARG_NONE},
    {"no-undefined-version", LDOPT_KEEP, LDARG_NONE},
    {"no-warn-execstack", LDOPT_KEEP, LDARG_NONE},
    {"no-warn-mismatch", LDOPT_KEEP, LDARG_NONE},
    {"no-warn-rwx-segments", LDOPT_KEEP, LDARG_NONE},
    {"no-warn-search-mismatch", LDOPT_KEEP, LDARG_NONE},
    {"no-warnings", LDOPT_KEEP, LDARG_NONE},
    {"no-whole-archive", LDOPT_KEEP, LDARG_NONE},
    {"noinhibit-exec", LDOPT_KEEP, LDARG_NONE},
    {"non_shared", LDOPT_KEEP, LDARG_NONE},
    {"nostdlib", LDOPT_KEEP, LDARG_NONE},
    {"oformat", LDOPT_KEEP, LDARG_WORD, "elf64-x86-64"},
    {"omagic", LDOPT_KEEP, LDARG_NONE},
    {"orphan-handling", LDOPT_KEEP, LDARG_WORD, "place discard warn error"},
    {"out-implib", LDOPT_DROP, LDARG_ANY},
    {"output", LDOPT_OUTPUT, LDARG_ANY},
    {"package-metadata", LDOPT_KEEP, LDARG_TEXT, NULL, true},
    {"pic-executable", LDOPT_KEEP, LDARG_NONE},
    {"pie", LDOPT_KEEP, LDARG_NONE},
    {"plugin", LDOPT_DROP, LDARG_ANY},
    {"plugin-opt", LDOPT_DROP, LDARG_ANY},
    {"pop-state", LDOPT_KEEP, LDARG_NONE},
    {"print-gc-sections", LDOPT_DROP, LDARG_NONE},
    {"print-map", LDOPT_MAP, LDARG_NONE},
    {"print-map-discarded", LDOPT_DROP, LDARG_NONE},
    {"print-memory-usage", LDOPT_DROP, LDARG_NONE},
    {"print-output-format", LDOPT_INQUIRY, LDARG_NONE},
    {"print-sysroot", LDOPT_INQUIRY, LDARG_NONE},
    {"push-state", LDOPT_KEEP, LDARG_NONE},
    {"qmagic", LDOPT_KEEP, LDARG_NONE},
    {"Qy", LDOPT_KEEP, LDARG_NONE},
    {"reduce-memory-overheads", LDOPT_KEEP, LDARG_NONE},
    {"relax", LDOPT_KEEP, LDARG_NONE},
    {"relocatable", LDOPT_RELOCATABLE, LDARG_NONE},
    {"remap-inputs", LDOPT_REFUSED, LDARG_ANY},
    {"remap-inputs-file", LDOPT_REFUSED, LDARG_ANY},
    {"require-defined", LDOPT_KEEP, LDARG_SYMBOL},
    {"retain-symbols-file", LDOPT_FILE, LDARG_FILE},
    {"rosegment", LDOPT_KEEP, LDARG_NONE},
    {"rpath", LDOPT_KEEP, LDARG_TEXT},
    {"rpath-link", LDOPT_DROP, LDARG_ANY},
    {"script", LDOPT_FILE, LDARG_FILE},
    {"section-ordering-file", LDOPT_REFUSED, LDARG_ANY},
    {"section-start", LDOPT_KEEP, LDARG_SYMBOL},
    {"shared", LDOPT_KEEP, LDARG_NONE},
    {"soname", LDOPT_KEEP, LDARG_TEXT},
    {"sort-common", LDOPT_KEEP, LDARG_WORD, "ascending descending", true},
    {"sort-section", LDOPT_KEEP, LDARG_WORD, "name alignment none"},
    {"spare-dynamic-tags", LDOPT_KEEP, LDARG_NUMBER},
    {"split-by-file", LDOPT_KEEP, LDARG_NUMBER, NULL, true},
    {"split-by-reloc", LDOPT_KEEP, LDARG_NUMBER, NULL, true},
    {"start-group", LDOPT_KEEP, LDARG_NONE},
    {"static", LDOPT_KEEP, LDARG_NONE},
    {"stats", LDOPT_DROP, LDARG_NONE},
    {"strip-all", LDOPT_KEEP, LDARG_NONE},
    {"strip-debug", LDOPT_KEEP, LDARG_NONE},
    {"strip-discarded", LDOPT_KEEP, LDARG_NONE},
    {"sysroot", LDOPT_SYSROOT, LDARG_ANY},
    {"target-help", LDOPT_INQUIRY, LDARG_NONE},
    {"task-link", LDOPT_REFUSED, LDARG_ANY},
    {"Tbss", LDOPT_KEEP, LDARG_NUMBER},
    {"Tdata", LDOPT_KEEP, LDARG_NUMBER},
    {"Tldata-segment", LDOPT_KEEP, LDARG_NUMBER},
    {"trace", LDOPT_DROP, LDARG_NONE},
    {"trace-symbol", LDOPT_DROP, LDARG_ANY},
    {"traditional-format", LDOPT_KEEP, LDARG_NONE},
    {"Trodata-segment", LDOPT_KEEP, LDARG_NUMBER},
    {"Ttext", LDOPT_KEEP, LDARG_NUMBER},
    {"Ttext-segment", LDOPT_KEEP, LDARG_NUMBER},
    {"undefined", LDOPT_KEEP, LDARG_SYMBOL},
    {"undefined-version", LDOPT_KEEP, LDARG_NONE},
    {"unique", LDOPT_KEEP, LDARG_SYMBOL, NULL, true},
    {"unresolved-symbols", LDOPT_KEEP, LDARG_WORD,
	"ignore-all report-all ignore-in-object-files ignore-in-shared-libs"},
    {"Ur", LDOPT_RELOCATABLE, LDARG_NONE},
    {"verbose", LDOPT_DROP, LDARG_ANY, NULL, true},
    {"version", LDOPT_INQUIRY, LDARG_NONE},
    {"version-exports-section", LDOPT_KEEP, LDARG_SYMBOL},
    {"version-script", LDOPT_FILE, LDARG_FILE},
    {"warn-alternate-em", LDOPT_KEEP, LDARG_NONE},
    {"warn-common", LDOPT_KEEP, LDARG_NONE},
    {"warn-constructors", LDOPT_KEEP, LDARG_NONE},
    {"warn-execstack", LDOPT_KEEP, LDARG_NONE},
    {"warn-multiple-gp", LDOPT_KEEP, LDARG_NONE},
    {"warn-once", LDOPT_KEEP, LDARG_NONE},
    {"warn-rwx-segments", LDOPT_KEEP, LDARG_NONE},
    {"warn-section-align", LDOPT_KEEP, LDARG_NONE},
    {"warn-shared-textrel", LDOPT_KEEP, LDARG_NONE},
    {"warn-textrel", LDOPT_KEEP, LDARG_NONE},
    {"warn-unresolved-symbols", LDOPT_KEEP, LDARG_NONE},
    {"whole-archive", LDOPT_KEEP, LDARG_NONE},
    {"wrap", LDOPT_KEEP, LDARG_SYMBOL},
};

/* Of one dash and one letter. */
static const struct known short_option[] = {
    {"(", LDOPT_KEEP, LDARG_NONE},
    {")", LDOPT_KEEP, LDARG_NONE},
    {"A", LDOPT_REFUSED, LDARG_ANY},
    {"a", LDOPT_KEEP, LDARG_WORD, "archive shared default"},
    {"b", LDOPT_FORMAT, LDARG_WORD, FORMATS},
    {"c", LDOPT_REFUSED, LDARG_ANY},
    {"d", LDOPT_KEEP, LDARG_NONE},
    {"E", LDOPT_KEEP, LDARG_NONE},
    {"e", LDOPT_ENTRY, LDARG_SYMBOL},
    {"F", LDOPT_KEEP, LDARG_TEXT},
    {"f", LDOPT_KEEP, LDARG_TEXT},
    {"G", LDOPT_KEEP, LDARG_NUMBER},
    {"g", LDOPT_KEEP, LDARG_NONE},
    {"h", LDOPT_KEEP, LDARG_TEXT},
    {"I", LDOPT_KEEP, LDARG_TEXT},
    {"i", LDOPT_RELOCATABLE, LDARG_NONE},
    {"L", LDOPT_FOLDER, LDARG_FOLDER},
    {"l", LDOPT_LIBRARY, LDARG_LIBRARY},
    {"M", LDOPT_MAP, LDARG_NONE},
    {"m", LDOPT_KEEP, LDARG_WORD, EMULATIONS},
    {"N", LDOPT_KEEP, LDARG_NONE},
    {"n", LDOPT_KEEP, LDARG_NONE},
    {"O", LDOPT_KEEP, LDARG_NUMBER},
    {"o", LDOPT_OUTPUT, LDARG_ANY},
    {"P", LDOPT_KEEP, LDARG_TEXT},
    {"q", LDOPT_KEEP, LDARG_NONE},
    {"R", LDOPT_SYMBOLS, LDARG_FILE},
    {"r", LDOPT_RELOCATABLE, LDARG_NONE},
    {"S", LDOPT_KEEP, LDARG_NONE},
    {"s", LDOPT_KEEP, LDARG_NONE},
    {"T", LDOPT_FILE, LDARG_FILE},
    {"t", LDOPT_DROP, LDARG_NONE},
    {"u", LDOPT_KEEP, LDARG_SYMBOL},
    {"V", LDOPT_DROP, LDARG_NONE},
    {"v", LDOPT_DROP, LDARG_NONE},
    {"w", LDOPT_KEEP, LDARG_NONE},
    {"X", LDOPT_KEEP, LDARG_NONE},
    {"x", LDOPT_KEEP, LDARG_NONE},
    {"Y", LDOPT_REFUSED, LDARG_ANY},
    {"y", LDOPT_DROP, LDARG_ANY},
    {"z", LDOPT_KEEP, LDARG_WORD, Z_WORDS},
};

#define COUNT(A) (sizeof(A) / sizeof *(A))

static const struct known *find(const struct known *t, size_t count, const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (strlen(t[i].name) == n && !memcmp(t[i].name, s, n))
			return &t[i];
	return NULL;
}

/* -Tdata=0x1000 and -T data are distinguished as getopt does: the long names
 * first, but none that begins with 'o' after one dash. -library is -l ibrary to ld. */
static const struct known *find_long(const char *s, size_t n, bool one_dash)
{
	if (one_dash && (*s == 'o' || *s == 'l' || n < 2))
		return NULL;
	return find(long_option, COUNT(long_option), s, n);
}

/* getopt prefers the abbreviation of a long option to letters with operands.
 * ld itself sees to it that -l is never taken for one. */
static bool abbreviates(const char *s, size_t n)
{
	size_t i;

	for (i = 0; n >= 2 && *s != 'l' && *s != 'o' && i < COUNT(long_option); i++)
		if (!strncmp(long_option[i].name, s, n))
			return true;
	return false;
}

static const struct known *find_short(const char *body, size_t n)
{
	const struct known *k = find(short_option, COUNT(short_option), body, 1);

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
