/*
 * Where control goes from each block: to the target of its jump, after it, to
 * the blocks of a jump table, to labels that inline assembly names.
 */
#include "editor/asm/blocks.h"
#include "editor/asm/insn.h"
#include "editor/asm/lsda.h"

#include <stdlib.h>

/* More than any compiler makes; bounds memory for unusual texts. */
enum { EDGES_MAX = 1 << 22 };

static void add_edge(struct builder *b, uint32_t src, uint32_t dst, enum edge_kind kind)
{
	vec_push(&b->edge, (struct cfg_edge){.src = src, .dst = dst, .kind = kind});
	if (b->edge.n > EDGES_MAX)
		b->why = "too many edges";
}

static uint32_t label_block(struct builder *b, const struct label *l)
{
	if (!l || l->block == NONE) {
		b->why = "jump to a label that begins no block";
		return 0;
	}
	return l->block;
}

/* Edges to the blocks in one operand list; mark[] of a block is the last source with an edge to it.
 * */
static bool table_line(struct builder *b, uint32_t src, struct str arg, uint32_t *mark)
{
	uint32_t self = (uint32_t)(b->f - b->u->func.v);
	const char *p = arg.p, *end = p + arg.n;
	bool any = false;
	struct label *l;
	struct str t;

	while (token_next(&p, end, &t)) {
		l = *t.p == '.' ? label_find(b->u, t) : NULL;
		if (!l || l->func != self || l->block == NONE)
			continue;
		any = true;
		if (mark[l->block] != src)
			add_edge(b, src, l->block, EDGE_INDIRECT);
		mark[l->block] = src;
	}
	return any;
}

/* Targets in the data right after the jump; false when there are none. */
static bool table_edges(struct builder *b, uint32_t src, uint32_t *mark)
{
	struct blk *k = &b->blk.v[src];
	uint32_t d, hi = k->last < b->f->code.n ? b->f->code.v[k->last] : b->f->end;
	struct stmt *st;
	bool any = false;

	d = stmt_search(b->f->data.v, b->f->data.n, b->f->code.v[k->last - 1]);
	for (; d < b->f->data.n && b->f->data.v[d] < hi; d++) {
		st = &b->u->stmt.v[b->f->data.v[d]];
		if (st->kind == ST_DIR && st->dir == DIR_DATA)
			any |= table_line(b, src, st->arg, mark);
	}
	return any;
}

static void indirect_edges(struct builder *b, uint32_t src, uint32_t *mark)
{
	struct blk *k = &b->blk.v[src];
	size_t i;

	if (table_edges(b, src, mark))
		return;
	for (i = 0; i < b->addressed.n && !b->why; i++)
		add_edge(b, src, b->addressed.v[i], EDGE_INDIRECT);
	if (!b->addressed.n) { /* jmp *%rax out of the function */
		k->term = TERM_END;
		k->tail_call = true;
		b->cb.v[src].flags = (b->cb.v[src].flags & ~(uint32_t)BLK_INDIRECT) | BLK_EXIT;
	}
}

/* Blocks at labels whose address is taken, ascending. */
static void addressed_blocks(struct builder *b)
{
	uint32_t self = (uint32_t)(b->f - b->u->func.v), i, prev = NONE;
	struct label *l;

	for (i = 0; i < b->f->code.n; i++) {
		if (b->u->stmt.v[b->f->code.v[i]].kind != ST_LABEL)
			continue;
		l = label_of(b->u, &b->u->stmt.v[b->f->code.v[i]]);
		if (l->flags & LB_OPEN && l->func == self && l->block != NONE)
			b->cb.v[l->block].flags |= BLK_OPEN;
		if (!(l->flags & LB_ADDRESS) || !str_starts(l->name, ".L") || l->func != self ||
		    l->block == NONE || l->block == prev)
			continue;
		prev = l->block;
		vec_push(&b->addressed, l->block);
	}
}

/* Targets of inline assembly from *at on that leave block src. */
static void asm_edges(struct builder *b, uint32_t src, size_t *at, uint32_t *mark)
{
	uint32_t dst;

	for (; *at < b->asm_edge.n && b->asm_edge.v[*at].src == src; ++*at) {
		dst = label_block(b, &b->u->label.v[b->asm_edge.v[*at].dst]);
		if (!b->why && mark[dst] != src)
			add_edge(b, src, dst, EDGE_INDIRECT);
		if (!b->why)
			mark[dst] = src;
	}
}

/* To the landing pads of the calls of block src; mark[] of a pad is the last source. */
static void throw_edges(struct builder *b, uint32_t src, uint32_t *mark)
{
	const struct func_eh *eh = b->f->eh;
	const struct blk *k = &b->blk.v[src];
	const struct stmt *st;
	uint32_t i, pad, dst;
	struct str op;

	for (i = k->first; i < k->last && eh && eh->site; i++) {
		st = &b->u->stmt.v[b->f->code.v[i]];
		if (!eh->site[i] ||
		    (st->kind != ST_ASM &&
			(st->kind != ST_INSN || insn_classify(st, &op) != INSN_CALL)))
			continue;
		pad = eh->catch.v[eh->site[i] - 1].pad;
		dst = pad == NONE ? NONE : b->u->label.v[pad].block;
		if (dst == NONE || mark[dst] == src)
			continue;
		mark[dst] = src;
		add_edge(b, src, dst, EDGE_THROW);
	}
}

/* Marks blocks that edges lead to from block `from`, through landing pads or not. */
static void reach(const struct builder *b, uint32_t from, bool pads, uint8_t *seen)
{
	VEC(uint32_t) todo = {0};
	const struct cfg_edge *e, *end = b->edge.v + b->edge.n;
	size_t lo, hi, mid;

	if (!seen[from])
		vec_push(&todo, from);
	seen[from] = 1;
	while (todo.n) {
		from = todo.v[--todo.n];
		for (lo = 0, hi = b->edge.n; lo < hi;) {
			mid = lo + (hi - lo) / 2;
			if (b->edge.v[mid].src < from)
				lo = mid + 1;
			else
				hi = mid;
		}
		for (e = b->edge.v + lo; e < end && e->src == from; e++) {
			if ((e->kind == EDGE_THROW && !pads) || seen[e->dst])
				continue;
			seen[e->dst] = 1;
			vec_push(&todo, e->dst);
		}
	}
	vec_free(&todo);
}

/* What only landing pads lead to is not executed but for exceptions. */
static void mark_handlers(struct builder *b)
{
	uint8_t *plain = xcalloc(b->blk.n, 1), *thrown = xcalloc(b->blk.n, 1);
	uint32_t i;

	reach(b, 0, false, plain);
	for (i = 0; i < b->blk.n; i++)
		if (b->cb.v[i].flags & (BLK_ADDRESSED | BLK_OPEN))
			reach(b, i, false, plain);
	for (i = 0; i < b->blk.n; i++)
		if (b->cb.v[i].flags & BLK_PAD)
			reach(b, i, true, thrown);
	for (i = 0; i < b->blk.n; i++)
		if (thrown[i] && !plain[i])
			b->cb.v[i].flags |= BLK_COLD;
	free(plain);
	free(thrown);
}

static void block_edges(struct builder *b, uint32_t i, uint32_t *mark)
{
	struct blk *k = &b->blk.v[i];

	if (k->jump != NONE) {
		k->target = label_block(b, label_of(b->u, &b->u->stmt.v[b->f->code.v[k->jump]]));
		add_edge(b, i, k->target, k->term == TERM_COND ? EDGE_TAKEN : EDGE_JUMP);
	}
	if (k->fall != NONE)
		add_edge(b, i, k->fall, k->term == TERM_COND ? EDGE_NOTTAKEN : EDGE_FALL);
	if (k->term == TERM_INDIRECT)
		indirect_edges(b, i, mark);
}

void blocks_edges(struct builder *b)
{
	uint32_t i, *mark = xcalloc(b->blk.n, sizeof *mark);
	uint32_t *thrown = xcalloc(b->blk.n, sizeof *thrown);
	size_t asm_at = 0;

	memset(mark, 0xff, b->blk.n * sizeof *mark);
	memset(thrown, 0xff, b->blk.n * sizeof *thrown);
	addressed_blocks(b);
	for (i = 0; i < b->blk.n && !b->why; i++) {
		block_edges(b, i, mark);
		asm_edges(b, i, &asm_at, mark);
		throw_edges(b, i, thrown);
	}
	for (i = 0; i < b->addressed.n; i++)
		b->cb.v[b->addressed.v[i]].flags |= BLK_ADDRESSED;
	for (i = 0; i < b->edge.n; i++)
		if (b->edge.v[i].kind == EDGE_INDIRECT)
			b->cb.v[b->edge.v[i].dst].flags &= ~(uint32_t)BLK_ADDRESSED;
	if (b->f->eh && !b->why)
		mark_handlers(b);
	free(mark);
	free(thrown);
}
