#include "hooks/linkmap.h"

#include <stdlib.h>
#include <string.h>

static const char *line_end(const char *p, const char *end)
{
	const char *nl = memchr(p, '\n', (size_t)(end - p));

	return nl ? nl : end;
}

static void add_once(struct args *out, struct htab *seen, char *name)
{
	bool fresh;

	htab_put_str(seen, name, &fresh);
	if (fresh)
		args_add(out, name);
	free(name);
}

/* The name in a line "NAME:". */
static char *target(enum linker linker, const char *p, const char *end)
{
	struct buf b = {0};

	for (; p < end; p++) {
		if (linker == LINKER_LLD && p + 1 < end &&
		    ((*p == '\\' && strchr(" #", p[1])) || (*p == '$' && p[1] == '$')))
			p++;
		buf_char(&b, *p);
	}
	return buf_cstr(&b);
}

static void read_targets(enum linker linker, const char *text, size_t n, struct args *out)
{
	const char *p, *e, *end = text + n;
	struct htab seen = {0};

	for (p = line_end(text, end); p < end; p = e) {
		p++;
		e = line_end(p, end);
		if (e > p && e[-1] == ':')
			add_once(out, &seen, target(linker, p, e - 1));
	}
	htab_free(&seen);
}

static void read_list(const char *text, size_t n, struct args *out)
{
	const char *p, *e, *end = text + n;
	struct htab seen = {0};
	char *name;

	for (p = line_end(text, end); p < end; p = e) {
		p++;
		e = line_end(p, end);
		if (e == p)
			break;
		if (e - p < 3 || memcmp(p, "  ", 2))
			continue;
		name = xasprintf("%.*s", (int)(e - p) - 2, p + 2);
		n = strlen(name);
		if (n > 2 && !strcmp(name + n - 2, " \\"))
			name[n - 2] = '\0';
		add_once(out, &seen, name);
	}
	htab_free(&seen);
}

void depfile_read(enum linker linker, const char *text, size_t n, struct args *out)
{
	if (n && (linker == LINKER_LLD || linker == LINKER_MOLD))
		read_targets(linker, text, n, out);
	else if (n)
		read_list(text, n, out);
}

static void add(struct linkmap *m, const char *p, const char *end)
{
	bool fresh = false;

	if (p < end)
		htab_put(&m->file, p, (size_t)(end - p), &fresh);
	if (fresh)
		args_take(&m->files, xasprintf("%.*s", (int)(end - p), p));
}

/* After 0xHEX and the spaces that follow it, else NULL. */
static const char *skip_number(const char *p, const char *end)
{
	const char *q;

	if (end - p < 3 || p[0] != '0' || p[1] != 'x')
		return NULL;
	for (q = p + 2; q < end && strchr("0123456789abcdef", *q); q++)
		continue;
	if (q == p + 2 || q == end || *q != ' ')
		return NULL;
	while (q < end && *q == ' ')
		q++;
	return q;
}

static void section_line(struct linkmap *m, const char *p, const char *end)
{
	const char *q;

	for (; p + 2 < end; p++)
		if (p[0] == ' ' && p[1] == '0' && (q = skip_number(p + 1, end)) &&
		    (q = skip_number(q, end))) {
			add(m, q, end);
			return;
		}
}

/* "ARCHIVE(MEMBER)" up to the first ")" with a space or nothing after. */
static void head_line(struct linkmap *m, const char *p, const char *end)
{
	const char *q;

	for (q = p; q < end; q++)
		if (*q == ')' && (q + 1 == end || q[1] == ' ')) {
			add(m, p, q + 1);
			return;
		}
}

static void add_reason(struct linkmap *m, const char *member, size_t n, const char *by, size_t by_n,
    const char *symbol, size_t symbol_n)
{
	args_take(&m->member, xasprintf("%.*s", (int)n, member));
	args_take(&m->by, xasprintf("%.*s", (int)by_n, by));
	args_take(&m->symbol, xasprintf("%.*s", (int)symbol_n, symbol));
}

/* "FILE (SYMBOL)" after a member of n bytes */
static void reason(struct linkmap *m, const char *member, size_t n, const char *p, const char *end)
{
	static const char plugin[] = " (symbol from plugin)";
	const char *open, *by;

	while (p < end && *p == ' ')
		p++;
	open = end > p && end[-1] == ')' ? memrchr(p, '(', (size_t)(end - p)) : NULL;
	if (!open || open - p < 2 || open[-1] != ' ')
		return;
	by = open - 1;
	if ((size_t)(by - p) >= sizeof plugin &&
	    !memcmp(by - (sizeof plugin - 1), plugin, sizeof plugin - 1))
		by -= sizeof plugin - 1;
	add_reason(m, member, n, p, (size_t)(by - p), open + 1, (size_t)(end - open) - 2);
}

/* The list at the head: a title, a blank line, members, a blank line. */
static void read_head(struct linkmap *m, const char *text, size_t n)
{
	static const char title[] = "Archive member included ";
	const char *end = text + n, *p = line_end(text, end), *e, *q, *member = p;
	size_t member_n = 0;

	if (n < sizeof title || memcmp(text, title, sizeof title - 1))
		return;
	for (p += p + 1 < end ? 2 : 0; p < end && *p != '\n'; p = e < end ? e + 1 : end) {
		e = line_end(p, end);
		for (q = p; q < e && *p != ' ' && !(*q == ')' && (q + 1 == e || q[1] == ' ')); q++)
			;
		if (*p != ' ') {
			member = p;
			member_n = (size_t)(q - p) + (q < e);
		}
		reason(m, member, member_n, q < e ? q + (*p != ' ') : e, e);
	}
}

/* Of a map in columns: where In begins; 0 = it is none. */
static size_t column_in(const char *text, size_t n)
{
	static const char names[] = "Out     In      Symbol";
	const char *p =
	    memmem(text, (size_t)(line_end(text, text + n) - text), names, sizeof names - 1);

	return p ? (size_t)(p - text) + strlen("Out     ") : 0;
}

static void column_line(struct linkmap *m, size_t in, const char *p, const char *end)
{
	const char *q;

	if (end - p <= (ptrdiff_t)in || p[in] == ' ' || p[in - 1] != ' ')
		return;
	for (q = end - 1; q > p + in + 1; q--)
		if (q[-1] == ':' && *q == '(') {
			add(m, p + in, q - 1);
			return;
		}
}

void linkmap_read_extracted(struct linkmap *m, const char *text, size_t n)
{
	const char *p, *e, *from, *to, *end = text + n;

	for (p = line_end(text, end); p < end; p = e) {
		p++;
		e = line_end(p, end);
		from = memchr(p, '\t', (size_t)(e - p));
		to = from ? memchr(from + 1, '\t', (size_t)(e - from) - 1) : NULL;
		if (!to)
			continue;
		add(m, from + 1, to);
		add_reason(m, from + 1, (size_t)(to - from) - 1, p, (size_t)(from - p), to + 1,
		    (size_t)(e - to) - 1);
	}
}

void linkmap_read(struct linkmap *m, const char *text, size_t n)
{
	const char *p, *e, *end = text + n;
	size_t in = column_in(text, n);

	read_head(m, text, n);
	for (p = text; p < end; p = e < end ? e + 1 : end) {
		e = line_end(p, end);
		if (in)
			column_line(m, in, p, e);
		else if (e > p && *p == ' ')
			section_line(m, p, e);
		else
			head_line(m, p, e);
	}
}

bool linkmap_has(const struct linkmap *m, const char *path, const char *member)
{
	char *key = member ? xasprintf("%s(%s)", path, member) : NULL;
	bool has = htab_get_str(&m->file, key ? key : path) != NULL;

	free(key);
	return has;
}

void linkmap_free(struct linkmap *m)
{
	htab_free(&m->file);
	args_free(&m->files);
	args_free(&m->member);
	args_free(&m->by);
	args_free(&m->symbol);
}
