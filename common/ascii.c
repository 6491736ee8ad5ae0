#include "common/ascii.h"

#include <string.h>

/* None is longer than what it is for. */
static const struct {
	const char *utf8, *ascii;
} instead[] = {{"…", "..."}, {"–", "-"}, {"−", "-"}, {"→", "->"}, {"×", "x"}};

static bool translates;

bool ascii_on(void)
{
	return translates;
}

void ascii_set(bool on)
{
	translates = on;
}

/* The character of Morph's at the beginning of n bytes, *len of them; NULL = there is none. */
static const char *find(const char *s, size_t n, size_t *len)
{
	size_t i;

	for (i = 0; translates && (*s & 0x80) && i < sizeof instead / sizeof *instead; i++) {
		*len = strlen(instead[i].utf8);
		if (*len <= n && !memcmp(s, instead[i].utf8, *len))
			return instead[i].ascii;
	}
	return NULL;
}

const char *ascii_instead(const char *s, size_t *n)
{
	return find(s, strnlen(s, 4), n);
}

size_t ascii_translate(char *p, size_t n)
{
	size_t from, to = 0, len, put;
	const char *ascii;

	for (from = 0; from < n; from += len) {
		ascii = find(p + from, n - from, &len);
		if (!ascii)
			len = 1;
		put = ascii ? strlen(ascii) : 1;
		memmove(p + to, ascii ? ascii : p + from, put);
		to += put;
	}
	return to;
}

size_t ascii_cut_off(const char *p, size_t n)
{
	size_t i, k;

	for (k = n < 2 ? n : 2; translates && k; k--)
		for (i = 0; i < sizeof instead / sizeof *instead; i++)
			if (k < strlen(instead[i].utf8) && !memcmp(p + n - k, instead[i].utf8, k))
				return k;
	return 0;
}
