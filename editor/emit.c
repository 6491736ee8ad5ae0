#include "editor/text.h"

#include "editor/insn.h"

#include <stdio.h>
#include <stdlib.h>

struct emitter {
	const struct unit_impl *u;
	const struct unit_place *place;
	struct buf *out;
	struct map_order map;
	bool is_stmt; /* of the last .loc */
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

/* What is in no block: data, debug information, what stands between functions. */
static void line_outside(struct emitter *m, const struct stmt *st)
{
	if (m->u->section.v[st->section].debug && st->dir != DIR_POP)
		debug_emit(m->u, m->place, &m->map, st, m->out);
	else
		line(m, st);
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

static void map_add(struct emitter *m, uint32_t id)
{
	m->map.frag.v[m->map.frag.n - 1].n++;
	vec_push(&m->map.block, (struct map_block){.id = id});
}

static void map_end_block(struct emitter *m, const struct func *f)
{
	struct map_block *k = &m->map.block.v[m->map.block.n - 1];

	k->ended = true;
	buf_printf(m->out, BLOCK_END ":\n", f->pub->ord, k->id);
}

static const char *section_text(struct emitter *m, uint16_t s)
{
	struct str n = m->u->section.v[s].name;

	return arena_strndup(m->u->mem, n.p, n.n);
}

static void entry_align(struct emitter *m, const struct func *f)
{
	buf_printf(m->out, "\t.p2align\t%u\n", f->align > 4 ? f->align : 4);
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
	uint32_t i, id = 0;
	bool open = false;

	for (i = f->begin; i < f->end; i++) {
		if (id < f->nblk && i == f->code.v[f->blk[id].first]) {
			if (!id || f->blk[id].part != f->blk[id - 1].part) {
				uint16_t s = f->blk[id].part ? f->cold_section : f->section;
				map_begin(m, f, f->blk[id].part, section_text(m, s),
				    u->section.v[s].group);
			}
			buf_printf(m->out, BLOCK_LABEL ":\n", f->pub->ord, id);
			map_add(m, id);
			open = true;
		}
		line(m, &u->stmt.v[i]);
		if (open && i == f->code.v[f->blk[id].last - 1]) {
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
	uint32_t i, last;

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
	buf_printf(m->out, BLOCK_LABEL ":\n", f->pub->ord, 0);
	map_add(m, 0);
	for (i = f->begin; i < f->end; i++) {
		st = &u->stmt.v[i];
		if (directive && st->kind == ST_DIR && st->dir == DIR_SECTION &&
		    st->section == f->section)
			buf_str(m->out, directive);
		else
			line(m, st);
		if (i == last)
			map_end_block(m, f);
	}
	if (directive)
		buf_str(m->out, u->section.v[f->section].directive);
}

/* ---- functions laid out anew ---- */

static char *section_directive(struct emitter *m, const char *name, const char *group)
{
	if (group)
		return arena_printf(
		    m->u->mem, "\t.section\t%s,\"axG\",@progbits,%s,comdat\n", name, group);
	return arena_printf(m->u->mem, "\t.section\t%s,\"ax\",@progbits\n", name);
}

static void jump(struct emitter *m, const struct func *f, const char *op, size_t n, uint32_t to)
{
	buf_printf(m->out, "\t%.*s\t" BLOCK_LABEL "\n", (int)n, op, f->pub->ord, to);
}

/* The jumps at the end of a block follow from what comes next. */
static void terminate(struct emitter *m, const struct func *f, const struct blk *k, uint32_t next)
{
	const struct stmt *st;
	const char *inverse;

	switch (k->term) {
	case TERM_FALL:
		if (k->fall != next)
			jump(m, f, "jmp", 3, k->fall);
		break;
	case TERM_JUMP:
		if (k->target != next)
			jump(m, f, "jmp", 3, k->target);
		break;
	case TERM_COND:
		st = &m->u->stmt.v[f->code.v[k->jump]];
		inverse = insn_inverse(st->op);
		if (k->target == next && k->fall != next) {
			jump(m, f, inverse, strlen(inverse), k->fall);
			break;
		}
		jump(m, f, st->op.p, st->op.n, k->target);
		if (k->fall != next)
			jump(m, f, "jmp", 3, k->fall);
		break;
	case TERM_INDIRECT:
	case TERM_END:
		break;
	}
}

static void labels_between(struct emitter *m, const struct func *f, uint32_t from, uint32_t to)
{
	const struct stmt *st;

	for (; from < to; from++) {
		st = &m->u->stmt.v[f->code.v[from]];
		if (st->kind == ST_LABEL && f->code.v[from] != f->cold_label)
			line(m, st);
	}
}

/* Directives whose place does not matter go in front of the function. The cold
 * part's type is printed with it. */
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

static bool keeps_alignment(const struct func *f, const struct layout *l, uint32_t k)
{
	const struct cfg *g = &f->pub->cfg;
	uint64_t from_above = 0;
	uint32_t i, id = l->order[k], above;

	if (!g->block[id].align || k >= l->nhot || !k)
		return false;
	/* Padding that is run through must pay for itself. */
	above = l->order[k - 1];
	for (i = 0; i < g->nedge; i++)
		if (g->edge[i].src == above && g->edge[i].dst == id)
			from_above += g->edge[i].count;
	return from_above <= g->block[id].count / 4;
}

/* One statement of a block's body; *cfi is the unwind state in force. */
static void body_stmt(struct emitter *m, const struct func *f, const struct blk *k, uint32_t i,
    bool *begun, uint32_t *cfi)
{
	const struct stmt *st = &m->u->stmt.v[f->code.v[i]];

	switch (st->kind) {
	case ST_LABEL:
		if (f->code.v[i] != f->cold_label)
			line(m, st);
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
				cfi_delta(m->u, *cfi, st->aux, m->out);
				*cfi = st->aux;
			}
			return;
		}
		if (st->dir == DIR_DATA)
			*begun = true;
		break;
	default:
		*begun = true;
	}
	if (i != k->jump)
		line(m, st);
}

static void block(
    struct emitter *m, const struct func *f, const struct layout *l, uint32_t k, uint32_t *cfi)
{
	uint32_t id = l->order[k], next = NONE, i, align;
	const struct blk *b = &f->blk[id];
	bool begun = false;

	if (k + 1 < f->nblk && k + 1 != l->nhot)
		next = l->order[k + 1];
	if (keeps_alignment(f, l, k)) {
		map_end_block(m, f);
		align = f->pub->cfg.block[id].align;
		buf_printf(m->out, "\t.p2align %u,,%u\n", align, align > 3 ? (1u << align) - 6 : 7);
	}
	labels_between(m, f, b->lead, b->first);
	buf_printf(m->out, BLOCK_LABEL ":\n", f->pub->ord, id);
	map_add(m, id);
	cfi_delta(m->u, *cfi, b->cfi_in, m->out);
	*cfi = b->cfi_in;
	if (b->loc != NONE)
		debug_emit_loc(&m->u->stmt.v[b->loc], true, &m->is_stmt, m->out);
	for (i = b->first; i < b->last; i++)
		body_stmt(m, f, b, i, &begun, cfi);
	terminate(m, f, b, next);
}

/* Prints the function's name with a suffix, quoted where it was. */
static const char *symbol(struct emitter *m, const struct func *f, const char *suffix)
{
	const char *quote = *f->name.p == '"' ? "\"" : "";

	return arena_printf(m->u->mem, "%s%s%s%s", quote, f->pub->name, suffix, quote);
}

static void fragment_begin(
    struct emitter *m, const struct func *f, uint32_t fragment, const char *section, uint32_t *cfi)
{
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
	*cfi = 0;
}

static void fragment_end(struct emitter *m, const struct func *f, uint32_t fragment)
{
	const char *name = symbol(m, f, fragment ? ".cold" : "");

	map_end_block(m, f);
	if (f->has_cfi)
		buf_str(m->out, "\t.cfi_endproc\n");
	buf_printf(m->out, "\t.size\t%s, .-%s\n", name, name);
}

static const char *cold_section(struct emitter *m, const struct func *f)
{
	const char *quote = *f->name.p == '"' ? "\"" : "";

	return arena_printf(m->u->mem, "%s.text.unlikely.%s%s", quote, f->pub->name, quote);
}

static void laid_out(struct emitter *m, const struct func *f, const struct unit_place *p)
{
	const struct layout *l = &p->layout;
	char *hot = arena_printf(m->u->mem, ".text.sorted.%08u", p->rank);
	uint32_t k, cfi, section = NONE, d;
	bool split = l->nhot < f->nblk;
	const struct stmt *st;

	for (k = 0; k < f->code.n; k++)
		if (hoisted(f, &m->u->stmt.v[f->code.v[k]]))
			line(m, &m->u->stmt.v[f->code.v[k]]);
	fragment_begin(m, f, 0, hot, &cfi);
	for (k = 0; k < l->nhot; k++)
		block(m, f, l, k, &cfi);
	fragment_end(m, f, 0);
	labels_between(m, f, f->tail[0], f->part1);
	if (split) {
		fragment_begin(m, f, 1, cold_section(m, f), &cfi);
		for (; k < f->nblk; k++)
			block(m, f, l, k, &cfi);
		fragment_end(m, f, 1);
	}
	if (f->part1 < f->code.n)
		labels_between(m, f, f->tail[1], (uint32_t)f->code.n);
	for (d = 0; d < f->data.n; d++) {
		st = &m->u->stmt.v[f->data.v[d]];
		if (st->section != section)
			buf_str(m->out, m->u->section.v[st->section].directive);
		section = st->section;
		line_outside(m, st);
	}
	buf_str(m->out, m->u->section.v[f->section].directive);
}

static bool any_edit(const struct unit *u, const struct unit_place *place)
{
	uint32_t i;

	for (i = 0; place && i < u->nfunc; i++)
		if (place[i].edit && u->func[i].movable)
			return true;
	return false;
}

void unit_emit(
    const struct unit *unit, const struct unit_place *place, uint64_t tu, struct buf *out)
{
	struct emitter m = {.u = unit->impl, .place = place, .out = out, .is_stmt = true};
	const struct unit_impl *u = unit->impl;
	const struct stmt *st;
	const struct func *f;
	bool edit;
	uint32_t i;

	if (!any_edit(unit, place))
		m.place = place = NULL;
	for (i = 0; i < u->stmt.n;) {
		st = &u->stmt.v[i];
		if (u->stmt_func[i] == NONE) {
			if (place && st->kind == ST_DIR && st->dir == DIR_SIZE && st->aux != NONE &&
			    place[st->aux].edit && u->func.v[st->aux].blk)
				; /* of a cold part that is printed elsewhere */
			else
				line_outside(&m, st);
			i++;
			continue;
		}
		f = &u->func.v[u->stmt_func[i]];
		edit = place && place[f->pub->ord].edit && f->pub->movable;
		if (edit && f->blk) {
			laid_out(&m, f, &place[f->pub->ord]);
		} else if (f->blk) {
			stay(&m, f);
		} else if (edit) {
			char *s =
			    arena_printf(u->mem, ".text.sorted.%08u", place[f->pub->ord].rank);
			whole(&m, f, section_directive(&m, s, u->section.v[f->section].group), s);
		} else {
			whole(&m, f, NULL, section_text(&m, f->section));
		}
		i = f->end;
	}
	mapsec_emit(u, tu, &m.map, out);
	if (place)
		ranges_emit(u, &m.map, out);
	vec_free(&m.map.frag);
	vec_free(&m.map.block);
}
