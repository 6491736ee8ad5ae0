/*
 * The output check of a unit printed with counters. Strips from the text what print.c adds:
 * counters and what is before them, word by word in one of their forms; the sections at the end;
 * the side blocks after a fragment that count a taken jump, whose source is redirected to their
 * target. The rest is for unit_check.
 */
#include "editor/count/counters.h"

#include <ctype.h>
#include <stdlib.h>

enum { ENTRY = UINT32_MAX }; /* the number of the "counter" by which a thread enters */

struct stripper {
	const struct unit_impl *u;
	struct probes *const *probes; /* [function] */
	struct arena mem;
	struct buf *out;
	const char *p, *end; /* of the text, without the sections at its end */
	struct htab side;    /* label of a side block -> where its jump is in the text */
	uint8_t **seen;      /* [function][counter], after these its entry */
	struct err *e;
};

static struct str line_at(const char *p, const char *end)
{
	const char *nl = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;

	return (struct str){p, (uint32_t)((nl ? nl : end) - p)};
}

static const char *after(const struct stripper *s, struct str line)
{
	return line.p + line.n + (line.p + line.n < s->end);
}

static const char *find(struct str line, const char *what)
{
	return memmem(line.p, line.n, what, strlen(what));
}

static uint32_t number(const char **p, const char *end)
{
	uint32_t v = 0;

	for (; *p < end && isdigit((unsigned char)**p); ++*p)
		v = 10 * v + (uint32_t)(**p - '0');
	return v;
}

/* Is it in a line of print.c's? Then of which function, and which counter or ENTRY. */
static bool names(const struct stripper *s, struct str line, uint32_t *func, uint32_t *k)
{
	const char *end = line.p + line.n, *counter = find(line, ".LMC");
	const char *at = counter ? counter : find(line, "\tjne\t.LMS");

	if (!at)
		return false;
	at += strlen(counter ? ".LMC" : "\tjne\t.LMS");
	*func = number(&at, end);
	if (*func >= s->u->func.n || !s->probes[*func])
		return false;
	*k = ENTRY;
	if (counter)
		*k = at < end && *at++ == '+' ? number(&at, end) / COUNTER_BYTES : NONE;
	return counter ? *k < s->probes[*func]->n : s->probes[*func]->entered;
}

/* The end of a counter, or entry, that begins at p in one of the forms in which they are printed;
 * NULL. In a frame addressed by another register than %rsp unwinding is unchanged. */
static const char *match(const struct stripper *s, const char *p, uint32_t func, uint32_t k)
{
	enum { SHORT, SAFE, UNWOUND, FORMS };
	const struct func *f = &s->u->func.v[func];
	struct func no_cfi = *f;
	struct probe_text t = {.u = s->u, .p = s->probes[func]};
	struct buf want = {0};
	size_t n = 0;
	int form;

	no_cfi.has_cfi = false;
	for (form = SHORT; form < FORMS && !n; form++) {
		t.f = form == UNWOUND ? f : &no_cfi;
		want.n = 0;
		if (k == ENTRY)
			probe_enter(&t, form > SHORT, 0, &want);
		else
			probe_one(&t, k, form > SHORT, 0, &want);
		if ((size_t)(s->end - p) >= want.n && !memcmp(p, want.p, want.n))
			n = want.n;
	}
	buf_free(&want);
	return n ? p + n : NULL;
}

/* Skips what print.c added at *p; 0 when there is nothing, -1 with an error. */
static int added(struct stripper *s, const char **p)
{
	enum { LINES = 8 }; /* of the longest form, until the one that names it */
	const char *at = *p, *next;
	uint32_t func, k, i;
	struct str line;
	uint8_t *seen;

	for (i = 0; i < LINES; i++, at = after(s, line)) {
		line = line_at(at, s->end);
		if (names(s, line, &func, &k))
			break;
		if (!i && !str_starts(line, "\tleaq\t-128(") && !str_starts(line, "\tcmpb\t"))
			return 0;
	}
	next = i < LINES ? match(s, *p, func, k) : NULL;
	if (!next)
		return 0;
	*p = next;
	seen = &s->seen[func][k == ENTRY ? s->probes[func]->n : k];
	if ((*seen)++)
		return err_set(s->e, "output check: counter %u of function %s is there twice", k,
		    s->u->func.v[func].pub->name);
	return 1;
}

/* ".LMT0.7:" and what follows: counters and a jump. */
static int side_block(struct stripper *s, const char **p)
{
	struct str label = line_at(*p, s->end), jump;
	bool fresh;
	int rc;

	label.n--;
	*p += label.n + 2;
	while ((rc = added(s, p)) > 0)
		;
	if (rc)
		return -1;
	jump = line_at(*p, s->end);
	if (!str_starts(jump, "\tjmp\t.LMB"))
		return err_set(
		    s->e, "output check: %.*s does not just count", (int)label.n, label.p);
	*htab_put(&s->side, label.p, label.n, &fresh) = (uint64_t)(jump.p - s->p);
	if (!fresh)
		return err_set(s->e, "output check: %.*s is there twice", (int)label.n, label.p);
	*p = after(s, jump);
	return 0;
}

static int find_side_blocks(struct stripper *s)
{
	const char *p = s->p;
	struct str line;

	while (p < s->end) {
		line = line_at(p, s->end);
		if (!str_starts(line, ".LMT"))
			p = after(s, line);
		else if (side_block(s, &p))
			return -1;
	}
	return 0;
}

/* A line that is kept; a jump to a side block is redirected to its target. */
static int keep(struct stripper *s, struct str line)
{
	const char *at = find(line, "\t.LMT");
	const uint64_t *jump;
	struct str to;

	if (at) {
		at++;
		jump = htab_get(&s->side, at, (size_t)(line.p + line.n - at));
		if (!jump)
			return err_set(
			    s->e, "output check: %.*s leads nowhere", (int)line.n, line.p);
		to = line_at(s->p + *jump, s->end);
		buf_add(s->out, line.p, (size_t)(at - line.p));
		line = (struct str){to.p + strlen("\tjmp\t"), to.n - 5};
	}
	buf_add(s->out, line.p, line.n);
	buf_char(s->out, '\n');
	return 0;
}

static int strip(struct stripper *s)
{
	const char *p = s->p;
	struct str line;
	int rc;

	while (p < s->end) {
		line = line_at(p, s->end);
		if (str_starts(line, ".LMT")) {
			while (!str_starts(line, "\tjmp\t.LMB"))
				line = line_at(after(s, line), s->end);
			p = after(s, line);
			continue;
		}
		rc = added(s, &p);
		if (rc < 0 || (!rc && keep(s, line)))
			return -1;
		if (!rc)
			p = after(s, line);
	}
	return 0;
}

static int all_seen(struct stripper *s)
{
	const struct probes *p;
	uint32_t i, k;

	for (i = 0; i < s->u->func.n; i++) {
		p = s->probes[i];
		for (k = 0; p && k < p->n + p->entered; k++)
			if (!s->seen[i][k])
				return err_set(s->e,
				    "output check: counter %u of function %s is missing", k,
				    s->u->func.v[i].pub->name);
	}
	return 0;
}

/* The sections must be at the end, as they are printed. */
static int cut_sections(struct stripper *s, uint64_t tu)
{
	struct buf want = {0};
	int rc = 0;

	probe_sections(s->u, s->probes, tu, &want);
	if (!want.n)
		return 0;
	if ((size_t)(s->end - s->p) < want.n || memcmp(s->end - want.n, want.p, want.n))
		rc = err_set(s->e, "output check: the counters' sections are not at its end");
	else
		s->end -= want.n;
	buf_free(&want);
	return rc;
}

int unit_check_counting(const struct unit *unit, struct probes *const *probes, uint64_t tu,
    const char *text, size_t n, struct err *e)
{
	struct buf out = {0};
	struct stripper s = {
	    .u = unit->impl, .probes = probes, .out = &out, .p = text, .end = text + n, .e = e};
	uint32_t i;
	int rc;

	if (!any_probes(unit, probes))
		return unit_check(unit, text, n, e);
	s.seen = arena_array(&s.mem, unit->nfunc, sizeof *s.seen);
	for (i = 0; i < unit->nfunc; i++)
		if (probes[i])
			s.seen[i] = arena_array(&s.mem, probes[i]->n + 1, 1);
	rc = cut_sections(&s, tu) || find_side_blocks(&s) || strip(&s) || all_seen(&s) ||
	     unit_check(unit, out.p, out.n, e);
	htab_free(&s.side);
	arena_free(&s.mem);
	buf_free(&out);
	return rc ? -1 : 0;
}
