#include "morphctl/report/out/text.h"
#include "common/utf8.h"

void text_put(struct buf *out, const char *s, char byte, char instead)
{
	const unsigned char *p = (const unsigned char *)s;
	int n;

	for (; *p; p += n ? n : 1) {
		n = utf8_printable(p);
		if (!n)
			buf_char(out, '?');
		else if (*p == (unsigned char)byte)
			buf_char(out, instead);
		else
			buf_add(out, p, (size_t)n);
	}
}

void text_json(struct buf *out, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	int n;

	buf_char(out, '"');
	for (; *p; p += n ? n : 1) {
		n = utf8_printable(p);
		if (*p == '"' || *p == '\\')
			buf_char(out, '\\');
		buf_add(out, n ? (const void *)p : "?", n ? (size_t)n : 1);
	}
	buf_char(out, '"');
}

bool text_is_symbol(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	int n;

	for (; *p; p += n) {
		n = utf8_printable(p);
		if (!n || *p == ' ')
			return false;
	}
	return p != (const unsigned char *)s;
}
