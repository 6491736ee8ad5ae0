#include "morphctl/report/out/addresses.h"
#include "common/sort.h"

static int by_pair(const void *a, const void *b)
{
	const struct address_pair *x = a, *y = b;

	return ORDER(x->from, y->from) ?: ORDER(x->to, y->to);
}

static int by_address(const void *a, const void *b)
{
	const struct address_count *x = a, *y = b;

	return ORDER(x->address, y->address);
}

/* Where a location is in the module. */
static bool find(
    const struct addresses *a, const struct recording *r, uint32_t location, uint64_t *at)
{
	if (a->addressed)
		return executable_address(&a->module, r, location, at);
	if (!executable_has(&a->module, r, location))
		return false;
	*at = r->location.v[location].offset;
	return true;
}

static void read_branches(struct addresses *a, const struct recording *r)
{
	const struct recording_branch *b;
	struct address_pair p;
	bool from, to;

	for (b = r->branch.v; b < r->branch.v + r->branch.n; b++) {
		p = (struct address_pair){ADDRESS_OUTSIDE, ADDRESS_OUTSIDE, b->n, b->mispredicted};
		from = find(a, r, b->from, &p.from);
		to = find(a, r, b->to, &p.to);
		if (from || to)
			vec_push(&a->branch, p);
	}
	vec_sort(&a->branch, by_pair);
}

static void read_ranges(struct addresses *a, const struct recording *r)
{
	const struct recording_range *s;
	struct address_pair p;

	for (s = r->range.v; s < r->range.v + r->range.n; s++) {
		p.n = s->n;
		p.mispredicted = 0;
		if (find(a, r, s->from, &p.from) && find(a, r, s->to, &p.to) && p.from <= p.to)
			vec_push(&a->range, p);
	}
	vec_sort(&a->range, by_pair);
}

static void read_samples(struct addresses *a, const struct recording *r)
{
	struct address_count *v, c;
	const struct recording_sample *s;
	size_t i, n = 0;

	for (s = r->sample.v; s < r->sample.v + r->sample.n; s++) {
		c.n = s->n;
		if (s->stack != RECORDING_NONE &&
		    find(a, r, r->stack.v[s->stack].location, &c.address))
			vec_push(&a->sample, c);
	}
	vec_sort(&a->sample, by_address);
	v = a->sample.v;
	for (i = 0; i < a->sample.n; i++) {
		if (n && v[n - 1].address == v[i].address)
			v[n - 1].n += v[i].n;
		else
			v[n++] = v[i];
	}
	a->sample.n = n;
}

/* Branches to and from outside are added up, since all that is outside is one. */
static void join_branches(struct addresses *a)
{
	struct address_pair *v = a->branch.v;
	size_t i, n = 0;

	for (i = 0; i < a->branch.n; i++) {
		if (n && by_pair(&v[n - 1], &v[i]) == 0) {
			v[n - 1].n += v[i].n;
			v[n - 1].mispredicted += v[i].mispredicted;
		} else {
			v[n++] = v[i];
		}
	}
	a->branch.n = n;
}

static int read_all(struct addresses *a, const struct recording *r, struct err *e)
{
	if (r->file.v[a->module.file].kind == RECORDING_NAMED)
		return err_set(e, "%s: the profile names code, not where it lies", a->module.path);
	read_branches(a, r);
	join_branches(a);
	read_ranges(a, r);
	read_samples(a, r);
	if (!a->branch.n && !a->range.n && !a->sample.n)
		return err_set(e, "%s: nothing of the profile is in its code", a->module.path);
	return 0;
}

int offsets_read(
    struct addresses *a, const struct recording *r, const struct out_options *o, struct err *e)
{
	*a = (struct addresses){0};
	return executable_find(&a->module, r, o, e) ? -1 : read_all(a, r, e);
}

int addresses_read(
    struct addresses *a, const struct recording *r, const struct out_options *o, struct err *e)
{
	*a = (struct addresses){.addressed = true};
	return executable_open(&a->module, r, o, e) ? -1 : read_all(a, r, e);
}

void addresses_free(struct addresses *a)
{
	executable_close(&a->module);
	vec_free(&a->branch);
	vec_free(&a->range);
	vec_free(&a->sample);
}
