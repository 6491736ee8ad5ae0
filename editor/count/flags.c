/*
 * Liveness of the arithmetic flags at the heads of blocks: a comparison and its jumps may lie in
 * different blocks.
 */
#include "editor/count/counters.h"
#include "editor/asm/insn.h"

static enum insn_flags stmt_flags(const struct stmt *st)
{
	switch (st->kind) {
	case ST_INSN:
		return insn_flags(st);
	case ST_ASM:
		return FLAGS_USE; /* not looked into */
	case ST_DIR:
		return st->dir == DIR_DATA ? FLAGS_USE : FLAGS_KEEP;
	}
	return FLAGS_KEEP;
}

/* The effect of block k on the flags. */
static enum insn_flags block_flags(
    const struct unit_impl *u, const struct func *f, const struct blk *k)
{
	enum insn_flags does;
	uint32_t i;

	for (i = k->first; i < k->last; i++) {
		does = stmt_flags(&u->stmt.v[f->code.v[i]]);
		if (does != FLAGS_KEEP)
			return does;
	}
	return k->term == TERM_END ? FLAGS_SET : FLAGS_KEEP;
}

uint8_t *flags_live(const struct unit_impl *u, const struct func *f, struct arena *a)
{
	uint8_t *live = arena_array(a, f->nblk, 1), *keeps = arena_array(a, f->nblk, 1);
	const struct cfg *g = &f->pub->cfg;
	enum insn_flags does;
	bool changed = true;
	uint32_t i;

	for (i = 0; i < f->nblk; i++) {
		does = block_flags(u, f, &f->blk[i]);
		live[i] = does == FLAGS_USE;
		keeps[i] = does == FLAGS_KEEP;
	}
	while (changed)
		for (changed = false, i = g->nedge; i-- > 0;)
			if (live[g->edge[i].dst] && keeps[g->edge[i].src] && !live[g->edge[i].src])
				live[g->edge[i].src] = changed = true;
	return live;
}
