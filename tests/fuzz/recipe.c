/*
 * cov >= 280
 * Recipes and scripts: what recipe_check accepts, read as ld reads it, by
 * getopt_long_only with ld's own options, names no path but inputs and search
 * folders below the sysroot, and no option that reads or writes elsewhere.
 */
#include "common/command/asopt.h"
#include "common/command/ldopt.h"
#include "common/command/ldscript.h"
#include "common/mem.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { ARGS = 32, INPUTS = 4, FLAG = 1000, TEXT, FILES, WORD, BAD, SYSROOT, BUILD_ID };

#define NO(NAME, KIND) \
	{ \
		NAME, no_argument, NULL, KIND \
	}
#define REQ(NAME, KIND) \
	{ \
		NAME, required_argument, NULL, KIND \
	}
#define OPT(NAME, KIND) \
	{ \
		NAME, optional_argument, NULL, KIND \
	}

/* All options of ld (2.40): one that is missing here is no abbreviation to getopt. */
static char flags[] =
    "accept-unknown-input-arch add-needed allow-multiple-definition allow-shlib-undefined "
    "as-needed Bdynamic Bgroup Bno-symbolic Bshareable Bstatic Bsymbolic "
    "Bsymbolic-functions call_shared check-sections copy-dt-needed-entries cref "
    "ctf-variables dc default-imported-symver default-symver disable-linker-version "
    "disable-multiple-abs-defs disable-new-dtags discard-all discard-locals discard-none "
    "dn dp dy dynamic-list-cpp-new dynamic-list-cpp-typeinfo dynamic-list-data EB "
    "eh-frame-hdr EL embedded-relocs emit-relocs enable-linker-version enable-new-dtags "
    "enable-non-contiguous-regions enable-non-contiguous-regions-warnings end-group "
    "error-execstack error-rwx-segments error-unresolved-symbols export-dynamic "
    "fatal-warnings force-group-allocation gc-keep-exported gc-sections "
    "ld-generated-unwind-info map-whole-files nmagic no-accept-unknown-input-arch "
    "no-add-needed no-allow-shlib-undefined no-as-needed no-check-sections "
    "no-copy-dt-needed-entries no-ctf-variables no-define-common no-demangle "
    "no-dynamic-linker no-eh-frame-hdr no-error-execstack no-error-rwx-segments "
    "no-export-dynamic no-fatal-warnings no-gc-sections no-keep-memory "
    "no-ld-generated-unwind-info no-map-whole-files no-omagic no-pie no-print-gc-sections "
    "no-print-map-discarded no-relax no-rosegment no-strip-discarded no-undefined "
    "no-undefined-version no-warn-execstack no-warn-mismatch no-warn-rwx-segments "
    "no-warn-search-mismatch no-warnings no-whole-archive noinhibit-exec non_shared "
    "nostdlib omagic pic-executable pie pop-state print-gc-sections print-map-discarded "
    "print-memory-usage push-state qmagic Qy reduce-memory-overheads relax rosegment "
    "shared start-group static stats strip-all strip-debug strip-discarded "
    "traditional-format undefined-version warn-alternate-em warn-common warn-constructors "
    "warn-execstack warn-multiple-gp warn-once warn-rwx-segments warn-section-align "
    "warn-shared-textrel warn-textrel warn-unresolved-symbols whole-archive";

static const struct option others[] = {NO("print-map", BAD), NO("print-sysroot", BAD),
    NO("print-output-format", BAD), NO("Ur", BAD), NO("relocatable", BAD), NO("trace", BAD),
    NO("version", BAD), NO("help", BAD), NO("target-help", BAD), NO("force-exe-suffix", BAD),
    REQ("Map", BAD), REQ("output", BAD), REQ("out-implib", BAD), REQ("dependency-file", BAD),
    REQ("plugin", BAD), REQ("plugin-opt", BAD), REQ("sysroot", SYSROOT), REQ("mri-script", BAD),
    REQ("rpath-link", BAD), REQ("error-handling-script", BAD), REQ("task-link", BAD),
    REQ("architecture", BAD), REQ("assert", BAD), REQ("trace-symbol", BAD),
    OPT("build-id", BUILD_ID), OPT("verbose", BAD), OPT("flto", BAD), REQ("flto-partition", BAD),
    REQ("fuse-ld", BAD), REQ("script", FILES), REQ("default-script", FILES), REQ("dT", FILES),
    REQ("dynamic-list", FILES), REQ("version-script", FILES), REQ("retain-symbols-file", FILES),
    REQ("just-symbols", FILES), REQ("export-dynamic-symbol-list", FILES),
    REQ("export-dynamic-symbol", WORD), REQ("entry", WORD), REQ("undefined", WORD),
    REQ("wrap", WORD), REQ("defsym", WORD), REQ("init", WORD), REQ("fini", WORD), REQ("Tbss", WORD),
    REQ("Tdata", WORD), REQ("Ttext", WORD), REQ("Ttext-segment", WORD), REQ("Tldata-segment", WORD),
    REQ("Trodata-segment", WORD), REQ("section-start", WORD), REQ("exclude-libs", WORD),
    REQ("require-defined", WORD), REQ("version-exports-section", WORD),
    REQ("ignore-unresolved-symbol", WORD), REQ("gpsize", WORD), REQ("hash-size", WORD),
    REQ("max-cache-size", WORD), REQ("spare-dynamic-tags", WORD), OPT("split-by-file", WORD),
    OPT("split-by-reloc", WORD), OPT("unique", WORD), OPT("sort-common", WORD),
    OPT("demangle", WORD), REQ("compress-debug-sections", WORD), REQ("ctf-share-types", WORD),
    REQ("sort-section", WORD), REQ("hash-style", WORD), REQ("unresolved-symbols", WORD),
    REQ("orphan-handling", WORD), REQ("oformat", WORD), REQ("format", WORD), REQ("library", 'l'),
    REQ("library-path", 'L'), REQ("soname", TEXT), REQ("rpath", TEXT), REQ("dynamic-linker", TEXT),
    REQ("audit", TEXT), REQ("auxiliary", TEXT), REQ("filter", TEXT), REQ("depaudit", TEXT),
    OPT("package-metadata", TEXT)};

static struct option ld[400]; /* all of these, and an empty one */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	size_t n = sizeof others / sizeof *others;
	char *save = NULL, *name;

	memcpy(ld, others, sizeof others);
	for (name = strtok_r(flags, " ", &save); name; name = strtok_r(NULL, " ", &save))
		ld[n++] = (struct option){name, no_argument, NULL, FLAG};
	return 0;
}

static void must(bool holds)
{
	if (!holds)
		abort();
}

static bool is_input(const char *s)
{
	return s[0] == '@' && strspn(s + 1, "0123456789") == strlen(s + 1) && s[1] &&
	       strtoull(s + 1, NULL, 10) < INPUTS;
}

/* What ld does before getopt: -lX becomes --library=X, and -G without a number
 * is -shared. */
static void prepare(int argc, char **argv, struct arena *mem)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "-l", 2) && argv[i][2])
			argv[i] = arena_printf(mem, "--library=%s", argv[i] + 2);
		else if (!strcmp(argv[i], "-G") &&
			 (i + 1 == argc || argv[i + 1][0] < '0' || argv[i + 1][0] > '9'))
			argv[i] = (char *)"--shared";
	}
}

/* With '-' first, what is no option comes as 1. */
static void read_as_ld(int argc, char **argv)
{
	static const char letters[] =
	    "-a:A:b:c:de:Ef:F:gG:h:iI:l:L:m:MnNo:O:P:qrR:sStT:u:vVwxXy:Y:z:()";
	int c;

	opterr = optind = 0;
	while ((c = getopt_long_only(argc, argv, letters, ld, NULL)) != -1) {
		must(c != BAD && c != '?' && !(c < 256 && strchr("AcyoMirtvVY", c)));
		if (c == 1 || c == FILES || c == 'T' || c == 'R')
			must(is_input(optarg));
		else if (c == BUILD_ID)
			must(optarg && !strcmp(optarg, "none"));
		else if (c == SYSROOT) /* below the relink's folder */
			must(*optarg == '/' && !strstr(optarg, "/.."));
		else if (c == 'L')
			must(!strncmp(optarg, "=/", 2));
		else if (optarg && c != TEXT && (c > 255 || !strchr("fFhIP", c)))
			must(!strchr(optarg, '/'));
	}
	must(optind == argc);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	char *text = xcalloc(1, n + 1), *argv[ARGS + 2] = {(char *)"ld"}, *next = text;
	struct arena mem = {0};
	struct err e;
	int argc = 1;

	memcpy(text, p, n);
	ldscript_check(p, n, "fuzz", "", &e);
	if (!asopt_check(text, &e))
		must(!strpbrk(text, "/@ ") && !strstr(text, "\n\n"));
	while (argc <= ARGS && next)
		argv[argc++] = strsep(&next, "\n");
	if (!recipe_check(
		LINKER_GNU, (const char *const *)argv + 1, (size_t)argc - 1, INPUTS, &e)) {
		for (int i = 1; i < argc; i++)
			must(argv[i][0] != '@' || is_input(argv[i]));
		prepare(argc, argv, &mem);
		read_as_ld(argc, argv);
	}
	arena_free(&mem);
	free(text);
	return 0;
}
