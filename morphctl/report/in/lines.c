#include "morphctl/report/in/lines.h"

#include <string.h>

bool lines_next(struct lines *l)
{
	const char *s = (const char *)l->f->p + l->next, *end;
	size_t n = l->f->n - l->next;

	if (!n)
		return false;
	end = memchr(s, '\n', n);
	l->rest = (struct word){s, end ? (size_t)(end - s) : n};
	l->next += l->rest.n + (end != NULL);
	if (l->rest.n && s[l->rest.n - 1] == '\r')
		l->rest.n--;
	l->line++;
	return true;
}

bool lines_next_full(struct lines *l)
{
	while (lines_next(l))
		if (!lines_end(l))
			return true;
	return false;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

bool lines_end(struct lines *l)
{
	while (l->rest.n && blank(*l->rest.s))
		l->rest.s++, l->rest.n--;
	return !l->rest.n;
}

bool lines_word(struct lines *l, struct word *w)
{
	if (lines_end(l))
		return false;
	for (*w = (struct word){l->rest.s, 0}; w->n < l->rest.n && !blank(w->s[w->n]); w->n++)
		;
	l->rest.s += w->n;
	l->rest.n -= w->n;
	return true;
}

int lines_bad(const struct lines *l, struct err *e, const char *what)
{
	return err_set(e, "%s: line %lu: %s", l->f->name, l->line, what);
}

static bool number(struct word w, unsigned base, uint64_t *v)
{
	static const char digits[] = "0123456789abcdef";
	const char *d;
	size_t i;

	*v = 0;
	for (i = 0; i < w.n; i++) {
		d = memchr(digits, w.s[i] >= 'A' && w.s[i] <= 'F' ? w.s[i] | 0x20 : w.s[i], base);
		if (!d || __builtin_mul_overflow(*v, base, v) ||
		    __builtin_add_overflow(*v, (uint64_t)(d - digits), v))
			return false;
	}
	return w.n != 0;
}

bool word_decimal(struct word w, uint64_t *v)
{
	return number(w, 10, v);
}

bool word_hex(struct word w, uint64_t *v)
{
	if (w.n > 2 && w.s[0] == '0' && (w.s[1] == 'x' || w.s[1] == 'X'))
		w.s += 2, w.n -= 2;
	return number(w, 16, v);
}

bool word_is(struct word w, const char *s)
{
	return w.n == strlen(s) && !memcmp(w.s, s, w.n);
}

bool word_split(struct word *w, const char *at, struct word *head)
{
	const char *found = w->n ? memmem(w->s, w->n, at, strlen(at)) : NULL;

	if (!found)
		return false;
	*head = (struct word){w->s, (size_t)(found - w->s)};
	w->n -= head->n + strlen(at);
	w->s = found + strlen(at);
	return true;
}
