#include "hooks/archive.h"

#include <stdlib.h>
#include <string.h>

enum { MAGIC = 8, HEADER = 60, NAME = 16, SIZE_AT = 48, SIZE_DIGITS = 10 };

bool archive_magic(const void *p, size_t n)
{
	return n >= MAGIC && (!memcmp(p, "!<arch>\n", MAGIC) || !memcmp(p, "!<thin>\n", MAGIC));
}

static int number(const char *p, size_t digits, size_t *out)
{
	size_t v = 0, i;

	for (i = 0; i < digits && p[i] >= '0' && p[i] <= '9'; i++)
		v = v * 10 + (size_t)(p[i] - '0');
	*out = v;
	return i > 0 && (i == digits || p[i] == ' ' || p[i] == '/') ? 0 : -1;
}

struct names { /* the member "//" */
	const char *p;
	size_t n;
};

static const char *long_name(const struct names *t, const char *digits, struct arena *a)
{
	const char *end;
	size_t at;

	if (number(digits, NAME - 1, &at) < 0 || at >= t->n)
		return NULL;
	end = memchr(t->p + at, '\n', t->n - at);
	if (!end)
		return NULL;
	if (end > t->p + at && end[-1] == '/')
		end--;
	return arena_strndup(a, t->p + at, (size_t)(end - t->p) - at);
}

/* The member's name; BSD's moves the content. NULL = garbled. */
static const char *member_name(
    const char *header, const struct names *t, struct archive_member *m, struct arena *a)
{
	size_t n;

	if (header[0] == '/' && header[1] >= '0' && header[1] <= '9')
		return long_name(t, header + 1, a);
	if (!memcmp(header, "#1/", 3)) {
		if (number(header + 3, NAME - 3, &n) < 0 || n > m->size)
			return NULL;
		m->at += n;
		m->size -= n;
		return arena_strndup(a, header + HEADER, strnlen(header + HEADER, n));
	}
	for (n = 0; n < NAME && header[n] != '/'; n++)
		continue;
	if (n == NAME)
		while (n && header[n - 1] == ' ')
			n--;
	return arena_strndup(a, header, n);
}

static bool is_index(const char *header)
{
	return !memcmp(header, "/ ", 2) || !memcmp(header, "/SYM64/ ", 8) ||
	       !memcmp(header, "__.SYMDEF", 9);
}

int archive_read(struct archive *ar, struct arena *a, const void *bytes, size_t n, const char *path,
    struct err *e)
{
	const char *p = bytes;
	struct names names = {0};
	struct archive_member m;
	size_t at = MAGIC, size;
	bool inside;

	*ar = (struct archive){0};
	if (!archive_magic(p, n))
		return err_set(e, "%s: not an archive", path);
	ar->thin = p[2] == 't';
	for (; at < n; at += HEADER + (inside ? size + (size & 1) : 0)) {
		if (n - at < HEADER || memcmp(p + at + HEADER - 2, "`\n", 2) ||
		    number(p + at + SIZE_AT, SIZE_DIGITS, &size) < 0)
			break;
		inside = !ar->thin || is_index(p + at) || !memcmp(p + at, "// ", 3);
		if (inside && size > n - at - HEADER)
			break;
		m = (struct archive_member){.at = at + HEADER, .size = size};
		if (!memcmp(p + at, "// ", 3)) {
			names = (struct names){p + m.at, m.size};
		} else if (!is_index(p + at)) {
			m.name = member_name(p + at, &names, &m, a);
			if (!m.name || !*m.name)
				break;
			vec_push(&ar->member, m);
		}
	}
	/* An odd last member may lack its byte of padding. */
	if (at == n || at == n + 1)
		return 0;
	archive_free(ar);
	return err_set(e, "%s: garbled archive at byte %zu", path, at);
}

void archive_free(struct archive *ar)
{
	vec_free(&ar->member);
}
