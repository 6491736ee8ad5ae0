#include "morphctl/command.h"

#include <stdarg.h>
#include <stdio.h>

int complain(int code, const char *fmt, ...)
{
	va_list ap;

	fputs("morphctl: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return code;
}

int show(const struct invocation *in, json_t *result, show_text *text)
{
	if (in->json) {
		json_dumpf(
		    result, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12) | JSON_ENCODE_ANY);
		putchar('\n');
	} else {
		text(in, result);
	}
	json_decref(result);
	return EXIT_DONE;
}
