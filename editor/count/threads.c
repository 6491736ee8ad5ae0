/*
 * Where a thread may enter a unit: every function except local ones (not .globl) that are only
 * called by name, from counted functions. Threads start elsewhere (the C library calls a pointer it
 * was given), so any thread in a counted function came through a marked one.
 */
#include "editor/count/counters.h"
#include "editor/asm/insn.h"

static bool names_function(const struct unit_impl *u, const struct label *l)
{
	const struct func *f;

	if (!l || l->func == NONE)
		return false;
	f = &u->func.v[l->func];
	return !f->blk || l->flags & LB_START || !str_starts(l->name, ".L");
}

static struct probes *probes_at(struct probes *const *probes, uint32_t func)
{
	return func == NONE ? NULL : probes[func];
}

/* A call or jump by name, by a function that has counters? */
static bool counted_call(const struct unit_impl *u, struct probes *const *probes, uint32_t i)
{
	const struct stmt *st = &u->stmt.v[i];
	enum insn_class class;
	struct str to;

	if (st->kind != ST_INSN || !probes_at(probes, u->stmt_func[i]))
		return false;
	class = insn_classify(st, &to);
	return (class == INSN_CALL || class == INSN_JMP || class == INSN_JCC ||
		   class == INSN_SHORT) &&
	       label_find(u, unquote(symbol_of(to)));
}

static bool says_nothing(const struct unit_impl *u, const struct stmt *st)
{
	if (st->kind == ST_BLANK || st->kind == ST_LABEL)
		return true;
	if (st->kind != ST_DIR)
		return false;
	return st->dir == DIR_TYPE || st->dir == DIR_SIZE || st->dir == DIR_CFI ||
	       (st->dir == DIR_DATA && u->section.v[st->section].debug);
}

/* Not one token, as token_next() reads them. */
static bool odd_name(struct str name)
{
	return *name.p == '"' || *name.p == '$';
}

void entries_mark(const struct unit_impl *u, struct probes *const *probes)
{
	const struct stmt *st;
	const struct label *l;
	struct probes *p;
	const char *at;
	struct str t;
	uint32_t i;

	for (i = 0; i < u->func.n; i++)
		if (probes[i])
			probes[i]->entered = odd_name(u->func.v[i].name);
	for (i = 0; i < u->stmt.n; i++) {
		st = &u->stmt.v[i];
		if (says_nothing(u, st) || counted_call(u, probes, i))
			continue;
		for (at = st->line.p; token_next(&at, st->line.p + st->line.n, &t);) {
			l = label_find(u, t);
			p = names_function(u, l) ? probes_at(probes, l->func) : NULL;
			if (p)
				p->entered = true;
		}
	}
}
