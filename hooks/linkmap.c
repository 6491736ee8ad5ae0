#include "hooks/linkmap.h"

#include <stdlib.h>
#include <string.h>

static const char *line_end(const char *p, const char *end)
{
	const char *nl = memchr(p, '\n', (size_t)(end - p));

	return nl ? nl : end;
}

void depfile_read(const char *text, size_t n, struct args *out)
{
	const char *p, *e, *end = text + n;
	struct htab seen = {0};
	bool fresh;
	char *name;

	if (!n)
		return;
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
		htab_put_str(&seen, name, &fresh);
		if (fresh)
			args_add(out, name);
		free(name);
	}
	htab_free(&seen);
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

void linkmap_read(struct linkmap *m, const char *text, size_t n)
{
	const char *p, *e, *end = text + n;

	for (p = text; p < end; p = e < end ? e + 1 : end) {
		e = line_end(p, end);
		if (e > p && *p == ' ')
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
}
