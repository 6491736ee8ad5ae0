/*
 * morph-report: profiles of Morph and of other tools as tables and in other tools' formats.
 * morphctl becomes it.
 *
 *	morph-report export FORMAT [--from FORMAT] [--module FILE] [-o OUTPUT] INPUT
 */
#include "morphctl/report/in/in.h"
#include "morphctl/report/out/out.h"
#include "morphctl/report/symbols/symbols.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int export(int argc, char **argv)
{
	static const struct option option[] = {{"from", required_argument, NULL, 'f'},
	    {"module", required_argument, NULL, 'm'}, {"output", required_argument, NULL, 'o'},
	    {0}};
	struct in_options in = {0};
	struct out_options out = {0};
	struct symbols_options sym = {.lines = true};
	const char *output = NULL;
	struct recording r = {0};
	struct buf b = {0};
	struct err e;
	FILE *f;
	int c;

	while ((c = getopt_long(argc, argv, "o:", option, NULL)) != -1) {
		if (c == 'f')
			in.format = optarg;
		else if (c == 'm')
			in.module = out.module = optarg;
		else if (c == 'o')
			output = optarg;
		else
			return 2;
	}
	if (argc - optind != 2)
		return 2;
	if (in_read(&r, argv[optind + 1], &in, &e)) {
		fprintf(stderr, "morph-report: %s\n", e.text);
		return 1;
	}
	if (out_needs_symbols(argv[optind]))
		symbols_resolve(&r, &sym);
	if (out_write(&r, argv[optind], &out, &b, &e)) {
		fprintf(stderr, "morph-report: %s\n", e.text);
		return 1;
	}
	f = output ? fopen(output, "w") : stdout;
	return !f || fwrite(b.p, 1, b.n, f) != b.n || fclose(f);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "export") == 0)
		return export(argc - 1, argv + 1);
	fprintf(stderr, "Usage: morph-report export FORMAT INPUT\n");
	return 2;
}
