/*
 * Names for code, for the tests: offsets come in hexadecimal, one a line.
 *
 *	symbolsdriver [OPTION…] elf|kernel|anon PATH|PID	a line "= OFFSET", then one for each
 *frame: NAME, LINKAGE, SOURCE:LINE, DISCRIMINATOR, START+SIZE, DEFINITION with tabs between
 *	symbolsdriver [OPTION…] code PATH START END		"OFFSET SIZE TEXT SOURCE:LINE"
 *likewise symbolsdriver source PATH UID FROM N			lines symbolsdriver demangle
 *names, one a line
 */
#include "common/log.h"
#include "morphctl/report/symbols/symbols.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hex(const char *s)
{
	return strtoull(s, NULL, 16);
}

static void frame(const struct recording *r, const struct recording_frame *f)
{
	const struct recording_function *fn = &r->function.v[f->function];

	printf("%s\t%s\t%s:%u\t%u\t", fn->name, fn->linkage, fn->source ? fn->source : "??",
	    f->line, f->discriminator);
	printf("%llx+%llx\t%u\n", (unsigned long long)fn->start, (unsigned long long)fn->size,
	    fn->line);
}

static int resolve(enum recording_kind kind, const char *path, const struct build_id *id,
    const struct symbols_options *o)
{
	struct recording r = {0};
	uint32_t pid = kind == RECORDING_ANON ? (uint32_t)atoi(path) : 0, i, k;
	uint32_t file = recording_file(&r, kind, pid ? "[anon]" : path, id, pid);
	char line[64];

	while (fgets(line, sizeof line, stdin))
		recording_location(&r, file, hex(line));
	symbols_resolve(&r, o);
	for (i = 0; i < r.location.n; i++) {
		const struct recording_location *l = &r.location.v[i];

		printf("= %llx\n", (unsigned long long)l->offset);
		for (k = 0; k < l->nframe; k++)
			frame(&r, &r.frame.v[l->frame + k]);
		if (!l->resolved)
			return 1;
	}
	recording_free(&r);
	return 0;
}

static int code(const char *path, const struct build_id *id, const char *start, const char *end,
    const struct symbols_options *o)
{
	struct recording_file f = {.kind = RECORDING_ELF, .path = path, .id = *id};
	struct symbols_insn *insn;
	struct arena mem = {0};
	struct err e;
	size_t n, i;

	if (symbols_disassemble(&f, hex(start), hex(end), o, &mem, &insn, &n, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	for (i = 0; i < n; i++)
		printf("%llx\t%u\t%s\t%s:%u\n", (unsigned long long)insn[i].offset, insn[i].size,
		    insn[i].text, insn[i].source ? insn[i].source : "??", insn[i].line);
	arena_free(&mem);
	return 0;
}

static int source(char **argv)
{
	uint32_t n = (uint32_t)atoi(argv[3]), i;
	struct arena mem = {0};
	const char **line;
	struct err e;

	if (symbols_source(
		argv[0], (uint32_t)atoi(argv[1]), (uint32_t)atoi(argv[2]), n, &mem, &line, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	for (i = 0; i < n; i++)
		printf("%s\n", line[i] ? line[i] : "(none)");
	arena_free(&mem);
	return 0;
}

static int demangle(void)
{
	static char line[1 << 20];
	char *name;

	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = '\0';
		name = symbols_demangle(line);
		puts(name);
		free(name);
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option option[] = {{"debug", required_argument, NULL, 'd'},
	    {"maps", required_argument, NULL, 'm'}, {"kallsyms", required_argument, NULL, 'k'},
	    {"id", required_argument, NULL, 'i'}, {"names", no_argument, NULL, 'n'}, {0}};
	struct symbols_options o = {.lines = true};
	struct build_id id = {0};
	int c;

	log_init("morph-report", LOG_LVL_INFO);
	while ((c = getopt_long(argc, argv, "", option, NULL)) != -1) {
		if (c == 'd')
			o.debug = optarg;
		else if (c == 'm')
			o.maps = optarg;
		else if (c == 'k')
			o.kallsyms = optarg;
		else if (c == 'n')
			o.lines = false;
		else if (c != 'i' || build_id_parse(optarg, &id))
			return 2;
	}
	argv += optind;
	argc -= optind;
	if (argc == 1 && strcmp(argv[0], "demangle") == 0)
		return demangle();
	if (argc == 4 && strcmp(argv[0], "code") == 0)
		return code(argv[1], &id, argv[2], argv[3], &o);
	if (argc == 5 && strcmp(argv[0], "source") == 0)
		return source(argv + 1);
	if (argc != 2)
		return 2;
	return resolve(strcmp(argv[0], "kernel") == 0 ? RECORDING_KERNEL
		       : strcmp(argv[0], "anon") == 0 ? RECORDING_ANON
						      : RECORDING_ELF,
	    argv[1], &id, &o);
}
