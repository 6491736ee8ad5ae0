#include "managerd/samples/observe.h"
#include "common/sort.h"
#include "managerd/replay/forward.h"
#include "managerd/replay/backward.h"

#include <string.h>

uint32_t *observe_link(const struct map_table *t, const struct uops *u)
{
	uint32_t *link = xcalloc(t->func.n + u->func.n, sizeof *link);
	size_t i;

	memset(link + t->func.n, 0xff, u->func.n * sizeof *link);
	for (i = 0; i < t->func.n; i++) {
		link[i] = uops_find(u, &t->func.v[i].key);
		if (link[i] != UOPS_NONE && u->func.v[link[i]].nblock != t->func.v[i].nblock)
			link[i] = UOPS_NONE;
		if (link[i] != UOPS_NONE)
			link[t->func.n + link[i]] = (uint32_t)i;
	}
	return link;
}

uint32_t *observe_closed(
    const struct map_table *t, const struct uops *u, const uint32_t *link, size_t *n)
{
	VEC(uint32_t) closed = {0}, open = {0};
	const char *name;
	uint32_t hash;
	size_t i, k, to = 0;

	for (i = 0; i < t->func.n; i++) {
		name = t->func.v[i].name;
		hash = uops_callee(name, strlen(name));
		if (link[i] != UOPS_NONE && uops_returns(u, link[i]))
			vec_push(&closed, hash);
		else
			vec_push(&open, hash);
	}
	vec_sort(&closed, order_u32);
	vec_sort(&open, order_u32);
	for (i = 0, k = 0; i < closed.n; i++) {
		while (k < open.n && open.v[k] < closed.v[i])
			k++;
		if ((k == open.n || open.v[k] != closed.v[i]) &&
		    (!to || closed.v[to - 1] != closed.v[i]))
			closed.v[to++] = closed.v[i];
	}
	vec_free(&open);
	*n = to;
	return closed.v;
}

struct spot { /* where a file offset falls */
	const struct map_range *range;
	uint32_t func, block, at; /* index in the table; id; bytes into the block */
};

static bool find_spot(const struct observer *o, uint64_t offset, struct spot *s)
{
	const struct map_func *f;

	s->range = map_at(o->map, offset);
	if (!s->range)
		return false;
	f = map_slot(o->table, s->range->slot, &s->block);
	s->func = (uint32_t)(f - o->table->func.v);
	s->at = (uint32_t)(offset - s->range->start);
	return true;
}

struct following { /* an indirect jump, a return */
	const struct observer *o;
	uint64_t base;
};

static bool place_at(void *arg, uint64_t address, struct replay_place *at)
{
	const struct following *f = arg;
	struct spot s;

	if (!find_spot(f->o, address - f->base, &s))
		return false;
	*at = (struct replay_place){f->o->uops_func[s.func], s.block, s.at};
	return at->func != UOPS_NONE;
}

/* The slot of block 0 of a function of the replay table. */
static uint32_t slot_of(const struct observer *o, uint32_t func)
{
	return o->table->func.v[o->uops_func[o->table->func.n + func]].slot;
}

/* From where in its own block a sample resolves the branch. */
static enum weight_place place_of(const struct observer *o, const struct replay_sample *w)
{
	const struct uops_block *b = &o->uops->block.v[o->uops->func.v[w->func].block + w->block];

	return w->uop + 2 < b->uop + b->nuop ? WEIGHT_AHEAD : WEIGHT_LAST;
}

static void note_outcomes(struct observer *o, const struct replay_sample *w)
{
	const struct uops_func *f = o->uops->func.v;
	struct replay_outcome edge[REPLAY_OUTCOMES];
	uint32_t slot, i, n, one = WEIGHT_ONE, of = WEIGHT_ONE;
	bool own = false;

	n = replay_forward(o->uops, w, edge, &own);
	if (o->weights)
		of = weight_of_sample(o->weights, o->uops, f[w->func].block + w->block, w->uop);
	for (i = 0; i < n; i++) {
		slot = slot_of(o, edge[i].func);
		if (o->weights)
			one = weight_of_outcome(o->weights, f[edge[i].func].block + edge[i].from,
			    of, i || !own ? WEIGHT_FAR : place_of(o, w));
		pairs_add(&o->edge, slot + edge[i].from, slot + edge[i].to, one);
	}
	o->count.outcomes += n;
	o->count.own += own;
}

/* A block of whose entries less than PROFILE_RESOLVED are resolved is not used, so an
 * instruction that rarely resolves them is soon not tried any more. */
static enum replay_entry find_predecessor(
    struct observer *o, const struct replay_sample *w, uint32_t *from)
{
	enum replay_entry entry;

	if (o->weights && o->weights->blind[w->uop] == UINT8_MAX)
		return REPLAY_UNRESOLVED;
	entry = replay_backward(o->uops, w, from);
	if (o->weights && entry != REPLAY_NO_JOIN)
		weight_note_backward(o->weights, w->uop, entry == REPLAY_RESOLVED);
	return entry;
}

static void note_predecessor(struct observer *o, const struct replay_sample *w)
{
	uint32_t slot = slot_of(o, w->func), from;
	enum replay_entry entry = find_predecessor(o, w, &from);

	if (entry == REPLAY_NO_JOIN)
		return;
	pairs_add(&o->predecessors, slot + w->block,
	    entry == REPLAY_RESOLVED ? slot + from : UINT32_MAX, 1);
	o->count.joins++;
	o->count.predecessors += entry == REPLAY_RESOLVED;
}

/* How far above the stack pointer the frame's return address lies, in bytes; false: not known. */
static bool find_return(
    const struct observer *o, uint32_t uop, const struct wire_regs *r, uint64_t *above)
{
	const struct uops_frame *f = uops_frame(o->uops, uop);

	if (!f || f->reg >= WIRE_GPRS)
		return false;
	*above = r->gpr[f->reg] + (uint64_t)(int64_t)f->offset - 8 - r->gpr[WIRE_RSP];
	return true;
}

/* A call ends where its return address points to, perhaps in the block before. */
static const struct uop *find_call(const struct observer *o, uint64_t offset, struct spot *from)
{
	uint32_t func, after;

	if (!offset || !find_spot(o, offset - 1, from))
		return NULL;
	func = o->uops_func[from->func];
	if (func == UOPS_NONE)
		return NULL;
	after = uops_after_call(o->uops, func, from->block, from->at + 1);
	return after == UOPS_NONE ? NULL : &o->uops->uop.v[after - 1];
}

bool observe_is_return(const struct observer *o, uint64_t offset)
{
	struct spot from;

	return find_call(o, offset, &from) != NULL;
}

/* After it has returned the stack pointer is above that word. */
bool observe_next_word(const struct observer *o, uint64_t offset, uint32_t word, uint32_t *next)
{
	struct spot from;
	const struct uop *call = find_call(o, offset, &from);
	const struct uops_frame *f =
	    call ? uops_frame(o->uops, (uint32_t)(call + 1 - o->uops->uop.v)) : NULL;

	if (!f || f->reg != UR_SP || f->offset <= 0 || f->offset % 8 ||
	    f->offset / 8 > WIRE_SITE_WORDS)
		return false;
	*next = word + (uint32_t)f->offset / 8;
	return true;
}

/* A call by name of a function of the program that is left by returning alone? */
static bool is_closed(const struct observer *o, const struct uop *call)
{
	size_t i = partition_point(0, o->nclosed, k, o->closed[k] < (uint64_t)call->imm);

	return call->imm && i < o->nclosed && o->closed[i] == (uint64_t)call->imm;
}

bool observe_calls_out(const struct observer *o, uint64_t offset)
{
	struct spot from;
	const struct uop *call = find_call(o, offset, &from);

	return call && !is_closed(o, call);
}

/* Whether the replay table has the code before an offset. */
static bool knows(const struct observer *o, uint64_t offset)
{
	struct spot at;

	return o->uops && offset && find_spot(o, offset - 1, &at) &&
	       o->uops_func[at.func] != UOPS_NONE;
}

bool observe_may_call(
    const struct observer *o, uint64_t offset, const struct observer *of, uint64_t callee)
{
	const struct uop *call;
	struct spot at;
	const char *name;

	if (!knows(o, offset))
		return true;
	call = find_call(o, offset, &at);
	if (!call || !is_closed(o, call))
		return call;
	if (!find_spot(of, callee - 1, &at))
		return true;
	name = of->table->func.v[at.func].name;
	return (uint64_t)call->imm == uops_callee(name, strlen(name));
}

/* Who called the function that this return address leads to, and so on. */
static void note_chain(struct observer *o, const struct wire_code *c, const struct wire_code *end)
{
	const struct wire_code *next = c;
	uint32_t word;

	while (observe_next_word(o, c->offset, c->word, &word)) {
		while (next < end && next->word < word)
			next++;
		if (next == end || next->word != word || !observe_is_return(o, next->offset) ||
		    !observe_may_call(o, next->offset, o, c->offset))
			return;
		vec_push(&o->site, (struct observed_call){true, c->offset - 1, next->offset - 1});
		c = next;
	}
}

/* The frame's return address is known if it is one of the words that point into this program's
 * code; where it is none of them, other code has called, for a call of this program. */
static void note_caller(
    struct observer *o, uint32_t callee, uint32_t uop, const struct wire_regs *r)
{
	const struct wire_code *c = r->code, *end = r->code + r->ncode;
	struct spot from;
	uint64_t above;

	if (!find_return(o, uop, r, &above))
		return;
	while (c < end && 8 * (uint64_t)c->word < above)
		c++;
	if (c < end && 8 * (uint64_t)c->word == above) {
		if (!find_call(o, c->offset, &from))
			return;
		pairs_add(&o->call, from.range->slot, callee, 1);
		o->count.callers++;
	} else {
		while (c < end && !observe_calls_out(o, c->offset))
			c++;
	}
	if (c < end) {
		vec_push(&o->site, (struct observed_call){false, r->offset, c->offset - 1});
		note_chain(o, c, end);
	}
}

void observe(struct observer *o, const struct wire_regs *r)
{
	struct following f = {o, r->base};
	struct replay_sample w = {.flags = r->flags,
	    .stack = (const uint8_t *)r->stack,
	    .nstack = r->nstack * sizeof *r->stack,
	    .place_at = place_at,
	    .arg = &f};
	struct spot s;

	o->count.samples++;
	if (!find_spot(o, r->offset, &s) || o->uops_func[s.func] == UOPS_NONE)
		return;
	w.func = o->uops_func[s.func];
	w.block = s.block;
	w.uop = uops_at(o->uops, w.func, w.block, s.at);
	if (w.uop == UOPS_NONE)
		return;
	o->count.placed++;
	memcpy(w.gpr, r->gpr, sizeof w.gpr);
	note_outcomes(o, &w);
	note_predecessor(o, &w);
	note_caller(o, s.func, w.uop, r);
	explicit_bzero(w.gpr, sizeof w.gpr);
}
