/*
 * Basic blocks of one function. A block begins at a label that something
 * jumps to and behind every instruction that may not go on to the next one.
 * What stands between the last instruction of a block and the next block
 * (alignment, unwind state, debug labels) leads in the next.
 */
#include "editor/text.h"

#include "editor/insn.h"

#include <stdlib.h>

struct builder {
	struct unit_impl *u;
	struct func *f;
	VEC(struct blk) blk;
	VEC(struct cfg_block) cb;
	VEC(struct cfg_edge) edge;
	VEC(struct unit_call) call;
	VEC(struct cfg_edge) asm_edge; /* src block, dst label index; src ascending */
	VEC(uint32_t)
	here, ahead;       /* in this inline assembly: labels "1:"; uses "1f" without one yet */
	uint32_t lead;     /* where the next block's lead begins */
	uint32_t cfi, loc; /* in force */
	VEC(uint32_t) addressed; /* blocks whose address is taken */
	bool open, content;      /* a block is open; it has code already */
	bool in_asm;
	bool proc_over; /* the part's unwind procedure has ended */
	const char *why;
};

/* More than any compiler makes; keeps odd texts from eating memory. */
enum { EDGES_MAX = 1 << 22, ASM_LABELS_MAX = 1000 };

static struct blk *current(struct builder *b)
{
	return &b->blk.v[b->blk.n - 1];
}

static void open_block(struct builder *b, uint32_t i)
{
	struct blk k = {.lead = b->lead,
	    .first = i,
	    .last = i,
	    .jump = NONE,
	    .target = NONE,
	    .fall = NONE,
	    .cfi_in = b->cfi,
	    .cfi_out = b->cfi,
	    .loc = b->loc,
	    .part = i >= b->f->part1};

	vec_push(&b->blk, k);
	vec_push(&b->cb, (struct cfg_block){.flags = k.part ? BLK_COLD : 0});
	b->open = true;
	b->content = false;
}

static void close_block(struct builder *b, enum term term)
{
	struct blk *k = current(b);

	k->term = term;
	if (term == TERM_FALL || term == TERM_COND)
		k->fall = (uint32_t)b->blk.n;
	b->lead = k->last;
	b->open = false;
	if (b->in_asm)
		b->why = "a block ends inside inline assembly";
}

static void add_insn(struct builder *b, uint32_t i, uint32_t insns, uint32_t bytes)
{
	struct blk *k;
	struct cfg_block *c;

	if (!b->open)
		open_block(b, i);
	k = current(b);
	c = &b->cb.v[b->cb.n - 1];
	if (!b->content) {
		k->cfi_in = b->cfi;
		k->loc = b->loc;
		b->content = true;
	}
	k->cfi_out = b->cfi;
	k->last = i + 1;
	c->insns += insns;
	c->bytes += bytes;
}

static void add_call(struct builder *b, struct str callee)
{
	struct unit_call c = {
	    .block = (uint32_t)b->blk.n - 1, .insn = b->cb.v[b->cb.n - 1].insns - 1};

	callee = unquote(symbol_of(callee));
	c.callee = arena_strndup(b->u->mem, callee.p, callee.n);
	vec_push(&b->call, c);
}

static bool plain_symbol(struct str s)
{
	uint32_t i;

	if (s.n && *s.p == '"')
		return true;
	for (i = 0; i < s.n; i++)
		if (strchr("*(),%$+- \t", s.p[i]))
			return false;
	return s.n && !(*s.p >= '0' && *s.p <= '9');
}

/* A jump's target inside this function, NULL for another function's symbol. */
static struct label *local_target(struct builder *b, struct str op)
{
	struct label *l = label_find(b->u, op);
	uint32_t self = (uint32_t)(b->f - b->u->func.v);

	if (l && l->func == self && str_starts(op, ".L"))
		return l;
	if (!plain_symbol(op) || (str_starts(op, ".L") && (!l || l->func != NONE)))
		b->why = "jump operand not understood";
	return NULL;
}

static uint32_t call_flags(struct builder *b, struct str op)
{
	if (*op.p == '*')
		return BLK_CALLS;
	if (insn_noreturn(op))
		return BLK_NORETURN;
	return insn_returns(op) && !label_find(b->u, symbol_of(op)) ? 0 : BLK_CALLS;
}

static void do_insn(struct builder *b, uint32_t i, const struct stmt *st)
{
	struct blk *k;
	struct str op;
	enum insn_class class = insn_classify(st, &op);

	if (class == INSN_SHORT) {
		b->why = "a jump of short reach (loop, jrcxz, xbegin)";
		return;
	}
	add_insn(b, i, 1, insn_bytes(st));
	k = current(b);
	if (memchr(st->arg.p, '.', st->arg.n) && refers_to_here(st))
		b->cb.v[b->cb.n - 1].flags |= BLK_ONCE;
	switch (class) {
	case INSN_CALL:
		b->cb.v[b->cb.n - 1].flags |= call_flags(b, op);
		if (*op.p == '*') {
			add_call(b, (struct str){"", 0});
			break;
		}
		add_call(b, op);
		if (str_is(symbol_of(op), "__morestack"))
			b->why = "split stack";
		break;
	case INSN_JMP:
		if (*st->op.p != 'j')
			b->why = "a jump with a prefix";
		k->jump = i;
		if (local_target(b, op)) {
			close_block(b, TERM_JUMP);
			break;
		}
		k->jump = NONE;
		k->tail_call = true;
		b->cb.v[b->cb.n - 1].flags |= BLK_EXIT;
		add_call(b, op);
		close_block(b, TERM_END);
		break;
	case INSN_JCC:
		if (*st->op.p != 'j')
			b->why = "a jump with a prefix";
		if (local_target(b, op)) {
			k->jump = i;
			close_block(b, TERM_COND);
			break;
		}
		/* A conditional tail call: leaves, or goes on behind it. */
		k->tail_call = true;
		b->cb.v[b->cb.n - 1].flags |= BLK_EXIT;
		add_call(b, op);
		close_block(b, TERM_FALL);
		break;
	case INSN_JMP_IND:
		b->cb.v[b->cb.n - 1].flags |= BLK_INDIRECT;
		close_block(b, TERM_INDIRECT);
		break;
	case INSN_RET:
		k->returns = true;
		b->cb.v[b->cb.n - 1].flags |= BLK_EXIT;
		close_block(b, TERM_END);
		break;
	case INSN_STOP:
		b->cb.v[b->cb.n - 1].flags |= BLK_NORETURN;
		close_block(b, TERM_END);
		break;
	case INSN_PLAIN:
	case INSN_SHORT:
		break;
	}
}

/* "1:" -> 0, "1b" -> 'b', "1f" -> 'f', anything else -> -1; *n is the number. */
static int local_label(struct str t, const char *end, uint32_t *n)
{
	uint32_t i;

	*n = 0;
	for (i = 0; i < t.n && i < 9 && t.p[i] >= '0' && t.p[i] <= '9'; i++)
		*n = 10 * *n + (uint32_t)(t.p[i] - '0');
	if (!i)
		return -1;
	if (i == t.n)
		return t.p + t.n < end && t.p[t.n] == ':' ? 0 : -1;
	return i + 1 == t.n && (t.p[i] == 'b' || t.p[i] == 'f') ? t.p[i] : -1;
}

/* Local labels must stay next to their uses: both in one inline assembly. */
static void asm_local(struct builder *b, struct str t, const char *end)
{
	uint32_t n;
	size_t i, k;

	switch (local_label(t, end, &n)) {
	case 0:
		vec_push(&b->here, n);
		for (i = k = 0; i < b->ahead.n; i++)
			if (b->ahead.v[i] != n)
				b->ahead.v[k++] = b->ahead.v[i];
		b->ahead.n = k;
		break;
	case 'f':
		vec_push(&b->ahead, n);
		break;
	case 'b':
		for (i = 0; i < b->here.n && b->here.v[i] != n; i++)
			;
		if (i == b->here.n)
			b->why = "inline assembly that refers to another's label";
		break;
	}
	if (b->here.n + b->ahead.n > ASM_LABELS_MAX)
		b->why = "inline assembly with too many labels";
}

static void asm_end(struct builder *b)
{
	if (b->ahead.n)
		b->why = "inline assembly that refers to another's label";
	b->here.n = b->ahead.n = 0;
	b->in_asm = false;
	/* asm goto: the block ends with the statement. */
	if (b->open && b->asm_edge.n && b->asm_edge.v[b->asm_edge.n - 1].src == b->blk.n - 1)
		close_block(b, TERM_FALL);
}

static void do_asm(struct builder *b, uint32_t i, const struct stmt *st)
{
	const char *p = st->line.p, *end = p + st->line.n;
	uint32_t self = (uint32_t)(b->f - b->u->func.v);
	bool text = false, reach = false, targets = false;
	struct label *l;
	struct str t;

	while (*st->line.p != '#' && token_next(&p, end, &t)) {
		text |= *t.p >= 'a' && *t.p <= 'z';
		if (str_starts(t, ".cfi_"))
			b->why = "unwind directives in inline assembly";
		reach |= str_starts(t, "loop") || str_is(t, "jrcxz") || str_is(t, "jecxz");
		asm_local(b, t, end);
		l = *t.p == '.' ? label_find(b->u, t) : NULL;
		if (!l || l->func != self || !str_starts(t, ".L"))
			continue;
		targets = true;
		if (!b->open)
			open_block(b, i);
		vec_push(&b->asm_edge, (struct cfg_edge){.src = (uint32_t)b->blk.n - 1,
					   .dst = (uint32_t)(l - b->u->label.v)});
	}
	if (reach && targets)
		b->why = "inline assembly with a jump of short reach";
	add_insn(b, i, text, text ? 4 : 0);
	b->cb.v[b->cb.n - 1].flags |= BLK_ONCE | (text ? BLK_CALLS : 0);
	if (!st->app_begin && !b->in_asm)
		b->why = "begins inside inline assembly";
	if (st->app_begin)
		b->in_asm = true;
	if (st->app_end)
		asm_end(b);
}

static void do_label(struct builder *b, uint32_t i, const struct stmt *st)
{
	struct label *l = label_find(b->u, st->op);
	bool named = !str_starts(st->op, ".L");

	if (!l) {
		b->why = "a numeric label";
		return;
	}
	if (named && i && b->f->code.v[i] != b->f->cold_label) {
		b->why = "a second entry label";
		return;
	}
	if (i && !(l->flags & (LB_BRANCH | LB_TABLE | LB_ADDRESS))) {
		/* A label behind a call is its return address, to a debugger. */
		if (b->open && (!b->content || current(b)->last == i))
			current(b)->last = i + 1;
		return;
	}
	if (b->proc_over)
		b->why = "a jump target behind its unwind procedure";
	if (b->open && b->content)
		close_block(b, TERM_FALL);
	if (!b->open)
		open_block(b, i);
	l->block = (uint32_t)b->blk.n - 1;
	if (!b->content)
		current(b)->last = i + 1;
}

static void do_directive(struct builder *b, uint32_t i, const struct stmt *st)
{
	switch (st->dir) {
	case DIR_CFI:
		if (st->aux != NONE)
			b->cfi = st->aux;
		if (b->proc_over)
			b->why = "two unwind procedures in one part";
		b->proc_over = str_is(st->op, ".cfi_endproc");
		break;
	case DIR_LOC:
		b->loc = b->f->code.v[i];
		break;
	case DIR_SET:
	case DIR_SIZE:
		if (refers_to_here(st))
			b->why = "a symbol that is set to its place";
		break;
	case DIR_DATA:
		if (memchr(st->arg.p, '.', st->arg.n) && !str_starts(st->op, ".nop"))
			b->why = "data that refers to labels in code";
		else {
			add_insn(b, i, 0, 1);
			b->cb.v[b->cb.n - 1].flags |= BLK_ONCE;
		}
		break;
	case DIR_UNKNOWN:
		b->why = arena_printf(b->u->mem, "directive %.*s", (int)st->op.n, st->op.p);
		break;
	}
}

static void end_part(struct builder *b, uint32_t i)
{
	struct blk *k;

	if (b->open) {
		b->cb.v[b->cb.n - 1].flags |= BLK_NORETURN;
		close_block(b, TERM_END);
	} else if (b->blk.n && (k = current(b))->fall == b->blk.n) {
		b->why = "falls off its end";
	}
	b->lead = i;
	b->proc_over = false;
}

static void walk(struct builder *b)
{
	struct func *f = b->f;
	struct stmt *st;
	uint32_t i;

	for (i = 0; i < f->code.n && !b->why; i++) {
		if (i == f->part1) {
			f->tail[0] = b->blk.n ? current(b)->last : 0;
			end_part(b, i);
			f->nhot_blk = (uint32_t)b->blk.n;
		}
		st = &b->u->stmt.v[f->code.v[i]];
		switch (st->kind) {
		case ST_LABEL:
			do_label(b, i, st);
			break;
		case ST_INSN:
			do_insn(b, i, st);
			break;
		case ST_ASM:
			do_asm(b, i, st);
			break;
		case ST_DIR:
			do_directive(b, i, st);
			break;
		}
	}
	if (f->part1 >= f->code.n)
		f->nhot_blk = (uint32_t)b->blk.n;
	f->tail[f->part1 < f->code.n] = b->blk.n ? current(b)->last : 0;
	if (!b->why)
		end_part(b, i);
	if (!b->why && f->part1 < f->code.n && f->nhot_blk == b->blk.n)
		b->why = "a cold part without code";
}

/* ---- edges ---- */

static void add_edge(struct builder *b, uint32_t src, uint32_t dst, enum edge_kind kind, bool rare)
{
	vec_push(&b->edge, (struct cfg_edge){.src = src, .dst = dst, .kind = kind, .rare = rare});
	if (b->edge.n > EDGES_MAX)
		b->why = "too many edges";
}

static uint32_t label_block(struct builder *b, struct str name)
{
	struct label *l = label_find(b->u, name);

	if (!l || l->block == NONE) {
		b->why = "jump to a label that begins no block";
		return 0;
	}
	return l->block;
}

/* The first of data[] behind statement i. */
static uint32_t data_behind(const struct func *f, uint32_t i)
{
	uint32_t lo = 0, hi = (uint32_t)f->data.n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (f->data.v[mid] < i)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Edges to the blocks in one operand list; mark[] of a block is the last
 * source that came there. */
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
			add_edge(b, src, l->block, EDGE_INDIRECT, false);
		mark[l->block] = src;
	}
	return any;
}

/* Targets in the data right behind the jump; false when there are none. */
static bool table_edges(struct builder *b, uint32_t src, uint32_t *mark)
{
	struct blk *k = &b->blk.v[src];
	uint32_t d, hi = k->last < b->f->code.n ? b->f->code.v[k->last] : b->f->end;
	struct stmt *st;
	bool any = false;

	d = data_behind(b->f, b->f->code.v[k->last - 1]);
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
		add_edge(b, src, b->addressed.v[i], EDGE_INDIRECT, false);
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
		l = label_find(b->u, b->u->stmt.v[b->f->code.v[i]].op);
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
		dst = label_block(b, b->u->label.v[b->asm_edge.v[*at].dst].name);
		if (!b->why && mark[dst] != src)
			add_edge(b, src, dst, EDGE_INDIRECT, false);
		if (!b->why)
			mark[dst] = src;
	}
}

/* What set the flags that the jump at code[i] looks at: the instruction before it
 * that is no jump. */
static struct str flags_setter(const struct builder *b, uint32_t i)
{
	const struct stmt *st;
	struct str op;

	while (i-- > 0) {
		st = &b->u->stmt.v[b->f->code.v[i]];
		if (st->kind == ST_INSN && insn_classify(st, &op) != INSN_JCC)
			return st->op;
	}
	return (struct str){"", 0};
}

/* As insn_rare_way(). */
static int rare_way(const struct builder *b, const struct blk *k)
{
	if (k->term != TERM_COND)
		return 0;
	return insn_rare_way(b->u->stmt.v[b->f->code.v[k->jump]].op, flags_setter(b, k->jump));
}

static void block_edges(struct builder *b, uint32_t i, uint32_t *mark)
{
	struct blk *k = &b->blk.v[i];
	int rare = rare_way(b, k);
	struct str op;

	if (k->jump != NONE) {
		insn_classify(&b->u->stmt.v[b->f->code.v[k->jump]], &op);
		k->target = label_block(b, op);
		add_edge(b, i, k->target, k->term == TERM_COND ? EDGE_TAKEN : EDGE_JUMP, rare > 0);
	}
	if (k->fall != NONE)
		add_edge(b, i, k->fall, k->term == TERM_COND ? EDGE_NOTTAKEN : EDGE_FALL, rare < 0);
	if (k->term == TERM_INDIRECT)
		indirect_edges(b, i, mark);
}

static void edges(struct builder *b)
{
	uint32_t i, *mark = xcalloc(b->blk.n, sizeof *mark);
	size_t asm_at = 0;

	memset(mark, 0xff, b->blk.n * sizeof *mark);
	addressed_blocks(b);
	for (i = 0; i < b->blk.n && !b->why; i++) {
		block_edges(b, i, mark);
		asm_edges(b, i, &asm_at, mark);
	}
	for (i = 0; i < b->addressed.n; i++)
		b->cb.v[b->addressed.v[i]].flags |= BLK_ADDRESSED;
	for (i = 0; i < b->edge.n; i++)
		if (b->edge.v[i].kind == EDGE_INDIRECT)
			b->cb.v[b->edge.v[i].dst].flags &= ~(uint32_t)BLK_ADDRESSED;
	free(mark);
}

/* Blocks that do nothing but go on. */
static void mark_skips(struct builder *b)
{
	struct cfg_block *c;
	uint32_t i;

	for (i = 0; i < b->blk.n; i++) {
		c = &b->cb.v[i];
		if (!(c->flags & BLK_ONCE) &&
		    ((b->blk.v[i].term == TERM_JUMP && c->insns == 1) ||
			(b->blk.v[i].term == TERM_FALL && !c->insns)))
			c->flags |= BLK_SKIP;
	}
}

static void alignments(struct builder *b)
{
	struct stmt *st;
	uint32_t i, j, log;

	for (i = 0; i < b->blk.n; i++)
		for (j = b->blk.v[i].lead; j < b->blk.v[i].first; j++) {
			st = &b->u->stmt.v[b->f->code.v[j]];
			log = st->kind == ST_DIR && st->dir == DIR_ALIGN ? align_log2(st) : 0;
			if (log > b->cb.v[i].align)
				b->cb.v[i].align = log;
		}
}

static void *keep(struct arena *a, const void *v, size_t n, size_t size)
{
	void *p = arena_array(a, n ? n : 1, size);

	if (n)
		memcpy(p, v, n * size);
	return p;
}

const char *blocks_build(struct unit_impl *u, struct func *f)
{
	struct builder b = {.u = u, .f = f, .loc = NONE};
	struct unit_func *pub = f->pub;

	b.why = cfi_simulate(u, f);
	if (!b.why)
		walk(&b);
	if (!b.why && (!b.blk.n || !b.cb.v[0].bytes))
		b.why = "no code";
	if (!b.why)
		edges(&b);
	if (!b.why) {
		alignments(&b);
		mark_skips(&b);
		f->nblk = (uint32_t)b.blk.n;
		f->blk = b.blk.v;
		b.blk.v = NULL;
		pub->cfg = (struct cfg){.block = keep(u->mem, b.cb.v, b.cb.n, sizeof *b.cb.v),
		    .edge = keep(u->mem, b.edge.v, b.edge.n, sizeof *b.edge.v),
		    .nblock = f->nblk,
		    .nedge = (uint32_t)b.edge.n};
		pub->call = keep(u->mem, b.call.v, b.call.n, sizeof *b.call.v);
		pub->ncall = (uint32_t)b.call.n;
	}
	vec_free(&b.blk);
	vec_free(&b.cb);
	vec_free(&b.edge);
	vec_free(&b.call);
	vec_free(&b.asm_edge);
	vec_free(&b.addressed);
	vec_free(&b.here);
	vec_free(&b.ahead);
	return b.why;
}

void blocks_opaque(struct unit_impl *u, struct func *f)
{
	struct cfg_block *c = arena_alloc(u->mem, sizeof *c);
	uint32_t i;

	c->flags = BLK_EXIT;
	for (i = 0; i < f->code.n; i++)
		if (u->stmt.v[f->code.v[i]].kind == ST_INSN) {
			c->insns++;
			c->bytes += insn_bytes(&u->stmt.v[f->code.v[i]]);
		}
	free(f->blk);
	f->blk = NULL;
	f->nblk = 1;
	f->pub->cfg = (struct cfg){.block = c, .nblock = 1};
	f->pub->call = NULL;
	f->pub->ncall = 0;
}
