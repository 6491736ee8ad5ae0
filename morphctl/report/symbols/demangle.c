#include "morphctl/report/symbols/symbols.h"

/* The xrealloc() that libiberty calls and declares. */
void *iberty_realloc(void *p, size_t n) __asm__("xrealloc");
#define xrealloc iberty_realloc
#include <libiberty/demangle.h>
#undef xrealloc
#include <setjmp.h>
#include <string.h>

void *iberty_realloc(void *p, size_t n)
{
	return xrealloc(p, n, 1);
}

/*
 * Names are anybody's, and each of the three manglings can refer back to what it said before: a
 * short name of that kind would be gigabytes long. C++ and Rust are demangled piece by piece, which
 * ends with the room; D is so where back references ('Q') are few.
 */
enum { MANGLED_MAX = 16 << 10, NAME_MAX_BYTES = 16 << 10, BACK_REFERENCES = 12 };
static const int STYLE = DMGL_PARAMS | DMGL_ANSI;

struct name {
	char text[NAME_MAX_BYTES];
	size_t n;
	jmp_buf full;
};

static void add(const char *piece, size_t n, void *arg)
{
	struct name *to = arg;

	if (n >= sizeof to->text - to->n)
		longjmp(to->full, 1);
	if (n) /* else there may be no piece */
		memcpy(to->text + to->n, piece, n);
	to->n += n;
}

static int by_pieces(struct name *to, const char *linkage)
{
	to->n = 0;
	if (setjmp(to->full))
		return 0;
	if (rust_demangle_callback(linkage, STYLE, add, to))
		return 1;
	to->n = 0;
	return !strncmp(linkage, "_Z", 2) && cplus_demangle_v3_callback(linkage, STYLE, add, to);
}

static char *of_d(const char *linkage)
{
	unsigned q = 0;
	const char *p;

	if (strncmp(linkage, "_D", 2))
		return NULL;
	for (p = linkage; *p; p++)
		q += *p == 'Q';
	return q <= BACK_REFERENCES ? dlang_demangle(linkage, STYLE) : NULL;
}

/* One without "@plt" or a version. */
static char *demangle(const char *linkage)
{
	struct name to;
	char *d;

	if (by_pieces(&to, linkage)) {
		to.text[to.n] = '\0';
		return xstrdup(to.text);
	}
	d = of_d(linkage);
	if (d && strlen(d) < NAME_MAX_BYTES)
		return d;
	free(d);
	return NULL;
}

char *symbols_demangle(const char *linkage)
{
	size_t n = strcspn(linkage, "@");
	char front[MANGLED_MAX + 1], *d, *whole;

	if (linkage[0] != '_' || n > MANGLED_MAX)
		return xstrdup(linkage);
	memcpy(front, linkage, n);
	front[n] = '\0';
	d = demangle(front);
	if (!d || !linkage[n])
		return d ? d : xstrdup(linkage);
	whole = xasprintf("%s%s", d, linkage + n);
	free(d);
	return whole;
}
