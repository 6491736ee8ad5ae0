#include "hooks/sdt.h"

#include <stdlib.h>
#include <string.h>

/* As the header has it since SystemTap 4.1 (2019); in the compiler's output, .altmacro is after a
 * tab. */
static const char begin[] = ".altmacro\n"
			    ".macro _SDT_SIGN x\n.iflt \\x\n.ascii \"-\"\n.endif\n.endm\n"
			    ".macro _SDT_SIZE_ x\n.ascii \"\\x\"\n.endm\n"
			    ".macro _SDT_SIZE x\n"
			    "_SDT_SIZE_ %((-(-\\x*((-\\x>0)-(-\\x<0))))>>8)\n.endm\n"
			    ".macro _SDT_TYPE_ x\n.ifc 8,\\x\n.ascii \"f\"\n.endif\n"
			    ".ascii \"@\"\n.endm\n"
			    ".macro _SDT_TYPE x\n_SDT_TYPE_ %((\\x)&(0xff))\n.endm\n";
static const char end[] = ".purgem _SDT_SIGN\n.purgem _SDT_SIZE_\n.purgem _SDT_SIZE\n"
			  ".purgem _SDT_TYPE_\n.purgem _SDT_TYPE\n";
static const char any[] = "_SDT_";

/* The number after a macro's name, up to the line's end. */
static bool argument(const char *p, const char *stop, long *x)
{
	char digits[12] = "", *after;
	size_t n = (size_t)(stop - p);

	if (n >= sizeof digits || n != strspn(p, "-0123456789"))
		return false;
	memcpy(digits, p, n);
	*x = strtol(digits, &after, 10);
	return n && !*after;
}

/* One line that uses a macro. */
static bool use(const char *p, const char *stop, struct buf *out)
{
	enum { NAME = sizeof "_SDT_SIGN " - 1, FLOAT = 8 };
	long x;

	if (stop - p < NAME || !argument(p + NAME, stop, &x))
		return false;
	if (!memcmp(p, "_SDT_SIGN ", NAME))
		buf_str(out, x < 0 ? ".ascii \"-\"\n" : "");
	else if (!memcmp(p, "_SDT_SIZE ", NAME))
		buf_printf(out, ".ascii \"%ld\"\n", labs(x) >> 8);
	else if (!memcmp(p, "_SDT_TYPE ", NAME))
		buf_printf(out, ".ascii \"%s@\"\n", (x & 0xff) == FLOAT ? "f" : "");
	else
		return false;
	return true;
}

/* The lines between the macros' definition and their end. */
static bool body(const char *p, const char *stop, struct buf *out)
{
	const char *nl;

	for (; p < stop; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(stop - p));
		if (!nl)
			return false;
		if (*p == any[0]) {
			if (!use(p, nl, out))
				return false;
		} else if (memmem(p, (size_t)(nl - p), any, sizeof any - 1)) {
			return false;
		} else {
			buf_add(out, p, (size_t)(nl + 1 - p));
		}
	}
	return true;
}

static bool expand(const char *p, const char *stop, struct buf *out)
{
	const char *at, *to;

	for (; (at = memmem(p, (size_t)(stop - p), begin, sizeof begin - 1)); p = to) {
		buf_add(out, p, (size_t)(at - p));
		at += sizeof begin - 1;
		to = memmem(at, (size_t)(stop - at), end, sizeof end - 1);
		if (!to || !body(at, to, out))
			return false;
		to += sizeof end - 1;
	}
	buf_add(out, p, (size_t)(stop - p));
	return true;
}

bool sdt_expand(const struct buf *text, struct buf *out)
{
	if (text->n && memmem(text->p, text->n, begin, sizeof begin - 1) &&
	    expand(text->p, text->p + text->n, out))
		return true;
	buf_free(out);
	return false;
}
