#include "monitor-client/kernel/order.h"
#include "common/sort.h"

#include <stdlib.h>
#include <string.h>

void order_add(struct order *o, const struct event *ev)
{
	struct order_slot s = {.ev = *ev, .n = o->arrived++};

	if (ev->kind == EV_MAP)
		s.ev.map.path = xstrdup(ev->map.path);
	if (ev->kind == EV_SAMPLE && ev->sample.regs) {
		s.ev.sample.regs = xmalloc(event_regs_size(ev->sample.regs));
		memcpy(s.ev.sample.regs, ev->sample.regs, event_regs_size(ev->sample.regs));
	}
	if (ev->time > o->latest)
		o->latest = ev->time;
	vec_push(&o->slot, s);
}

static int slot_compare(const void *pa, const void *pb)
{
	const struct order_slot *a = pa, *b = pb;

	return ORDER(a->ev.time, b->ev.time) ?: ORDER(a->n, b->n);
}

static void slot_free(struct order_slot *s)
{
	if (s->ev.kind == EV_MAP)
		free(s->ev.map.path);
	if (s->ev.kind == EV_SAMPLE && s->ev.sample.regs) {
		explicit_bzero(s->ev.sample.regs, event_regs_size(s->ev.sample.regs));
		free(s->ev.sample.regs);
	}
}

void order_round(struct order *o, bool all, event_fn *fn, void *arg)
{
	size_t i;

	vec_sort(&o->slot, slot_compare);
	for (i = 0; i < o->slot.n && (all || o->slot.v[i].ev.time <= o->before); i++) {
		fn(&o->slot.v[i].ev, arg);
		slot_free(&o->slot.v[i]);
	}
	if (i) {
		memmove(o->slot.v, o->slot.v + i, (o->slot.n - i) * sizeof *o->slot.v);
		o->slot.n -= i;
	}
	o->before = o->latest;
}

void order_free(struct order *o)
{
	size_t i;

	for (i = 0; i < o->slot.n; i++)
		slot_free(&o->slot.v[i]);
	vec_free(&o->slot);
}
