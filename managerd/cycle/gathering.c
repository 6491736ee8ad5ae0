#include "managerd/cycle/gathering.h"
#include "common/sort.h"
#include "common/wire/samples.h"

#include <stdlib.h>

static struct address_policy policy_of(const struct core *c)
{
	return (struct address_policy){c->conf->samples.days, c->conf->samples.disk};
}

static struct address_part of_module(const struct wire_module *m)
{
	return (struct address_part){.file = {.kind = ADDRESS_FILE,
					 .uid = m->uid,
					 .build = m->id,
					 .path = m->path,
					 .samples = wire_sum_samples(m->sample, m->nsample)},
	    .sample = m->sample,
	    .nsample = m->nsample};
}

static struct address_part of_elsewhere(const struct wire_elsewhere *w)
{
	static const enum address_kind kind[] = {[WIRE_KERNEL] = ADDRESS_KERNEL,
	    [WIRE_ANONYMOUS] = ADDRESS_ANONYMOUS,
	    [WIRE_FILE] = ADDRESS_FILE,
	    [WIRE_VDSO] = ADDRESS_VDSO,
	    [WIRE_FOREIGN] = ADDRESS_FOREIGN};

	return (struct address_part){.file = {.kind = kind[w->kind],
					 .uid = w->uid,
					 .pid = w->pid,
					 .build = w->id,
					 .path = w->name,
					 .samples = wire_sum_samples(w->sample, w->nsample)},
	    .sample = w->sample,
	    .nsample = w->nsample};
}

static struct address_part of_total(enum address_kind kind, const char *name, uint64_t samples)
{
	return (struct address_part){.file = {.kind = kind, .path = name, .samples = samples}};
}

static int by_callee(const void *pa, const void *pb)
{
	const struct address_call *a = pa, *b = pb;

	return ORDER(a->callee, b->callee) ?: ORDER(a->address, b->address)
	    ?: ORDER(a->waiting, b->waiting);
}

/* How many samples a part has at an address. The kernel's without one are at 0. */
static uint64_t samples_at(const struct address_part *p, uint64_t address)
{
	const struct wire_sample *s = p->sample;
	size_t i;

	if (!s)
		return address ? 0 : p->file.samples;
	i = partition_point(0, p->nsample, k, s[k].offset < address);
	return i < p->nsample && s[i].offset == address ? s[i].count : 0;
}

/* Extra samples have registers, but are no part of these counts. */
static void bound_calls(struct address_calls *calls, const struct address_part *part)
{
	struct address_call *c;
	uint64_t left = 0;
	size_t i, n = 0;

	vec_sort(&calls->v, by_callee);
	for (i = 0; i < calls->v.n; i++) {
		c = &calls->v.v[i];
		if (!i || by_callee(&c[-1], c))
			left = samples_at(&part[c->callee], c->address);
		if (c->waiting)
			continue;
		if (c->count > left)
			c->count = left;
		left -= c->count;
	}
	for (i = 0; i < calls->v.n; i++)
		if (calls->v.v[i].count)
			calls->v.v[n++] = calls->v.v[i];
	calls->v.n = n;
}

int gather_batch(struct core *c, const struct wire_hello *h, const struct wire_batch *b,
    struct address_calls *calls, int64_t now_ms, struct err *e)
{
	int64_t at_ms = h->source == WIRE_SRC_RECORDED ? now_ms : (int64_t)(b->end_ns / 1000000);
	uint64_t kernel = b->kernel, outside = b->outside;
	VEC(struct address_part) part = {0};
	struct address_part p;
	uint32_t i;
	int rc;

	if (!c->conf->samples.days)
		return 0;
	for (i = 0; i < b->nmodule; i++)
		vec_push(&part, of_module(&b->module[i]));
	for (i = 0; i < b->nelsewhere; i++) {
		p = of_elsewhere(&b->elsewhere[i]);
		*(p.file.kind == ADDRESS_KERNEL ? &kernel : &outside) -= p.file.samples;
		vec_push(&part, p);
	}
	vec_push(&part, of_total(ADDRESS_KERNEL, "[kernel]", kernel));
	vec_push(&part, of_total(ADDRESS_UNKNOWN, "[unknown]", outside));
	vec_push(&part, of_total(ADDRESS_DROPPED, "[dropped]", b->dropped));
	bound_calls(calls, part.v);
	rc = store_add_addresses(
	    c->store, at_ms < now_ms ? at_ms : now_ms, h->period_ns, part.v, part.n, calls, e);
	vec_free(&part);
	return rc;
}

void gathering_turn(struct core *c)
{
	struct address_policy p = policy_of(c);
	int64_t now = clock_now_ms();
	struct err e;
	int more;

	if (now < c->trouble_until_ms || !store_addresses_due(c->store, &p, now))
		return;
	more = core_begin(c, &e) ? -1 : store_addresses_turn(c->store, &p, now, &e);
	if (core_end(c, more < 0 ? -1 : 0, &e) == 0 && more)
		core_soon(c);
}
