#include "common/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WHOLE_MAX = 10000 }; /* two paths and what is the matter */

void err_fit(char *out, size_t n, const char *s)
{
	static const char gap[] = " … ";
	size_t len = strlen(s), half;

	if (len < n || n < 2 * sizeof gap) {
		snprintf(out, n, "%s", s);
		return;
	}
	half = (n - sizeof gap) / 2;
	snprintf(out, n, "%.*s%s%s", (int)half, s, gap, s + len - half);
}

int err_set(struct err *e, const char *fmt, ...)
{
	char whole[WHOLE_MAX];
	va_list ap;

	if (e) {
		va_start(ap, fmt);
		vsnprintf(whole, sizeof whole, fmt, ap);
		va_end(ap);
		err_fit(e->text, sizeof e->text, whole);
	}
	return -1;
}

int err_sys(struct err *e, const char *fmt, ...)
{
	int saved = errno;
	char what[WHOLE_MAX];
	va_list ap;

	if (e) {
		va_start(ap, fmt);
		vsnprintf(what, sizeof what, fmt, ap);
		va_end(ap);
		err_set(e, "%s: %s", what, strerror(saved));
	}
	errno = saved;
	return -1;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
	char tail[sizeof e->text], prefix[WHOLE_MAX];
	va_list ap;

	if (e) {
		memcpy(tail, e->text, sizeof tail);
		va_start(ap, fmt);
		vsnprintf(prefix, sizeof prefix, fmt, ap);
		va_end(ap);
		err_set(e, "%s: %s", prefix, tail);
	}
	return -1;
}

char *err_line(char *s)
{
	char *p;

	for (p = s; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
	return s;
}
