#include "common/profiletext/funclist.h"
#include "common/publish.h"

#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* A linker takes any byte in a name; lists have neither blanks nor patterns in it. */
static bool is_name(const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if ((unsigned char)s[i] <= ' ' || s[i] == 0x7f || strchr("*?[]\"'", s[i]))
			return false;
	return n > 0;
}

/* Cuts off what stands before the function's own name. */
static void strip_section(char **s, size_t *n)
{
	static const char text[] = ".text.";
	const char *colon = memrchr(*s, ':', *n);
	size_t skip = colon ? (size_t)(colon + 1 - *s) : 0;

	if (*n - skip > sizeof text - 1 && !memcmp(*s + skip, text, sizeof text - 1))
		skip += sizeof text - 1;
	*s += skip;
	*n -= skip;
}

/* n bytes of a line, of which s[n] may be written. */
static int read_line(struct funclist *l, char *s, size_t n, struct err *e)
{
	uint64_t *position;
	bool fresh;

	while (n && is_blank(*s))
		s++, n--;
	while (n && is_blank(s[n - 1]))
		n--;
	if (!n || *s == '#')
		return 0;
	if (n > FUNCLIST_NAME)
		return err_set(e, "longer than %d bytes", FUNCLIST_NAME);
	strip_section(&s, &n);
	if (!is_name(s, n))
		return err_set(e, "not the name of a function");
	s[n] = '\0';
	position = htab_put_str(&l->index, s, &fresh);
	if (!fresh)
		return err_set(e, "'%.200s' is in the list already", s);
	*position = l->name.n;
	vec_push(&l->name, s);
	return 0;
}

int funclist_parse(struct funclist *l, struct buf *text, const char *name, struct err *e)
{
	char *s, *end, *next;
	unsigned long line = 1;

	l->text = *text;
	*text = (struct buf){0};
	s = buf_cstr(&l->text);
	for (end = s + l->text.n; s < end; s = next + 1, line++) {
		next = memchr(s, '\n', (size_t)(end - s)) ?: end;
		if (read_line(l, s, (size_t)(next - s), e))
			return err_wrap(e, "%s: line %lu", name, line);
	}
	return 0;
}

int funclist_read(struct funclist *l, const char *path, struct err *e)
{
	struct buf text = {0};

	if (file_read(path, FUNCLIST_BYTES, &text, e)) {
		buf_free(&text);
		return -1;
	}
	return funclist_parse(l, &text, path, e);
}

void funclist_free(struct funclist *l)
{
	vec_free(&l->name);
	htab_free(&l->index);
	buf_free(&l->text);
	*l = (struct funclist){0};
}
