/*
 * Functions of one executable, hottest first, a line each: as symbols (lld --symbol-ordering-file)
 * or as the sections that -ffunction-sections puts them in (gold --section-ordering-file, whose
 * lines are patterns). What GCC split off is in a section of its own, .text.unlikely.NAME.
 */
#include "common/sort.h"
#include "morphctl/report/out/formats.h"
#include "morphctl/report/out/executable.h"
#include "morphctl/report/out/text.h"

#include <string.h>

struct hot {
	const char *name;
	uint64_t n;
};

struct hots {
	VEC(struct hot) v;
	struct htab index; /* by name */
};

static void add(struct hots *h, const struct recording *r, uint32_t location, uint64_t n)
{
	const struct recording_location *l = &r->location.v[location];
	const struct recording_function *f;
	uint64_t *at;
	bool fresh;

	if (!l->nframe)
		return;
	f = &r->function.v[r->frame.v[l->frame + l->nframe - 1].function];
	if (!text_is_symbol(f->linkage))
		return;
	at = htab_put_str(&h->index, f->linkage, &fresh);
	if (fresh) {
		*at = h->v.n;
		vec_push(&h->v, (struct hot){f->linkage, 0});
	}
	h->v.v[*at].n += n;
}

/* By samples, or by what ran where there are none. */
static void count(struct hots *h, const struct recording *r, const struct executable *m)
{
	uint32_t at;
	size_t i;

	for (i = 0; i < r->sample.n; i++) {
		if (r->sample.v[i].stack == RECORDING_NONE)
			continue;
		at = r->stack.v[r->sample.v[i].stack].location;
		if (executable_has(m, r, at))
			add(h, r, at, r->sample.v[i].n);
	}
	for (i = 0; !r->sample.n && i < r->range.n; i++)
		if (executable_has(m, r, r->range.v[i].from))
			add(h, r, r->range.v[i].from, r->range.v[i].n);
	for (i = 0; !r->sample.n && i < r->branch.n; i++)
		if (executable_has(m, r, r->branch.v[i].to))
			add(h, r, r->branch.v[i].to, r->branch.v[i].n);
}

static int by_heat(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	return ORDER(y->n, x->n) ?: strcmp(x->name, y->name);
}

static int hottest(
    struct hots *h, const struct recording *r, const struct out_options *o, struct err *e)
{
	struct executable m;

	if (executable_find(&m, r, o, e))
		return -1;
	count(h, r, &m);
	executable_close(&m);
	vec_sort(&h->v, by_heat);
	return h->v.n ? 0 : err_set(e, "%s: no function of the profile has a name", m.path);
}

static void free_hots(struct hots *h)
{
	vec_free(&h->v);
	htab_free(&h->index);
}

int write_symbol_order(
    const struct recording *r, const struct out_options *o, struct buf *out, struct err *e)
{
	struct hots h = {0};
	int status = hottest(&h, r, o, e);
	size_t i;

	for (i = 0; !status && i < h.v.n; i++)
		buf_printf(out, "%s\n", h.v.v[i].name);
	free_hots(&h);
	return status;
}

static void put_section(struct buf *out, const char *name)
{
	static const char cold[] = ".cold";
	size_t n = strlen(name), split = sizeof cold - 1;

	if (n > split && strcmp(name + n - split, cold) == 0)
		buf_printf(out, ".text.unlikely.%.*s\n", (int)(n - split), name);
	else
		buf_printf(out, ".text.%s\n", name);
}

int write_section_order(
    const struct recording *r, const struct out_options *o, struct buf *out, struct err *e)
{
	struct hots h = {0};
	int status = hottest(&h, r, o, e);
	size_t i;

	for (i = 0; !status && i < h.v.n; i++)
		if (!strpbrk(h.v.v[i].name, "*?[\\"))
			put_section(out, h.v.v[i].name);
	free_hots(&h);
	return status;
}
