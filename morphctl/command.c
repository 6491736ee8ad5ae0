#include "morphctl/command.h"
#include "common/ascii.h"

#include <stdio.h>

int show(const struct invocation *in, json_t *result, show_text *text)
{
	if (in->json) {
		ascii_keep_stdout();
		json_dumpf(
		    result, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12) | JSON_ENCODE_ANY);
		putchar('\n');
	} else {
		text(in, result);
	}
	json_decref(result);
	return EXIT_DONE;
}
