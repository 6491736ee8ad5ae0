/*
 * The output check. Reads the printed text with the scanner only, follows the
 * block labels, and compares with the original what a machine would execute:
 * every block once, the same instructions, the same ways out, the same unwind
 * state at every instruction, the same data.
 */
#include "editor/text.h"

#include "editor/insn.h"

#include <stdio.h>
#include <stdlib.h>

struct checker {
	const struct unit_impl *u; /* the original */
	struct unit_impl out; /* only its statements are filled */
	struct err *e;
	bool **seen;
	struct cfi_state cfi;
	struct cfi_stack stack;
	bool in_proc;
};

struct block_ref {
	uint32_t func, id;
};

static bool parse_ref(struct str s, const char *prefix, struct block_ref *r)
{
	char text[64], tail;

	if (!str_starts(s, prefix) || s.n >= sizeof text)
		return false;
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	return sscanf(text + strlen(prefix), "%u.%u%c", &r->func, &r->id, &tail) == 2;
}

static int wrong(struct checker *c, struct block_ref r, const char *what)
{
	return err_set(c->e, "output check: function %s, block %u: %s",
	    r.func < c->u->func.n ? c->u->func.v[r.func].pub->name : "?", r.id, what);
}

static bool same_stmt(const struct stmt *a, const struct stmt *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == ST_ASM)
		return a->line.n == b->line.n && !memcmp(a->line.p, b->line.p, a->line.n);
	return a->op.n == b->op.n && a->arg.n == b->arg.n && !memcmp(a->op.p, b->op.p, a->op.n) &&
	    !memcmp(a->arg.p, b->arg.p, a->arg.n);
}

static bool is_code(const struct stmt *st)
{
	return st->kind == ST_INSN || st->kind == ST_ASM ||
	    (st->kind == ST_DIR && st->dir == DIR_DATA);
}

static bool switches_section(const struct stmt *st)
{
	return st->kind == ST_DIR &&
	    (st->dir == DIR_SECTION || st->dir == DIR_PUSH || st->dir == DIR_POP);
}

static uint32_t target_block(struct checker *c, const struct stmt *st, uint32_t func)
{
	struct block_ref r;
	struct label *l;
	struct str op;

	insn_classify(st, &op);
	if (parse_ref(op, ".LMB", &r))
		return r.func == func ? r.id : NONE;
	l = label_find(c->u, op);
	return l && l->func == func ? l->block : NONE;
}

/* Follows a directive that switches sections; *code says where we are then. */
static void follow_section(const struct stmt *st, bool *code, bool *own)
{
	const char *p = st->arg.p;
	struct str name = st->op;

	if (str_is(name, ".section") || str_is(name, ".pushsection"))
		token_next(&p, p + st->arg.n, &name);
	*code = str_starts(name, ".text") || st->dir == DIR_POP;
	*own = str_is(name, ".llvm_bb_addr_map") || str_is(name, ".morph.fn") ||
	    str_starts(name, ".debug_");
}

/* The block that control runs into behind statement i, or NONE. */
static uint32_t next_block(struct checker *c, size_t i, uint32_t func)
{
	struct block_ref r;
	const struct stmt *st;
	bool code = true, own;

	for (; i < c->out.stmt.n; i++) {
		st = &c->out.stmt.v[i];
		if (switches_section(st))
			follow_section(st, &code, &own);
		if ((code && is_code(st)) || (st->kind == ST_DIR && st->dir == DIR_SIZE) ||
		    str_is(st->op, ".cfi_endproc"))
			return NONE;
		if (st->kind == ST_LABEL && parse_ref(st->op, ".LMB", &r))
			return r.func == func ? r.id : NONE;
	}
	return NONE;
}

static int check_exits(struct checker *c, struct block_ref r, const struct stmt *const *jump,
    size_t njump, uint32_t next)
{
	const struct func *f = &c->u->func.v[r.func];
	const struct blk *k = &f->blk[r.id];
	const struct stmt *orig;
	const char *inverse;
	struct str op;
	uint32_t to;

	if (k->term == TERM_INDIRECT || k->term == TERM_END)
		return njump ? wrong(c, r, "a jump was added behind its end") : 0;
	if (k->term == TERM_COND) {
		if (!njump || insn_classify(jump[0], &op) != INSN_JCC)
			return wrong(c, r, "its conditional jump is gone");
		orig = &c->u->stmt.v[f->code.v[k->jump]];
		to = target_block(c, jump[0], r.func);
		if (njump == 2) {
			if (insn_classify(jump[1], &op) != INSN_JMP)
				return wrong(c, r, "its second jump is no jmp");
			next = target_block(c, jump[1], r.func);
		}
		inverse = insn_inverse(orig->op);
		if (jump[0]->op.n == orig->op.n && !memcmp(jump[0]->op.p, orig->op.p, orig->op.n) &&
		    to == k->target && next == k->fall)
			return 0;
		if (str_is(jump[0]->op, inverse) && to == k->fall && next == k->target)
			return 0;
		return wrong(c, r, "its conditional jump goes elsewhere");
	}
	if (njump == 1 && insn_classify(jump[0], &op) == INSN_JMP)
		next = target_block(c, jump[0], r.func);
	else if (njump)
		return wrong(c, r, "its jump was changed");
	return next == (k->term == TERM_JUMP ? k->target : k->fall)
	    ? 0
	    : wrong(c, r, "control goes on elsewhere");
}

/* What opaque functions say is not understood: their procedure is dropped. */
static int apply_cfi(struct checker *c, const struct stmt *st, struct block_ref r)
{
	const char *why;

	if (str_is(st->op, ".cfi_startproc")) {
		c->cfi = cfi_initial();
		c->stack.n = 0;
		c->in_proc = true;
	} else if (str_is(st->op, ".cfi_endproc")) {
		c->in_proc = false;
	} else if (c->in_proc) {
		why = cfi_apply(st, &c->cfi, &c->stack);
		if (why && r.func != NONE)
			return wrong(c, r, why);
		if (why)
			c->in_proc = false;
	}
	return 0;
}

/* The block whose label is statement i; *end becomes where it stopped. */
static int check_block(struct checker *c, struct block_ref r, size_t i, size_t *end)
{
	const struct func *f = &c->u->func.v[r.func];
	const struct blk *k = &f->blk[r.id];
	const struct stmt *jump[2], *st, *o;
	uint32_t at = k->first, cfi = k->cfi_in;
	size_t njump = 0;
	struct block_ref other;
	struct label *l;
	bool begun = false, code = true, own;

	for (i++; i < c->out.stmt.n; i++) {
		st = &c->out.stmt.v[i];
		if (st->kind == ST_LABEL &&
		    (parse_ref(st->op, ".LMB", &other) || parse_ref(st->op, ".LME", &other)))
			break;
		if (switches_section(st))
			follow_section(st, &code, &own);
		if (!code)
			continue;
		if (st->kind == ST_DIR && st->dir == DIR_CFI && apply_cfi(c, st, r))
			return -1;
		if (st->kind == ST_LABEL) {
			l = label_find(c->u, st->op);
			if (l && l->block != NONE && (l->block != r.id || begun))
				return wrong(c, r, "a label moved");
		}
		if (!is_code(st))
			continue;
		begun = true;
		/* The original's next statement of code, with its unwind state. */
		for (; at < k->last; at++) {
			o = &c->u->stmt.v[f->code.v[at]];
			if (o->kind == ST_DIR && o->dir == DIR_CFI && o->aux != NONE)
				cfi = o->aux;
			if (is_code(o) && at != k->jump)
				break;
		}
		if (at == k->last) {
			if (njump == 2)
				return wrong(c, r, "more than two jumps at its end");
			jump[njump++] = st;
			continue;
		}
		if (!same_stmt(st, &c->u->stmt.v[f->code.v[at]]))
			return wrong(c, r, "an instruction changed");
		if (f->has_cfi && (!c->in_proc || memcmp(&c->cfi, &c->u->cfi.v[cfi], sizeof c->cfi)))
			return wrong(c, r, "unwind state changed");
		at++;
	}
	*end = i;
	for (; at < k->last; at++)
		if (is_code(&c->u->stmt.v[f->code.v[at]]) && at != k->jump)
			return wrong(c, r, "an instruction is missing");
	return check_exits(c, r, jump, njump, next_block(c, i, r.func));
}

/* A digest of all data outside code and debug sections, in order. */
static struct hash128 data_digest(const struct unit_impl *u)
{
	struct buf b = {0};
	struct hash128 h;
	bool code = true, own = false;
	const struct stmt *st;
	size_t i;

	for (i = 0; i < u->stmt.n; i++) {
		st = &u->stmt.v[i];
		if (switches_section(st))
			follow_section(st, &code, &own);
		if (st->kind == ST_DIR && st->dir == DIR_DATA && !code && !own) {
			buf_add(&b, st->line.p, st->line.n);
			buf_char(&b, '\n');
		}
	}
	h = hash_bytes(b.p, b.n);
	buf_free(&b);
	return h;
}

static int check_all(struct checker *c)
{
	struct block_ref r;
	const struct stmt *st;
	const struct func *f;
	struct hash128 a, b;
	size_t i, end = 0;

	for (i = 0; i < c->out.stmt.n; i++) {
		st = &c->out.stmt.v[i];
		r = (struct block_ref){NONE, 0};
		if (st->kind == ST_DIR && st->dir == DIR_CFI)
			apply_cfi(c, st, r);
		if (st->kind != ST_LABEL || !parse_ref(st->op, ".LMB", &r))
			continue;
		if (r.func >= c->u->func.n || r.id >= c->u->func.v[r.func].nblk)
			return wrong(c, r, "no such block");
		if (c->seen[r.func][r.id])
			return wrong(c, r, "it is there twice");
		c->seen[r.func][r.id] = true;
		if (!c->u->func.v[r.func].blk)
			continue;
		if (check_block(c, r, i, &end))
			return -1;
		i = end - 1;
	}
	for (r.func = 0; r.func < c->u->func.n; r.func++) {
		f = &c->u->func.v[r.func];
		for (r.id = 0; f->blk && r.id < f->nblk; r.id++)
			if (!c->seen[r.func][r.id])
				return wrong(c, r, "it is missing");
	}
	a = data_digest(c->u);
	b = data_digest(&c->out);
	return hash_equal(&a, &b) ? 0 : err_set(c->e, "output check: data changed");
}

int unit_check(const struct unit *unit, const char *text, size_t n, struct err *e)
{
	struct checker c = {.u = unit->impl, .e = e};
	size_t i;
	int r;

	c.seen = xcalloc(c.u->func.n, sizeof *c.seen);
	for (i = 0; i < c.u->func.n; i++)
		c.seen[i] = xcalloc(c.u->func.v[i].nblk, sizeof **c.seen);
	r = unit_scan(&c.out, text, n, e);
	if (!r)
		r = check_all(&c);
	for (i = 0; i < c.u->func.n; i++)
		free(c.seen[i]);
	free(c.seen);
	vec_free(&c.out.stmt);
	return r;
}
