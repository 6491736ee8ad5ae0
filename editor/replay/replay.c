#include "editor/replay/replay.h"

#include "editor/asm/insn.h"
#include "editor/replay/measure.h"
#include "editor/replay/uops.h"

#include <stdlib.h>

/* ---- compiling ---- */

struct compiler {
	const struct unit_impl *u;
	const struct func *f;
	struct uops *out;
	struct uop_tables tables;
	struct uop_consts consts;
	const uint8_t *p, *end; /* what was measured */
	const uint32_t *size;   /* of blocks in the original, NULL = only read over */
	bool differs;
	uint32_t at, frame; /* in the block; unwind state that was put last */
};

static const uint8_t dwarf_reg[CFI_REGS] = {UR_AX, UR_DX, UR_CX, UR_BX, UR_SI, UR_DI, UR_BP, UR_SP,
    UR_R8, UR_R9, UR_R10, UR_R11, UR_R12, UR_R13, UR_R14, UR_R15, [16 ... CFI_REGS - 1] = UA_NONE};

static void put_frame(struct compiler *c, uint32_t state)
{
	const struct cfi_state *s = &c->u->cfi.v[state], *old;
	struct uops_frame f = {(uint32_t)c->out->uop.n, UA_NONE, 0};

	old = c->frame == NONE ? NULL : &c->u->cfi.v[c->frame];
	c->frame = state;
	if (old && s->cfa_reg == old->cfa_reg && s->cfa_off == old->cfa_off)
		return;
	if (c->f->has_cfi && s->cfa_reg >= 0 && s->cfa_reg < CFI_REGS) {
		f.reg = dwarf_reg[s->cfa_reg];
		f.offset = s->cfa_off;
	}
	vec_push(&c->out->frame, f);
}

static void put_uop(struct compiler *c, struct uop o, uint32_t cfi, uint32_t at)
{
	if (cfi != c->frame)
		put_frame(c, cfi);
	o.at = at;
	vec_push(&c->out->uop, o);
}

static bool never_returns(const struct stmt *call)
{
	struct str callee;

	insn_classify(call, &callee);
	return insn_noreturn(callee);
}

/* Calls by way of the symbol's entry in the GOT are by name, too. */
static int64_t callee_of(const struct stmt *call)
{
	struct str callee, name;

	insn_classify(call, &callee);
	name = symbol_of(callee);
	if (name.n && *name.p == '*' && name.n < callee.n)
		name = (struct str){name.p + 1, name.n - 1};
	return name.n && *name.p != '*' ? uops_callee(name.p, name.n) : 0;
}

static void put_item(struct compiler *c, const struct item *it, uint32_t reg[UR_N], uint32_t cfi)
{
	const struct stmt *st = &c->u->stmt.v[c->f->code.v[it->from]];
	struct uop o = {.kind = UOP_STOP};

	if (st->kind == ST_INSN) {
		o = uop_of_insn(st);
		if (o.kind == UOP_CALL) {
			o.aux = never_returns(st);
			o.imm = callee_of(st);
		}
		uop_use_tables(&c->tables, st, reg, &o);
		uop_consts_step(reg, &c->tables, st);
	} else {
		memset(reg, 0xff, UR_N * sizeof *reg);
	}
	put_uop(c, o, cfi, c->at);
}

static void indirect_end(
    struct compiler *c, const struct item *it, const uint32_t reg[UR_N], struct uops_block *b)
{
	struct operand op[OPERANDS];
	struct str arg;
	uint32_t t;

	insn_classify(&c->u->stmt.v[c->f->code.v[it->from]], &arg);
	if (operands_read(arg, op) != 1)
		return;
	if (op[0].class == OP_REG && op[0].uo < UR_N && op[0].size == 3) {
		b->term = UT_REG;
		b->reg = op[0].uo;
		return;
	}
	t = uop_table_entry(&c->tables, &op[0], reg, false);
	if (t == NONE)
		return;
	b->term = UT_LOOKUP;
	b->reg = op[0].index;
	b->to = t;
}

/* One that takes nothing else off the stack. */
static bool plain_return(const struct stmt *st)
{
	static const char *const prefix[] = {"rep", "repz", "bnd"};
	size_t i;

	if (str_is(st->op, "ret") || str_is(st->op, "retq"))
		return !st->arg.n;
	for (i = 0; i < sizeof prefix / sizeof *prefix; i++)
		if (str_is(st->op, prefix[i]))
			return str_is(st->arg, "ret") || str_is(st->arg, "retq");
	return false;
}

static void put_end(struct compiler *c, const struct blk *k, const struct item *it,
    const uint32_t reg[UR_N], struct uops_block *b)
{
	struct str name = c->u->stmt.v[c->f->code.v[it->from]].op;
	int cond = it->jump && name.n ? uop_condition((struct str){name.p + 1, name.n - 1}) : -1;

	switch (k->term) {
	case TERM_FALL:
		b->other = k->fall;
		if (!k->tail_call) {
			b->term = UT_GO;
			b->to = k->fall;
		} else if (cond >= 0) {
			b->term = UT_COND_OUT;
			b->cond = (uint8_t)cond;
		}
		break;
	case TERM_JUMP:
		b->term = UT_GO;
		b->to = k->target;
		break;
	case TERM_COND:
		if (cond < 0)
			break;
		b->term = UT_COND;
		b->cond = (uint8_t)cond;
		b->to = k->target;
		b->other = k->fall;
		break;
	case TERM_INDIRECT:
		if (it->jump)
			indirect_end(c, it, reg, b);
		break;
	case TERM_END:
		if (it->jump && plain_return(&c->u->stmt.v[c->f->code.v[it->from]]))
			b->term = UT_RET;
		break;
	}
}

/* The unwind state after the statements code[from…to). */
static uint32_t follow_cfi(struct compiler *c, uint32_t from, uint32_t to, uint32_t cfi)
{
	const struct stmt *st;

	for (; from < to; from++) {
		st = &c->u->stmt.v[c->f->code.v[from]];
		if (st->kind == ST_DIR && st->dir == DIR_CFI && st->aux != NONE)
			cfi = st->aux;
	}
	return cfi;
}

/* Reads what was measured of one block, and puts it out where it is wanted. */
static int compile_block(struct compiler *c, uint32_t id)
{
	const struct blk *k = &c->f->blk[id];
	struct uops_block b = {.uop = (uint32_t)c->out->uop.n, .join = UOPS_NONE, .term = UT_STOP};
	uint32_t length, cfi = k->cfi_in, total = 0, seen = k->first, reg[UR_N];
	struct item it = {.to = k->first}, last = {.from = k->first};
	bool placed = true;

	if (c->size)
		memcpy(reg, c->consts.in[id], sizeof reg);
	for (c->at = 0; item_next(c->u, c->f, k, &it); last = it) {
		if (item_length(&c->p, c->end, &length))
			return -1;
		total += length;
		if (!c->size)
			continue;
		cfi = follow_cfi(c, seen, it.from, cfi);
		seen = it.from;
		if (placed && it.shifts) {
			/* The location of the rest is not known. */
			put_uop(c, (struct uop){.kind = UOP_STOP}, cfi, c->at);
			placed = false;
		}
		if (placed && !it.jump && length) {
			put_item(c, &it, reg, cfi);
			c->at = total;
		}
	}
	if (!c->size)
		return 0;
	/* What the last instruction changed is stated before the next block. */
	cfi = k->term == TERM_FALL ? c->f->blk[k->fall].cfi_in : follow_cfi(c, seen, k->last, cfi);
	put_end(c, k, &last, reg, &b);
	put_uop(c, (struct uop){.kind = UOP_END}, cfi, placed ? c->at : UOPS_NONE);
	b.nuop = (uint32_t)c->out->uop.n - b.uop;
	vec_push(&c->out->block, b);
	c->differs |= total != c->size[id];
	return 0;
}

/* Sizes of all arrays, to undo a function. */
struct extent {
	size_t block, uop, table, target, frame;
};

static struct extent extent_of(const struct uops *u)
{
	return (struct extent){u->block.n, u->uop.n, u->table.n, u->target.n, u->frame.n};
}

static void cut_back(struct uops *u, struct extent to)
{
	u->block.n = to.block;
	u->uop.n = to.uop;
	u->table.n = to.table;
	u->target.n = to.target;
	u->frame.n = to.frame;
}

/* Does block `b`, as it was put out, lead to block `to`? */
static bool leads_to(const struct uops_block *b, uint32_t to)
{
	uint32_t next[2], n = uops_next(b, next);

	return (n && next[0] == to) || (n > 1 && next[1] == to);
}

/* Marks blocks that may be entered by other edges than the ends of their neighbours show. */
static void mark_open(const struct compiler *c, uint32_t first)
{
	const struct cfg *g = &c->f->pub->cfg;
	struct uops_block *block = c->out->block.v + first;
	uint32_t i;

	for (i = 0; i < g->nblock; i++)
		block[i].open =
		    !i || c->f->blk[i].landing || g->block[i].flags & (BLK_ADDRESSED | BLK_OPEN);
	for (i = 0; i < g->nedge; i++)
		if (!leads_to(&block[g->edge[i].src], g->edge[i].dst))
			block[g->edge[i].dst].open = true;
}

static int compile_func(struct compiler *c)
{
	struct uops_func f = {.key = c->f->pub->key,
	    .block = (uint32_t)c->out->block.n,
	    .nblock = c->f->nblk,
	    .table = (uint32_t)c->out->table.n};
	struct extent before = extent_of(c->out);
	struct arena scratch = {0};
	uint32_t id;
	int rc = 0;

	c->differs = false;
	c->frame = NONE;
	c->tables = (struct uop_tables){.u = c->u, .f = c->f, .out = c->out};
	if (c->size)
		uop_consts_find(&c->consts, &c->tables, &scratch);
	for (id = 0; id < c->f->nblk && !rc; id++)
		rc = compile_block(c, id);
	f.ntable = (uint32_t)c->out->table.n - f.table;
	if (c->size && !c->differs && !rc) {
		mark_open(c, f.block);
		uop_joins_find(c->f, c->out, f.block, &scratch);
		vec_push(&c->out->func, f);
	} else {
		cut_back(c->out, before);
	}
	vec_free(&c->tables.label);
	vec_free(&c->tables.distance);
	arena_free(&scratch);
	return rc;
}

int unit_uops(const struct unit *unit, const void *p, size_t n, const uint32_t *const *size,
    struct uops *out, uint32_t *differing, struct err *e)
{
	struct compiler c = {
	    .u = unit->impl, .out = out, .p = p, .end = n ? (const uint8_t *)p + n : p};
	uint32_t i;

	*differing = 0;
	for (i = 0; i < unit->nfunc; i++) {
		c.f = &c.u->func.v[i];
		c.size = size[i];
		if (!c.f->blk)
			continue;
		if (compile_func(&c))
			break;
		*differing += c.differs;
	}
	return i == unit->nfunc && c.p == c.end
		   ? 0
		   : err_set(e, "what the assembler measured is cut off or too long");
}
