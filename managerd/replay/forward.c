#include "managerd/replay/forward.h"
#include "managerd/replay/machine.h"

struct run {
	struct machine m;
	const struct uops *u;
	const struct replay_sample *s;
	const struct uops_block *all; /* of the function */
	const struct uop *next;       /* instruction */
	uint32_t func, block;
	uint32_t out; /* as in struct replay_outcome */
	int steps;    /* instructions so far */
	int last;     /* where it ends unless an outcome is resolved before */
	struct replay_outcome *edge;
	uint32_t n;
};

static void enter_func(struct run *r, uint32_t func)
{
	r->func = func;
	r->m.f = &r->u->func.v[func];
	r->all = r->u->block.v + r->m.f->block;
}

static void enter_block(struct run *r, uint32_t block)
{
	r->block = block;
	r->next = &r->u->uop.v[r->all[block].uop];
}

/* ---- where a block leads ---- */

/* The block of this function that begins at an address. */
static uint32_t block_at(const struct run *r, uint64_t address)
{
	const struct replay_sample *s = r->s;
	struct replay_place at;

	if (!s->place_at || !s->place_at(s->arg, address, &at) || at.func != r->func || at.offset)
		return UOPS_NONE;
	return at.block < r->m.f->nblock ? at.block : UOPS_NONE;
}

static uint32_t indirect(const struct run *r, const struct uops_block *b)
{
	struct tnum at = machine_reg(&r->m, b->reg);
	const struct uops_table *t;

	if (b->term == UT_REG && r->m.code_reg == b->reg)
		return r->m.code_block;
	if (at.m)
		return UOPS_NONE;
	if (b->term != UT_LOOKUP)
		return block_at(r, at.v);
	t = &r->u->table.v[r->m.f->table + b->to];
	return at.v < t->n ? r->u->target.v[t->first + at.v] : UOPS_NONE;
}

/* Where block b goes, or UOPS_NONE; *branch: it has others. */
static uint32_t successor(struct run *r, const struct uops_block *b, bool *branch)
{
	int c;

	*branch = false;
	switch (b->term) {
	case UT_GO:
		return b->to;
	case UT_COND:
		c = condition(b->cond, *machine_flags(&r->m));
		*branch = true;
		return c < 0 ? UOPS_NONE : c ? b->to : b->other;
	case UT_COND_OUT:
		c = condition(b->cond, *machine_flags(&r->m));
		return c ? UOPS_NONE : b->other;
	case UT_REG:
	case UT_LOOKUP:
		*branch = true;
		return indirect(r, b);
	}
	return UOPS_NONE;
}

/* ---- continuing ---- */

static void note_outcome(struct run *r, uint32_t to)
{
	uint32_t i = r->n;

	while (i--)
		if (r->edge[i].from == r->block && r->edge[i].func == r->func)
			return; /* resolved before */
	r->edge[r->n++] = (struct replay_outcome){r->func, r->block, to, r->out};
	r->last = r->steps + REPLAY_IDLE;
}

/* Continues where the successors of a block join, whichever is taken. */
static bool pass_branch(struct run *r, const struct uops_block *b)
{
	if (b->join == UOPS_NONE)
		return false;
	if (b->stores)
		memory_forget(&r->m.mem);
	machine_forget(&r->m, b->writes);
	r->last -= REPLAY_BLIND;
	enter_block(r, b->join);
	return true;
}

/* Continues after the call that the return address on the stack belongs to. */
static bool pass_return(struct run *r)
{
	struct tnum back = machine_pop(&r->m, 3);
	struct replay_place at;
	uint32_t uop;

	if (back.m || !r->s->place_at || !r->s->place_at(r->s->arg, back.v - 1, &at))
		return false;
	uop = uops_after_call(r->u, at.func, at.block, at.offset + 1);
	if (uop == UOPS_NONE)
		return false;
	enter_func(r, at.func);
	r->block = at.block;
	r->next = &r->u->uop.v[uop];
	r->m.code_reg = UR_N;
	r->out++;
	return true;
}

static bool pass_block(struct run *r)
{
	const struct uops_block *b = &r->all[r->block];
	uint32_t next;
	bool branch;

	if (b->term == UT_RET)
		return pass_return(r);
	next = successor(r, b, &branch);
	if (next == UOPS_NONE)
		return pass_branch(r, b);
	if (branch)
		note_outcome(r, next);
	enter_block(r, next);
	return true;
}

/* Continues after a call, with the state at its return. */
static bool pass_call(struct run *r)
{
	if (r->next->aux)
		return false;
	memory_forget(&r->m.mem);
	machine_forget(&r->m, UR_CALLER_SAVED);
	r->next++;
	return true;
}

/* Evaluates up to and including the next call or end of a block; false where what
 * follows is unknown, or a bound is reached. */
static bool pass(struct run *r)
{
	int left = (r->last < REPLAY_UOPS ? r->last : REPLAY_UOPS) - r->steps;
	uint32_t n;

	if (left <= 0 || r->n == REPLAY_OUTCOMES)
		return false;
	n = machine_run(&r->m, r->next, (uint32_t)left);
	r->next += n;
	r->steps += (int)n;
	if (n == (uint32_t)left)
		return false;
	switch (r->next->kind) {
	case UOP_END:
		if (!pass_block(r))
			return false;
		break;
	case UOP_CALL:
		if (!pass_call(r))
			return false;
		break;
	default:
		return false;
	}
	r->steps++;
	return true;
}

uint32_t replay_forward(const struct uops *u, const struct replay_sample *s,
    struct replay_outcome edge[REPLAY_OUTCOMES], bool *own)
{
	struct run r;

	r.u = u;
	r.s = s;
	r.edge = edge;
	r.n = r.out = 0;
	r.steps = 0;
	r.last = REPLAY_IDLE;
	machine_begin(&r.m, u, s->gpr, s->flags, s->stack, s->nstack);
	enter_func(&r, s->func);
	r.block = s->block;
	r.next = &u->uop.v[s->uop];
	while (pass(&r))
		;
	machine_wipe(&r.m);
	*own = r.n && !edge[0].out && edge[0].from == s->block;
	return r.n;
}
