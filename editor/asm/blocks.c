/*
 * Basic blocks of one function. A block begins at a label that something
 * jumps to and after every instruction that may not go on to the next one.
 * What stands between the last instruction of a block and the next block
 * (alignment, unwind state, debug labels) leads in the next.
 */
#include "editor/asm/blocks.h"
#include "editor/asm/insn.h"
#include "editor/asm/lsda.h"

#include <stdlib.h>

/* Bounds memory for unusual texts. */
enum { ASM_LABELS_MAX = 1000 };

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
	c.bound = has_word(b->u, callee);
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
static struct label *local_target(struct builder *b, const struct stmt *st, struct str op)
{
	struct label *l = label_of(b->u, st);
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

static void flag(struct builder *b, uint32_t flags)
{
	b->cb.v[b->cb.n - 1].flags |= flags;
}

static void do_call(struct builder *b, struct str op)
{
	bool pointer = *op.p == '*';

	flag(b, call_flags(b, op));
	add_call(b, pointer ? (struct str){"", 0} : op);
	if (!pointer && str_is(symbol_of(op), "__morestack"))
		b->why = "split stack";
}

/* A block that ends as `near` with a jump to its own function, as `away` with a
 * tail call. */
static void do_jump(struct builder *b, uint32_t i, struct str op, enum term near, enum term away)
{
	const struct stmt *st = &b->u->stmt.v[b->f->code.v[i]];
	struct str alias = alias_target(b->u, op);

	if (*st->op.p != 'j')
		b->why = "a jump with a prefix";
	if (alias.n && !str_starts(alias, ".L"))
		op = alias;
	if (local_target(b, st, op)) {
		current(b)->jump = i;
		close_block(b, near);
		return;
	}
	current(b)->tail_call = true;
	flag(b, BLK_EXIT);
	add_call(b, op);
	close_block(b, away);
}

static void do_insn(struct builder *b, uint32_t i, const struct stmt *st)
{
	struct str op;
	enum insn_class class = insn_classify(st, &op);

	if (class == INSN_SHORT) {
		b->why = "a jump of short reach (loop, jrcxz, xbegin)";
		return;
	}
	add_insn(b, i, 1, insn_bytes(st, class));
	if (memchr(st->arg.p, '.', st->arg.n) && refers_to_here(st))
		flag(b, BLK_ONCE);
	switch (class) {
	case INSN_CALL:
		do_call(b, op);
		break;
	case INSN_JMP:
		do_jump(b, i, op, TERM_JUMP, TERM_END);
		break;
	case INSN_JCC: /* to another function: exits or falls through */
		do_jump(b, i, op, TERM_COND, TERM_FALL);
		break;
	case INSN_JMP_IND:
		flag(b, BLK_INDIRECT);
		close_block(b, TERM_INDIRECT);
		break;
	case INSN_RET:
		current(b)->returns = true;
		flag(b, BLK_EXIT);
		close_block(b, TERM_END);
		break;
	case INSN_STOP:
		flag(b, BLK_NORETURN);
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
	flag(b, BLK_ONCE | (text ? BLK_CALLS : 0));
	if (!st->app_begin && !b->in_asm)
		b->why = "begins inside inline assembly";
	if (st->app_begin)
		b->in_asm = true;
	if (st->app_end)
		asm_end(b);
}

static void do_label(struct builder *b, uint32_t i, const struct stmt *st)
{
	struct label *l = label_of(b->u, st);
	bool named = !str_starts(st->op, ".L");

	if (!l) {
		b->why = "a numeric label";
		return;
	}
	if (named && i && b->f->code.v[i] != b->f->cold_label) {
		b->why = "a second entry label";
		return;
	}
	if (i && !(l->flags & LB_TARGET)) {
		/* A label after a call is its return address, to a debugger. */
		if (b->open && (!b->content || current(b)->last == i))
			current(b)->last = i + 1;
		return;
	}
	if (b->proc_over)
		b->why = "a jump target after its unwind procedure";
	if (b->open && b->content)
		close_block(b, TERM_FALL);
	if (!b->open)
		open_block(b, i);
	l->block = (uint32_t)b->blk.n - 1;
	if (l->flags & LB_PAD) {
		current(b)->landing = true;
		flag(b, BLK_PAD);
		if (!l->block)
			b->why = "begins with a landing pad";
	}
	if (!b->content)
		current(b)->last = i + 1;
}

/* Of .loc FILE LINE: what belongs to no line has 0, which as leaves out: the line before it stays
 * in force. */
static bool line_zero(struct str arg)
{
	const char *p = arg.p, *end = arg.p + arg.n;

	for (; p < end && *p != ' ' && *p != '\t'; p++)
		continue;
	for (; p < end && (*p == ' ' || *p == '\t'); p++)
		continue;
	return p < end && *p == '0';
}

static void do_directive(struct builder *b, uint32_t i, const struct stmt *st)
{
	struct str why;

	switch (st->dir) {
	case DIR_CFI:
		if (st->aux != NONE)
			b->cfi = st->aux;
		if (b->proc_over)
			b->why = "two unwind procedures in one part";
		b->proc_over = str_is(st->op, ".cfi_endproc");
		break;
	case DIR_LOC:
		if (!line_zero(st->arg))
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
			flag(b, BLK_ONCE);
		}
		break;
	case DIR_STAYS:
		b->f->pinned = true;
		why = unquote(st->arg);
		b->why = arena_strndup(b->u->mem, why.p, why.n);
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
		flag(b, BLK_NORETURN);
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

const char *blocks_build(struct unit_impl *u, struct func *f)
{
	struct builder b = {.u = u, .f = f, .loc = NONE};
	struct unit_func *pub = f->pub;

	b.why = cfi_simulate(u, f);
	if (!b.why)
		b.why = lsda_build(u, f);
	if (!b.why)
		walk(&b);
	if (!b.why && (!b.blk.n || !b.cb.v[0].bytes))
		b.why = "no code";
	if (!b.why && f->eh && b.cb.v[0].insns == (b.blk.v[0].jump != NONE))
		b.why = "begins with a jump"; /* perhaps to a landing pad, which then begins it */
	if (!b.why)
		blocks_edges(&b);
	if (!b.why) {
		f->nblk = (uint32_t)b.blk.n;
		f->blk = b.blk.v;
		b.blk.v = NULL;
		pub->cfg = (struct cfg){.block = arena_copy(u->mem, b.cb.v, b.cb.n, sizeof *b.cb.v),
		    .edge = arena_copy(u->mem, b.edge.v, b.edge.n, sizeof *b.edge.v),
		    .nblock = f->nblk,
		    .nedge = (uint32_t)b.edge.n};
		cfg_index(&pub->cfg, u->mem);
		pub->call = arena_copy(u->mem, b.call.v, b.call.n, sizeof *b.call.v);
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
	const struct stmt *st;
	struct str op;
	uint32_t i;

	c->flags = BLK_EXIT;
	if (f->eh && f->eh->table[0].n) /* its table may count from a label outside */
		f->pinned = true;
	for (i = 0; i < f->code.n; i++) {
		st = &u->stmt.v[f->code.v[i]];
		if (st->kind == ST_INSN) {
			c->insns++;
			c->bytes += insn_bytes(st, insn_classify(st, &op));
		}
	}
	free(f->blk);
	f->blk = NULL;
	f->nblk = 1;
	f->pub->cfg = (struct cfg){.block = c, .nblock = 1};
	cfg_index(&f->pub->cfg, u->mem);
	f->pub->call = NULL;
	f->pub->ncall = 0;
}
