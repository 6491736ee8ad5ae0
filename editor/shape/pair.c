/* Which functions of two builds correspond. */
#include "common/sort.h"
#include "editor/shape/shape.h"

#include <stdlib.h>
#include <string.h>

/* Functions by a property, those of one value beside each other, in the order of their file. */
struct listed {
	const char *name; /* with its first n bytes */
	size_t n;
	const char *tu; /* NULL: no matter which */
	struct hash128 content;
	uint32_t func;
};

struct pairing {
	const struct shapes *old, *now;
	struct shape_pair *pair;
	bool *taken; /* of the new build's */
};

static int by_property(const void *pa, const void *pb)
{
	const struct listed *a = pa, *b = pb;
	size_t n = a->n < b->n ? a->n : b->n;

	return memcmp(a->content.b, b->content.b, sizeof a->content.b)
		       ?: memcmp(a->name, b->name, n)
		       ?: ORDER(a->n, b->n)
		       ?: (a->tu && b->tu ? strcmp(a->tu, b->tu) : 0);
}

static int by_all(const void *a, const void *b)
{
	return by_property(a, b)
		   ?: ORDER(((const struct listed *)a)->func, ((const struct listed *)b)->func);
}

/* The same functions have the same key; several may have one. */
static void pair_keys(struct pairing *p)
{
	struct htab by_key = {0};
	const struct shape_func *f;
	uint64_t *at;
	uint32_t i;

	for (i = (uint32_t)p->now->func.n; i-- > 0;)
		*htab_put(&by_key, p->now->func.v[i].key.b, sizeof(struct hash128), NULL) = i + 1;
	for (i = 0; i < p->old->func.n; i++) {
		f = &p->old->func.v[i];
		at = htab_get(&by_key, f->key.b, sizeof f->key.b);
		if (at && p->now->func.v[*at - 1].nblock == f->nblock)
			p->pair[i] = (struct shape_pair){SHAPE_SAME, (uint32_t)*at - 1};
	}
	htab_free(&by_key);
	for (i = 0; i < p->old->func.n; i++)
		*htab_put(&by_key, p->old->func.v[i].key.b, sizeof(struct hash128), NULL) = 1;
	for (i = 0; i < p->now->func.n; i++)
		p->taken[i] =
		    htab_get(&by_key, p->now->func.v[i].key.b, sizeof(struct hash128)) != NULL;
	htab_free(&by_key);
}

/* Sets what functions are paired by. */
typedef void property_fn(const struct shape_func *f, struct listed *l);

static void name_and_unit(const struct shape_func *f, struct listed *l)
{
	l->name = f->name;
	l->n = strlen(f->name);
	l->tu = f->tu;
}

static void name_alone(const struct shape_func *f, struct listed *l)
{
	l->name = f->name;
	l->n = strlen(f->name);
}

/* Without .isra.0, .constprop.1 and the like. */
static void name_begin(const struct shape_func *f, struct listed *l)
{
	l->name = f->name;
	l->n = strcspn(f->name, ".");
}

static void content(const struct shape_func *f, struct listed *l)
{
	const struct shape_block *b;
	struct buf text = {0};

	for (b = f->block; b < f->block + f->nblock; b++) {
		buf_add(&text, &b->hash[SHAPE_TEXT], sizeof b->hash[SHAPE_TEXT]);
		buf_add(&text, b->succ, b->nsucc * sizeof *b->succ);
	}
	l->content = hash_bytes(text.p, text.n);
	buf_free(&text);
}

struct list {
	struct listed *v;
	uint32_t n;
};

/* An unpaired old function, or a new one that none has become. */
static struct list list_free(const struct pairing *p, bool old, property_fn *property)
{
	const struct shapes *s = old ? p->old : p->now;
	struct list l = {xcalloc(s->func.n, sizeof *l.v), 0};
	uint32_t i;

	for (i = 0; i < s->func.n; i++) {
		if (old ? p->pair[i].how != SHAPE_GONE : p->taken[i])
			continue;
		l.v[l.n] = (struct listed){.name = "", .func = i};
		property(&s->func.v[i], &l.v[l.n++]);
	}
	qsort(l.v, l.n, sizeof *l.v, by_all);
	return l;
}

static uint32_t alike(const struct list *l, uint32_t i)
{
	uint32_t end = i;

	while (end < l->n && !by_property(&l->v[i], &l->v[end]))
		end++;
	return end - i;
}

/* Those of equal property, in order; unique: only where neither side has another. */
static void pair_by(struct pairing *p, property_fn *property, enum shape_how how, bool unique)
{
	struct list o = list_free(p, true, property), w = list_free(p, false, property);
	uint32_t i = 0, k = 0, no, nn, j;
	int c;

	while (i < o.n && k < w.n) {
		c = by_property(&o.v[i], &w.v[k]);
		no = c <= 0 ? alike(&o, i) : 0;
		nn = c >= 0 ? alike(&w, k) : 0;
		for (j = 0; j < no && j < nn && (!unique || no + nn == 2); j++) {
			p->pair[o.v[i + j].func] = (struct shape_pair){how, w.v[k + j].func};
			p->taken[w.v[k + j].func] = true;
		}
		i += no;
		k += nn;
	}
	free(o.v);
	free(w.v);
}

struct shape_pair *shapes_pair(const struct shapes *old, const struct shapes *now, struct arena *a)
{
	struct pairing p = {.old = old,
	    .now = now,
	    .pair = arena_array(a, old->func.n, sizeof *p.pair),
	    .taken = arena_array(a, now->func.n, sizeof *p.taken)};

	pair_keys(&p);
	pair_by(&p, name_and_unit, SHAPE_CHANGED, false);
	pair_by(&p, name_alone, SHAPE_CHANGED, false);
	pair_by(&p, content, SHAPE_RENAMED, true);
	pair_by(&p, name_begin, SHAPE_CHANGED, true);
	return p.pair;
}
