/*
 * Which section each statement is in.
 */
#include "editor/asm/text.h"

static bool section_is_code(struct str name, struct str flags)
{
	if (flags.n)
		return memchr(flags.p, 'x', flags.n) != NULL;
	return str_is(name, ".text") || str_starts(name, ".text.") || str_is(name, ".init") ||
	       str_is(name, ".fini");
}

/* A section is its directive's whole text: one name may denote several (COMDAT groups, unique,
 * linked-to). The short form, which GCC prints from the second time on, means the first of that
 * name without a group. */
static uint16_t section_intern(struct unit_impl *u, struct str name, const struct stmt *st)
{
	bool full = str_is(st->op, ".section") || str_is(st->op, ".pushsection"), fresh = true;
	struct str text = full ? st->arg : st->op, flags = {"", 0}, group = {"", 0};
	struct section s = {.name = name};
	uint64_t *at, *by_name;
	unsigned k;

	if (full)
		flags = unquote(operand_at(st->arg, 1));
	s.plain = !flags.n;
	at = flags.n ? htab_put(&u->section_by_text, text.p, text.n, &fresh)
		     : htab_put(&u->section_by_name, name.p, name.n, &fresh);
	if (!fresh)
		return (uint16_t)*at;
	if (u->section.n == UINT16_MAX)
		return UINT16_MAX;
	*at = u->section.n;
	if (memchr(flags.p, 'G', flags.n)) {
		/* name,flags,type[,entsize],group,comdat */
		for (k = 3; k < 6 && !str_is(operand_at(st->arg, k + 1), "comdat"); k++)
			;
		group = operand_at(st->arg, k);
	} else if (flags.n) {
		by_name = htab_put(&u->section_by_name, name.p, name.n, &fresh);
		if (fresh)
			*by_name = u->section.n;
	}
	s.directive =
	    arena_printf(u->mem, full ? "\t.section\t%.*s\n" : "\t%.*s\n", (int)text.n, text.p);
	s.group = group.n ? arena_strndup(u->mem, group.p, group.n) : NULL;
	s.debug = str_starts(name, ".debug_") || str_starts(name, ".gnu.debug");
	s.code = !s.debug && section_is_code(name, flags);
	s.eh_table = str_starts(name, ".gcc_except_table");
	s.linked = memchr(flags.p, 'o', flags.n) != NULL;
	vec_push(&u->section, s);
	return (uint16_t)(u->section.n - 1);
}

static struct str section_name(const struct stmt *st)
{
	if (str_is(st->op, ".section") || str_is(st->op, ".pushsection"))
		return unquote(operand_at(st->arg, 0));
	return st->op; /* .text .data .bss */
}

struct sections {
	uint16_t now, previous;
	unsigned depth;
	struct {
		uint16_t now, previous;
	} stack[16];
};

static const char *switch_to(struct unit_impl *u, struct sections *c, const struct stmt *st)
{
	uint16_t to;

	if (*st->op.p == '.' && st->arg.n && st->arg.p[0] >= '0' && st->arg.p[0] <= '9')
		return "subsection";
	to = section_intern(u, section_name(st), st);
	if (to == UINT16_MAX)
		return "too many sections";
	c->previous = c->now;
	c->now = to;
	return NULL;
}

/* What a statement does, if it is a directive of sections; NULL or why it cannot be followed. */
static const char *follow(struct unit_impl *u, struct sections *c, const struct stmt *st)
{
	uint16_t now = c->now;

	switch (st->dir) {
	case DIR_PUSH:
		if (c->depth == sizeof c->stack / sizeof c->stack[0])
			return ".pushsection nested too deep";
		c->stack[c->depth].now = c->now;
		c->stack[c->depth++].previous = c->previous;
		/* fall through */
	case DIR_SECTION:
		return switch_to(u, c, st);
	case DIR_POP:
		if (str_is(st->op, ".previous")) {
			c->now = c->previous;
			c->previous = now;
			return NULL;
		}
		if (!c->depth)
			return ".popsection alone";
		c->now = c->stack[--c->depth].now;
		c->previous = c->stack[c->depth].previous;
	}
	return NULL;
}

/* Of a line of inline assembly that switches sections. What is in .if or .rept ends where it began.
 */
static const char *follow_asm(
    struct unit_impl *u, struct sections *c, const struct stmt *line, int *nested)
{
	const char *p = line->line.p, *why = NULL;
	struct stmt st;

	while (!why && asm_next(&p, line->line.p + line->line.n, &st)) {
		*nested += asm_nesting(st.op);
		st.dir = (uint8_t)dir_kind(st.op);
		if (!*nested)
			why = follow(u, c, &st);
	}
	return why;
}

int unit_sections(struct unit_impl *u, struct err *e)
{
	static const struct stmt text = {.op = {".text", 5}, .arg = {"", 0}};
	struct sections c = {.depth = 0};
	const char *why = NULL;
	struct stmt *st;
	int nested = 0;
	size_t i;

	if (asm_check(u, e))
		return -1;
	section_intern(u, text.op, &text);
	for (i = 0; i < u->stmt.n; i++) {
		st = &u->stmt.v[i];
		if (st->kind == ST_DIR)
			why = follow(u, &c, st);
		else if (st->asm_switches)
			why = follow_asm(u, &c, st, &nested);
		if (why)
			return err_set(e, "line %zu: %s", i + 1, why);
		st->section = c.now;
	}
	return c.depth ? err_set(e, ".pushsection without .popsection") : 0;
}
