#include "morphctl/text/complain.h"

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
