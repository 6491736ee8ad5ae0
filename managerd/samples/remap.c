#include "managerd/samples/remap.h"

#include "common/profiletext/profiletext.h"

#include <ctype.h>
#include <string.h>

struct remap_result remap_profile(struct profile *p, const struct map_table *t, struct decay at)
{
	struct remap_result r = {0};
	struct profile old = *p;
	struct profile_func *f, *g;
	const struct map_func *m;
	size_t i, before;

	*p = (struct profile){0};
	for (i = 0; i < t->func.n; i++) {
		m = &t->func.v[i];
		before = p->func.n;
		f = profile_put(p, &m->key, m->name, m->tu_name, m->opaque, m->nblock);
		if (!f || p->func.n == before)
			continue;
		g = profile_get(&old, &m->key);
		if (!g || g->nblock != m->nblock) {
			r.fresh++;
			continue;
		}
		profile_move(f, g);
		r.kept++;
	}
	if (p->func.n) {
		p->func.v = xrealloc(p->func.v, p->func.n, sizeof *p->func.v);
		p->func.cap = p->func.n;
	}
	r.discarded = old.func.n - r.kept;
	r.samples_kept = profile_total(p, at).samples;
	r.samples_discarded = profile_total(&old, at).samples;
	profile_free(&old);
	return r;
}

/* ---- what was changed ---- */

double remap_skew(const struct profile *before, const struct profile *p, struct decay at)
{
	struct profile changed = {0};
	struct htab names = {0};
	const struct profile_func *f;
	double all = profile_total(before, at).samples, lost;
	size_t i;

	for (i = 0; i < p->func.n; i++)
		htab_put_str(&names, p->func.v[i].name, NULL);
	for (i = 0; i < before->func.n; i++) {
		f = &before->func.v[i];
		if (!profile_get(p, &f->key) && htab_get_str(&names, f->name))
			vec_push(&changed.func, *f);
	}
	lost = profile_total(&changed, at).samples;
	vec_free(&changed.func);
	htab_free(&names);
	return all > 0 ? lost / all : 0;
}

/* ---- what a job has matched ---- */

struct carrying {
	struct profile *p;
	const struct profile *before;
	struct decay at;
	struct htab names, carried; /* of before; keys that got samples */
	struct remap_carried *r;
};

static unsigned nibble(char c)
{
	return (unsigned)(isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10);
}

/* The function of p that a line names, by its whole key; or NULL. */
static struct profile_func *named(const struct profile *p, const struct profiletext_name *name)
{
	struct hash128 key;
	size_t i;

	if (name->nkey != 2 * sizeof key.b)
		return NULL;
	for (i = 0; i < sizeof key.b; i++)
		key.b[i] = (uint8_t)(nibble(name->key[2 * i]) << 4 | nibble(name->key[2 * i + 1]));
	return profile_get(p, &key);
}

static void count(struct carrying *c, const struct profile_func *f, double samples)
{
	bool fresh;

	htab_put(&c->carried, f->key.b, sizeof f->key.b, &fresh);
	if (fresh)
		*(htab_get_str(&c->names, f->name) ? &c->r->changed : &c->r->renamed) += 1;
	c->r->samples += samples;
}

/* add: it was read before, and is right. */
static int carry_line(struct carrying *c, const struct profiletext_line *l, bool add, struct err *e)
{
	struct profile_func *f = named(c->p, &l->func), *callee = NULL;
	double n = (double)l->value / 1000;
	bool edge = l->kind == PROFILETEXT_EDGE || l->kind == PROFILETEXT_PREDECESSOR;

	if (l->kind == PROFILETEXT_CALL)
		callee = named(c->p, &l->callee);
	if (!f || (l->kind == PROFILETEXT_CALL && !callee))
		return err_set(e, "names a function that the program does not have");
	if (l->block >= f->nblock || (edge && l->block2 >= f->nblock))
		return err_set(e, "names a block that %s does not have", f->name);
	/* It kept what it had, but for calls of what was another function. */
	if (profile_get(c->before, &f->key) && !(callee && !profile_get(c->before, &callee->key)))
		return 0;
	if (!add) {
		if (l->kind == PROFILETEXT_BLOCK)
			count(c, f, n);
		return 0;
	}
	switch (l->kind) {
	case PROFILETEXT_BLOCK:
		profile_add(f, l->block, n, c->at);
		break;
	case PROFILETEXT_EDGE:
		profile_add_edge(f, l->block, l->block2, n, c->at);
		break;
	case PROFILETEXT_PREDECESSOR:
		profile_add_predecessor(f, l->block, l->block2, n, c->at);
		break;
	case PROFILETEXT_CALL:
		profile_add_call(f, l->block, &callee->key, n, c->at);
	}
	return 0;
}

static int carry_lines(struct carrying *c, const char *text, size_t n, bool add, struct err *e)
{
	struct profiletext_reader r = {COUNTS_SAMPLES, text, text + n, 0};
	struct profiletext_line l;
	int rc;

	while ((rc = profiletext_read(&r, &l, e)) > 0)
		if (carry_line(c, &l, add, e)) {
			rc = -1;
			break;
		}
	return rc ? err_wrap(e, "the carried profile, line %zu", r.line) : 0;
}

int remap_carry(struct profile *p, const struct profile *before, const void *text, size_t n,
    struct decay at, struct remap_carried *r, struct err *e)
{
	/* Values are rounded, a thousandth a line. */
	const double most = profile_total(before, at).samples * 1.01 + 1;
	struct profile gone = {0};
	struct carrying c = {.p = p, .before = before, .at = at, .r = r};
	size_t i;
	int rc;

	*r = (struct remap_carried){0};
	for (i = 0; i < before->func.n; i++) {
		htab_put_str(&c.names, before->func.v[i].name, NULL);
		if (!profile_get(p, &before->func.v[i].key))
			vec_push(&gone.func, before->func.v[i]);
	}
	rc = carry_lines(&c, text, n, false, e);
	if (!rc && r->samples > most)
		rc = err_set(e, "the carried profile has more samples than there were");
	if (!rc)
		rc = carry_lines(&c, text, n, true, e);
	r->lost = profile_total(&gone, at).samples - r->samples;
	vec_free(&gone.func);
	htab_free(&c.names);
	htab_free(&c.carried);
	return rc;
}
