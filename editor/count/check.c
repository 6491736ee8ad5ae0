/*
 * The output check of a unit printed with counters. Strips from the text what print.c adds: counters
 * and what is before them, word by word in one of their forms; the sections at the end; the side
 * blocks after a fragment that count a taken jump, whose source is redirected to their target. The
 * rest is for unit_check.
 */
#include "editor/count/counters.h"

#include <stdlib.h>

struct stripper {
	const struct unit_impl *u;
	struct probes *const *probes; /* [function] */
	struct arena mem;
	struct buf *out;
	const char *p, *end; /* of the text, without the sections at its end */
	struct htab side;    /* label of a side block -> its target: index in lead */
	VEC(struct str) lead;
	uint8_t **seen;          /* [function][counter] */
	uint8_t *entry;          /* [function] */
	struct probe_text *text; /* [function]; .f is set when it was opened */
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

/* "\tincq\t.LMC" -> the function and the counter named after it. */
static bool counter_named(const struct stripper *s, struct str line, uint32_t *func, uint32_t *k)
{
	const char *at = memmem(line.p, line.n, ".LMC", 4);
	char text[64], *end;
	unsigned long v;

	if (!at || (size_t)(line.p + line.n - at) >= sizeof text)
		return false;
	memcpy(text, at + 4, (size_t)(line.p + line.n - at - 4));
	text[line.p + line.n - at - 4] = '\0';
	v = strtoul(text, &end, 10);
	if (*end != '+' || v >= s->u->func.n || !s->probes[v])
		return false;
	*func = (uint32_t)v;
	v = strtoul(end + 1, &end, 10);
	*k = (uint32_t)(v / 8);
	return v % 8 == 0 && *k < s->probes[*func]->n;
}

static int seen_once(struct stripper *s, uint32_t func, uint32_t k)
{
	if (s->seen[func][k]++)
		return err_set(s->e, "output check: counter %u of function %s is there twice", k,
		    s->u->func.v[func].pub->name);
	return 0;
}

static struct probe_text *text_of(struct stripper *s, uint32_t func)
{
	struct probe_text *t = &s->text[func];

	if (!t->f)
		probe_open(t, s->u, &s->u->func.v[func], s->probes[func], &s->mem);
	return t;
}

/* The forms in which a counter, or the entry (ENTRY), is printed. In a frame addressed by another
 * register than %rsp unwinding is unchanged. */
enum { ENTRY = UINT32_MAX };
enum { SHORT, SAFE, UNWOUND, FORMS };

/* Does the text at p begin with one of these? */
static const char *match(struct stripper *s, const char *p, uint32_t func, uint32_t k)
{
	struct func no_cfi = s->u->func.v[func];
	struct probe_text t = *text_of(s, func);
	struct buf want = {0};
	size_t n = 0;
	int i;

	no_cfi.has_cfi = false;
	for (i = SHORT; i < FORMS && !n; i++) {
		t.f = i == UNWOUND ? &s->u->func.v[func] : &no_cfi;
		want.n = 0;
		if (k == ENTRY)
			probe_enter(&t, i > SHORT, 0, &want);
		else
			probe_one(&t, k, i > SHORT, 0, &want);
		if ((size_t)(s->end - p) >= want.n && !memcmp(p, want.p, want.n))
			n = want.n;
	}
	buf_free(&want);
	return n ? p + n : NULL;
}

/* Skips one counter at *p; 0 when there is none, -1 with an error. */
static int counter(struct stripper *s, const char **p)
{
	struct str line = line_at(*p, s->end);
	const char *at = *p, *next;
	uint32_t func, k, i;

	/* The longest form names its counter in the seventh line. */
	for (i = 0; i < 7; i++, at = after(s, line)) {
		line = line_at(at, s->end);
		if (memmem(line.p, line.n, ".LMC", 4))
			break;
		if (!i && !str_is(line, "\tleaq\t-128(%rsp), %rsp"))
			return 0;
	}
	if (i == 7 || !counter_named(s, line, &func, &k))
		return 0;
	next = match(s, *p, func, k);
	if (!next)
		return 0;
	*p = next;
	return seen_once(s, func, k) ? -1 : 1;
}

/* ".LMT0.7:" and what follows: counters and a jump. */
static int side_block(struct stripper *s, const char **p)
{
	struct str label = line_at(*p, s->end), jump;
	bool fresh;
	int rc;

	label.n--;
	*p += label.n + 2;
	while ((rc = counter(s, p)) > 0)
		;
	if (rc)
		return -1;
	jump = line_at(*p, s->end);
	if (!str_starts(jump, "\tjmp\t.LMB"))
		return err_set(
		    s->e, "output check: %.*s does not just count", (int)label.n, label.p);
	*htab_put(&s->side, label.p, label.n, &fresh) = s->lead.n;
	if (!fresh)
		return err_set(s->e, "output check: %.*s is there twice", (int)label.n, label.p);
	vec_push(&s->lead, (struct str){jump.p + 5, jump.n - 5});
	*p = after(s, jump);
	return 0;
}

/* Skips the thread entry before a function's counters; as counter(). */
static int entry(struct stripper *s, const char **p)
{
	struct str line = line_at(*p, s->end);
	const char *at = NULL, *from = *p, *next;
	uint32_t i, func;

	/* The longest form names its function in the eighth line. */
	for (i = 0; i < 8 && !at; i++, from = after(s, line)) {
		line = line_at(from, s->end);
		at = memmem(line.p, line.n, "\t.LMS", 5);
	}
	if (!at)
		return 0;
	func = (uint32_t)strtoul(at + 5, NULL, 10);
	if (func >= s->u->func.n || !s->probes[func] ||
	    !s->probes[func]->entered)
		return 0;
	next = match(s, *p, func, ENTRY);
	if (!next)
		return 0;
	if (s->entry[func]++)
		return err_set(s->e, "output check: function %s is entered twice",
		    s->u->func.v[func].pub->name);
	*p = next;
	return 1;
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
	const char *at = memmem(line.p, line.n, "\t.LMT", 5);
	uint64_t *lead;

	if (!at) {
		buf_add(s->out, line.p, line.n);
	} else {
		at++;
		lead = htab_get(&s->side, at, (size_t)(line.p + line.n - at));
		if (!lead)
			return err_set(
			    s->e, "output check: %.*s leads nowhere", (int)line.n, line.p);
		buf_add(s->out, line.p, (size_t)(at - line.p));
		buf_add(s->out, s->lead.v[*lead].p, s->lead.v[*lead].n);
	}
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
		rc = counter(s, &p);
		if (!rc)
			rc = entry(s, &p);
		if (rc < 0)
			return -1;
		if (rc)
			continue;
		if (keep(s, line))
			return -1;
		p = after(s, line);
	}
	return 0;
}

static int all_seen(struct stripper *s)
{
	uint32_t i, k;

	for (i = 0; i < s->u->func.n; i++) {
		if (s->probes[i] && s->probes[i]->entered && !s->entry[i])
			return err_set(s->e, "output check: the entry of function %s is missing",
			    s->u->func.v[i].pub->name);
		for (k = 0; s->seen[i] && k < s->probes[i]->n; k++)
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
	struct stripper s = {.u = unit->impl,
	    .probes = probes,
	    .out = &out,
	    .p = text,
	    .end = text + n,
	    .e = e};
	uint32_t i;
	int rc;

	if (!any_probes(unit, probes))
		return unit_check(unit, text, n, e);
	s.seen = xcalloc(s.u->func.n, sizeof *s.seen);
	s.entry = arena_array(&s.mem, s.u->func.n, 1);
	s.text = arena_array(&s.mem, s.u->func.n, sizeof *s.text);
	for (i = 0; i < s.u->func.n; i++)
		if (probes[i])
			s.seen[i] = arena_array(&s.mem, probes[i]->n, 1);
	rc = cut_sections(&s, tu) || find_side_blocks(&s) || strip(&s) || all_seen(&s);
	if (!rc)
		rc = unit_check(unit, out.p, out.n, e);
	htab_free(&s.side);
	vec_free(&s.lead);
	arena_free(&s.mem);
	free(s.seen);
	buf_free(&out);
	return rc ? -1 : 0;
}
