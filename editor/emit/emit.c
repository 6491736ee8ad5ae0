#include "editor/emit/emit.h"
#include "editor/emit/handlers.h"
#include "editor/asm/insn.h"
#include "editor/layout/relax.h"

#include <stdio.h>
#include <stdlib.h>

struct emitter {
	const struct unit_impl *u;
	const struct unit_placement *placement;
	struct buf *out;
	struct map_order map;
	struct debug debug;
	bool is_stmt;                    /* of the last .loc */
	const struct emit_callbacks *cb; /* NULL: nothing is added */
};

static void line(struct emitter *m, const struct stmt *st)
{
	if (st->kind == ST_DIR && st->dir == DIR_LOC) {
		debug_emit_loc(st, false, &m->is_stmt, m->out);
		return;
	}
	if (st->kind == ST_DIR && str_is(st->op, ".previous")) {
		/* What was previous may have moved away. */
		buf_str(m->out, m->u->section.v[st->section].directive);
		return;
	}
	buf_add(m->out, st->line.p, st->line.n);
	buf_char(m->out, '\n');
}

/* What is in no block: data, debug information, text between functions. */
static void line_outside(struct emitter *m, const struct stmt *st)
{
	if (m->u->section.v[st->section].debug && st->dir != DIR_POP)
		debug_emit(&m->debug, st, m->out);
	else
		line(m, st);
}

/* What is added before code[i] of block b, or after all of it. */
static void add_before(struct emitter *m, uint32_t b, uint32_t i, uint32_t cfi)
{
	if (m->cb)
		m->cb->statement(m->cb->arg, b, i, cfi, m->out);
}

static void add_on_edge(struct emitter *m, uint32_t b, bool taken, uint32_t cfi)
{
	if (m->cb)
		m->cb->edge(m->cb->arg, b, taken, cfi, m->out);
}

static bool detours(const struct emitter *m, uint32_t b)
{
	return m->cb && m->cb->detours(m->cb->arg, b);
}

static void map_begin(struct emitter *m, const struct func *f, uint32_t fragment,
    const char *section, const char *group)
{
	struct map_fragment frag = {.func = f->pub->ord,
	    .fragment = fragment,
	    .first = (uint32_t)m->map.block.n,
	    .section = section,
	    .group = group};

	vec_push(&m->map.frag, frag);
}

/* Block id (or a copy of it) begins here. */
static void map_add(struct emitter *m, const struct func *f, uint32_t id, uint32_t copy)
{
	struct map_block k = {.id = id, .copy = copy};

	block_label(m->out, f->pub->ord, &k);
	buf_str(m->out, ":\n");
	m->map.frag.v[m->map.frag.n - 1].n++;
	vec_push(&m->map.block, k);
}

static void map_end_block(struct emitter *m, const struct func *f)
{
	struct map_block *k = &m->map.block.v[m->map.block.n - 1];

	k->ended = true;
	block_end(m->out, f->pub->ord, k);
	buf_str(m->out, ":\n");
}

static const char *section_text(struct emitter *m, uint16_t s)
{
	struct str n = m->u->section.v[s].name;

	return arena_strndup(m->u->mem, n.p, n.n);
}

/* Compilers align every function on 16 bytes for speed; more than that was asked
 * for. Two are the least: C++ keeps a bit in pointers to members. */
static void entry_align(struct emitter *m, const struct func *f)
{
	enum { LEAST = 1, DEFAULT = 4 };
	const struct layout *l = &m->placement[f->pub->ord].layout;
	uint32_t align = l->entry_align > LEAST ? l->entry_align : LEAST;

	if (f->align > DEFAULT && f->align > align)
		align = f->align;
	buf_printf(m->out, "\t.p2align\t%u\n", align);
	if (l->entry_offset && f->align <= DEFAULT)
		buf_printf(m->out, "\t.skip\t%u, 0xcc\n", l->entry_offset);
}

/* Padding in the section that a function left, which keeps the offsets of what follows within cache
 * lines. Never executed: int3. */
static void leave_padding(struct emitter *m, const struct func *f)
{
	uint32_t n = m->placement[f->pub->ord].padding;

	if (n)
		buf_printf(m->out, "\t.skip\t%u, 0xcc\n", n);
}

/* ---- functions that stay ---- */

/* True when padding may follow block id, or nothing of its part. */
static bool must_end(const struct emitter *m, const struct func *f, uint32_t id)
{
	const struct blk *next;
	const struct stmt *st;
	uint32_t j;

	if (id + 1 == f->nblk || f->blk[id + 1].part != f->blk[id].part)
		return true;
	next = &f->blk[id + 1];
	for (j = next->lead; j < next->first; j++) {
		st = &m->u->stmt.v[f->code.v[j]];
		if (st->kind == ST_DIR && st->dir == DIR_ALIGN)
			return true;
	}
	return false;
}

static void stay(struct emitter *m, const struct func *f)
{
	const struct unit_impl *u = m->u;
	uint32_t i, id = 0, at = 0;
	bool open = false;

	for (i = f->begin; i < f->end; i++) {
		if (id < f->nblk && i == f->code.v[f->blk[id].first]) {
			if (!id || f->blk[id].part != f->blk[id - 1].part) {
				uint16_t s = f->blk[id].part ? f->cold_section : f->section;
				map_begin(m, f, f->blk[id].part, section_text(m, s),
				    u->section.v[s].group);
			}
			map_add(m, f, id, 0);
			open = true;
			at = f->blk[id].first;
		}
		if (open && i == f->code.v[at])
			add_before(m, id, at++, f->blk[id].cfi_in);
		line(m, &u->stmt.v[i]);
		if (open && i == f->code.v[f->blk[id].last - 1]) {
			add_before(m, id, at, f->blk[id].cfi_out);
			if (must_end(m, f, id))
				map_end_block(m, f);
			open = false;
			id++;
		}
	}
}

/* An opaque function is one block; its hot part may get a new section. */
static void whole(
    struct emitter *m, const struct func *f, const char *directive, const char *section)
{
	const struct unit_impl *u = m->u;
	const struct stmt *st;
	uint32_t i, last, at = 0;

	if (f->unsorted || !f->part1) {
		for (i = f->begin; i < f->end; i++)
			line(m, &u->stmt.v[i]);
		return;
	}
	last = f->code.v[f->part1 - 1];
	map_begin(m, f, 0, section, u->section.v[f->section].group);
	if (directive) {
		buf_str(m->out, directive);
		entry_align(m, f);
	}
	map_add(m, f, 0, 0);
	for (i = f->begin; i < f->end; i++) {
		st = &u->stmt.v[i];
		if (at < f->part1 && i == f->code.v[at])
			add_before(m, 0, at++, 0);
		if (directive && st->kind == ST_DIR && st->dir == DIR_SECTION &&
		    st->section == f->section)
			buf_str(m->out, directive);
		else
			line(m, st);
		if (i == last)
			map_end_block(m, f);
	}
	if (directive) {
		buf_str(m->out, u->section.v[f->section].directive);
		leave_padding(m, f);
	}
}

/* ---- functions with a new layout ---- */

static char *section_directive(struct emitter *m, const char *name, const char *group)
{
	if (group)
		return arena_printf(
		    m->u->mem, "\t.section\t%s,\"axG\",@progbits,%s,comdat\n", name, group);
	return arena_printf(m->u->mem, "\t.section\t%s,\"ax\",@progbits\n", name);
}

static void jump(struct emitter *m, const struct func *f, const char *op, size_t n, uint32_t to)
{
	buf_char(m->out, '\t');
	buf_add(m->out, op, n);
	buf_char(m->out, '\t');
	block_label(m->out, f->pub->ord, &(struct map_block){.id = to});
	buf_char(m->out, '\n');
}

/* The jumps at the end of block id follow from what comes next. */
static void terminate(
    struct emitter *m, const struct func *f, uint32_t id, uint32_t next, uint32_t cfi)
{
	const struct blk *k = &f->blk[id];
	uint32_t on = k->term == TERM_JUMP ? k->target : k->fall, taken = NONE;
	struct layout_jumps to;
	const char *inverse;
	struct str op;

	if (k->term == TERM_INDIRECT || k->term == TERM_END)
		return;
	if (k->term == TERM_COND)
		taken = k->target;
	to = layout_jumps(taken, on, next);
	if (to.cond != NONE) {
		op = m->u->stmt.v[f->code.v[k->jump]].op;
		inverse = insn_inverse(op);
		if (to.inverse)
			op = (struct str){inverse, strlen(inverse)};
		if (detours(m, id))
			buf_printf(
			    m->out, "\t%.*s\t" EMIT_SIDE "\n", (int)op.n, op.p, f->pub->ord, id);
		else
			jump(m, f, op.p, op.n, to.cond);
	}
	add_on_edge(m, id, false, cfi);
	if (to.jump != NONE)
		jump(m, f, "jmp", 3, to.jump);
}

/* A function being printed in its new order. */
struct printing {
	const struct func *f;
	const struct layout *l;
	uint32_t *primary; /* per block: its primary slot */
	uint32_t *copies;  /* per block: how many were printed */
	uint32_t cfi;      /* unwind state in force */
	struct handlers handlers;
	const bool *direct;
	uint32_t call; /* the next of the function's calls */
};

static void labels_between(struct emitter *m, const struct func *f, uint32_t from, uint32_t to)
{
	const struct stmt *st;

	for (; from < to; from++) {
		st = &m->u->stmt.v[f->code.v[from]];
		if (st->kind == ST_LABEL && f->code.v[from] != f->cold_label)
			line(m, st);
	}
}

/* Directives whose position does not matter go before the function. The cold part's type is printed
 * with it. */
static bool hoisted(const struct func *f, const struct stmt *st)
{
	if (st->kind != ST_DIR)
		return false;
	switch (st->dir) {
	case DIR_FILE:
	case DIR_SYMBOL:
	case DIR_SET:
	case DIR_MISC:
	case DIR_SIZE:
		return true;
	case DIR_TYPE:
		return !is_cold_name(operand_at(st->arg, 0), f->name);
	}
	return false;
}

/* A call through the PLT that is to go through the GOT. */
static bool direct_call(struct emitter *m, struct printing *p, uint32_t id, const struct stmt *st)
{
	const struct unit_func *f = p->f->pub;
	struct str name = symbol_of(st->arg);
	const struct unit_call *c;

	if (!p->direct || !str_is((struct str){name.p + name.n, st->arg.n - name.n}, "@PLT"))
		return false;
	while (p->call < f->ncall && f->call[p->call].block == id) {
		c = &f->call[p->call++];
		if (!str_is(name, c->callee))
			continue;
		if (!p->direct[c - f->call] || !(str_is(st->op, "call") || str_is(st->op, "jmp")))
			return false;
		buf_printf(
		    m->out, "\t%.*s\t*%s@GOTPCREL(%%rip)\n", (int)st->op.n, st->op.p, c->callee);
		return true;
	}
	return false;
}

/* The first call at or after block id. */
static uint32_t first_call(const struct unit_func *f, uint32_t id)
{
	uint32_t lo = 0, hi = f->ncall, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (f->call[mid].block < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* For debug information, of the last block. */
static void label_inside(struct emitter *m, const struct func *f, uint32_t at)
{
	if (!m->debug.any)
		return;
	moved_label(f->pub->ord, &m->map.block.v[m->map.block.n - 1], at, m->out);
	buf_str(m->out, ":\n");
}

/* One statement of a block's body. */
static void body_stmt(struct emitter *m, struct printing *p, uint32_t k, uint32_t i, bool *begun)
{
	const struct func *f = p->f;
	const struct stmt *st = &m->u->stmt.v[f->code.v[i]];
	uint32_t id = p->l->order[k];

	if (is_code(st) && i != f->blk[id].jump)
		handlers_at(&p->handlers, i, m->out);
	switch (st->kind) {
	case ST_LABEL:
		if (f->code.v[i] == f->cold_label)
			return;
		if (p->primary[id] == k)
			line(m, st);
		else
			label_inside(m, f, i);
		return;
	case ST_BLANK:
		return;
	case ST_DIR:
		if (hoisted(f, st) || st->dir == DIR_TYPE || (st->dir == DIR_ALIGN && !*begun))
			return;
		if (st->dir == DIR_LOC) {
			debug_emit_loc(st, true, &m->is_stmt, m->out);
			return;
		}
		if (st->dir == DIR_CFI) {
			if (*begun && st->aux != NONE) {
				cfi_delta(m->u, p->cfi, st->aux, m->out);
				p->cfi = st->aux;
			}
			return;
		}
		if (st->dir == DIR_DATA)
			*begun = true;
		break;
	default:
		*begun = true;
	}
	if (i != f->blk[id].jump && !(st->kind == ST_INSN && direct_call(m, p, id, st)))
		line(m, st);
}

/* Padding before a slot that nothing falls into. */
static void align_block(struct emitter *m, const struct func *f, uint32_t align)
{
	map_end_block(m, f);
	buf_printf(m->out, "\t.p2align %u,,%u\n", align, relax_most(align));
}

/* The block at slot k; the primary slot has its labels. */
static void block(struct emitter *m, struct printing *p, uint32_t k)
{
	const struct layout *l = p->l;
	const struct func *f = p->f;
	uint32_t id = l->order[k], i, next;
	const struct blk *b = &f->blk[id];
	bool begun = false;

	if (k && k != l->nhot && l->align && l->align[k])
		align_block(m, f, l->align[k]);
	if (p->primary[id] == k)
		labels_between(m, f, b->lead, b->first);
	map_add(m, f, id, p->primary[id] == k ? 0 : ++p->copies[id]);
	cfi_delta(m->u, p->cfi, b->cfi_in, m->out);
	p->cfi = b->cfi_in;
	if (b->loc != NONE)
		debug_emit_loc(&m->u->stmt.v[b->loc], true, &m->is_stmt, m->out);
	p->call = first_call(f->pub, id);
	for (i = b->first; i < b->last; i++) {
		add_before(m, id, i, p->cfi);
		body_stmt(m, p, k, i, &begun);
	}
	label_inside(m, f, NONE);
	if (b->term == TERM_FALL) { /* what its last instruction did holds for a jump after it */
		cfi_delta(m->u, p->cfi, f->blk[b->fall].cfi_in, m->out);
		p->cfi = f->blk[b->fall].cfi_in;
	}
	if (b->jump != NONE)
		handlers_at(&p->handlers, b->jump, m->out);
	add_before(m, id, i, p->cfi);
	next = layout_runs_on(l, k) ? l->order[k + 1] : NONE;
	terminate(m, f, id, next, p->cfi);
}

/* Prints the function's name with a suffix, quoted where it was. */
static const char *symbol(struct emitter *m, const struct func *f, const char *suffix)
{
	const char *quote = *f->name.p == '"' ? "\"" : "";

	return arena_printf(m->u->mem, "%s%s%s%s", quote, f->pub->name, suffix, quote);
}

static void fragment_begin(
    struct emitter *m, struct printing *p, uint32_t fragment, const char *section)
{
	const struct func *f = p->f;
	const char *group = m->u->section.v[f->section].group;
	const char *cold = symbol(m, f, ".cold");

	buf_str(m->out, section_directive(m, section, group));
	if (!fragment)
		entry_align(m, f);
	else
		buf_printf(m->out, "\t.type\t%s, @function\n%s:\n", cold, cold);
	map_begin(m, f, fragment, section, group);
	if (f->has_cfi)
		buf_str(m->out, "\t.cfi_startproc\n");
	handlers_begin(&p->handlers, f, fragment, m->out);
	p->cfi = 0;
}

static void side_block(struct emitter *m, struct printing *p, uint32_t id)
{
	const struct blk *b = &p->f->blk[id];

	cfi_delta(m->u, p->cfi, b->cfi_out, m->out);
	p->cfi = b->cfi_out;
	buf_printf(m->out, EMIT_SIDE ":\n", p->f->pub->ord, id);
	add_on_edge(m, id, true, p->cfi);
	jump(m, p->f, "jmp", 3, b->target);
}

/* Nothing may be printed of such a block. */
static bool jumps_only(const struct func *f, uint32_t id)
{
	return f->pub->cfg.block[id].insns == (f->blk[id].jump != NONE);
}

static void fragment_end(struct emitter *m, struct printing *p, uint32_t fragment)
{
	const struct layout *l = p->l;
	const struct func *f = p->f;
	const char *name = symbol(m, f, fragment ? ".cold" : "");
	uint32_t first = fragment ? l->nhot : 0, end = fragment ? l->n : l->nhot, k;

	map_end_block(m, f);
	for (k = first; k + 1 < end && jumps_only(f, l->order[k]); k++)
		;
	handlers_end(&p->handlers, m->u, p->primary, k, end, m->out);
	for (k = first; k < end; k++)
		if (detours(m, l->order[k]))
			side_block(m, p, l->order[k]);
	if (f->has_cfi)
		buf_str(m->out, "\t.cfi_endproc\n");
	buf_printf(m->out, "\t.size\t%s, .-%s\n", name, name);
}

static const char *cold_section(struct emitter *m, const struct func *f)
{
	const char *quote = *f->name.p == '"' ? "\"" : "";

	return arena_printf(m->u->mem, "%s.text.unlikely.%s%s", quote, f->pub->name, quote);
}

static const char *sorted_section(struct emitter *m, const struct unit_placement *p)
{
	return arena_printf(m->u->mem, ".text.sorted.%08u", p->rank);
}

/* Is it of the exception table of a function that is printed in another order? */
static bool of_moved_table(const struct emitter *m, const struct stmt *st)
{
	return m->placement && m->u->section.v[st->section].eh_table && st->aux != NONE &&
	       m->placement[st->aux].edit && m->u->func.v[st->aux].blk &&
	       m->u->func.v[st->aux].pub->movable;
}

static void laid_out(struct emitter *m, const struct func *f, const struct unit_placement *p)
{
	const struct layout *l = &p->layout;
	struct printing r = {.f = f, .l = l, .direct = p->direct};
	uint32_t k, section = NONE, d;
	const struct stmt *st;

	for (k = 0; k < f->code.n; k++)
		if (hoisted(f, &m->u->stmt.v[f->code.v[k]]))
			line(m, &m->u->stmt.v[f->code.v[k]]);
	r.primary = arena_array(m->u->mem, f->nblk, sizeof *r.primary);
	r.copies = arena_array(m->u->mem, f->nblk, sizeof *r.copies);
	layout_primary(&f->pub->cfg, l, r.primary);
	fragment_begin(m, &r, 0, sorted_section(m, p));
	for (k = 0; k < l->nhot; k++)
		block(m, &r, k);
	fragment_end(m, &r, 0);
	labels_between(m, f, f->tail[0], f->part1);
	if (cold_follows(f)) /* labels of the end of both */
		labels_between(m, f, f->tail[1], (uint32_t)f->code.n);
	if (l->nhot < l->n) {
		fragment_begin(m, &r, 1, cold_section(m, f));
		for (; k < l->n; k++)
			block(m, &r, k);
		fragment_end(m, &r, 1);
	}
	if (f->part1 < f->code.n && !cold_follows(f))
		labels_between(m, f, f->tail[1], (uint32_t)f->code.n);
	handlers_tables(&r.handlers, m->out);
	for (d = 0; d < f->data.n; d++) {
		st = &m->u->stmt.v[f->data.v[d]];
		if (of_moved_table(m, st))
			continue;
		if (st->section != section)
			buf_str(m->out, m->u->section.v[st->section].directive);
		section = st->section;
		line_outside(m, st);
	}
	buf_str(m->out, m->u->section.v[f->section].directive);
	leave_padding(m, f);
}

static bool any_edit(const struct unit *u, const struct unit_placement *placement)
{
	uint32_t i;

	for (i = 0; placement && i < u->nfunc; i++)
		if (placement[i].edit && u->func[i].movable)
			return true;
	return false;
}

static void function(struct emitter *m, const struct func *f)
{
	const struct unit_placement *p = m->placement ? &m->placement[f->pub->ord] : NULL;
	const char *group = m->u->section.v[f->section].group, *section;
	bool edit = p && p->edit && f->pub->movable;

	if (m->cb)
		m->cb->function(m->cb->arg, f);
	if (edit && f->blk) {
		laid_out(m, f, p);
	} else if (f->blk) {
		stay(m, f);
	} else if (edit) {
		section = sorted_section(m, p);
		whole(m, f, section_directive(m, section, group), section);
	} else {
		whole(m, f, NULL, section_text(m, f->section));
	}
}

/* Is it the size of a cold part that is printed elsewhere? */
static bool of_moved_part(const struct emitter *m, const struct stmt *st)
{
	return m->placement && st->kind == ST_DIR && st->dir == DIR_SIZE && st->aux != NONE &&
	       m->placement[st->aux].edit && m->u->func.v[st->aux].blk;
}

void unit_emit_with(const struct unit *unit, const struct unit_placement *placement, uint64_t tu,
    const struct emit_callbacks *cb, struct buf *out)
{
	struct emitter m = {
	    .u = unit->impl, .placement = placement, .out = out, .is_stmt = true, .cb = cb};
	const struct unit_impl *u = unit->impl;
	uint32_t i;

	if (!cb && !any_edit(unit, placement))
		m.placement = NULL;
	debug_begin(&m.debug, u, m.placement, &m.map);
	for (i = 0; i < u->stmt.n;) {
		if (u->stmt_func[i] != NONE) {
			function(&m, &u->func.v[u->stmt_func[i]]);
			i = u->func.v[u->stmt_func[i]].end;
			continue;
		}
		if (!of_moved_part(&m, &u->stmt.v[i]) && !of_moved_table(&m, &u->stmt.v[i]))
			line_outside(&m, &u->stmt.v[i]);
		i++;
	}
	mapsec_emit(u, tu, &m.map, out);
	debug_end(&m.debug, out);
	if (cb)
		cb->end(cb->arg, out);
	vec_free(&m.map.frag);
	vec_free(&m.map.block);
}

void unit_emit(
    const struct unit *u, const struct unit_placement *placement, uint64_t tu, struct buf *out)
{
	unit_emit_with(u, placement, tu, NULL, out);
}
