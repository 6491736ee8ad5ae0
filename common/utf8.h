/*
 * UTF-8 as in RFC 3629: no overlong forms, no surrogates, up to U+10FFFF.
 */
#ifndef MORPH_UTF8_H
#define MORPH_UTF8_H

/* Bytes of the multi-byte character at s, a string that ends in 0; 0 when there
 * is none. */
static inline int utf8_length(const unsigned char *s)
{
	int n = *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;
	int i;

	for (i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f))
		return 0;
	if ((*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

/* Bytes of the character at s, 0 for control characters (C0, DEL, C1) and where there is none. */
static inline int utf8_printable(const unsigned char *s)
{
	if (*s < 0x80)
		return *s >= 0x20 && *s != 0x7f;
	return *s == 0xc2 && s[1] < 0xa0 ? 0 : utf8_length(s);
}

#endif
