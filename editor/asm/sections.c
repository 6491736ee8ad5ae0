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

int unit_sections(struct unit_impl *u, struct err *e)
{
	uint16_t current = 0, previous = 0, next;
	struct {
		uint16_t current, previous;
	} stack[16];
	unsigned depth = 0;
	struct stmt *st;
	size_t i;
	static const struct stmt text = {.op = {".text", 5}, .arg = {"", 0}};

	section_intern(u, text.op, &text);
	for (i = 0; i < u->stmt.n; i++) {
		st = &u->stmt.v[i];
		st->section = current;
		if (st->kind != ST_DIR)
			continue;
		next = current;
		switch (st->dir) {
		case DIR_PUSH:
			if (depth == sizeof stack / sizeof stack[0])
				return err_set(e, "line %zu: .pushsection nested too deep", i + 1);
			stack[depth].current = current;
			stack[depth++].previous = previous;
			/* fall through */
		case DIR_SECTION:
			if (*st->op.p == '.' && st->arg.n && st->arg.p[0] >= '0' &&
			    st->arg.p[0] <= '9')
				return err_set(e, "line %zu: subsection", i + 1);
			next = section_intern(u, section_name(st), st);
			if (next == UINT16_MAX)
				return err_set(e, "line %zu: too many sections", i + 1);
			previous = current;
			break;
		case DIR_POP:
			if (str_is(st->op, ".previous")) {
				next = previous;
				previous = current;
			} else if (!depth) {
				return err_set(e, "line %zu: .popsection alone", i + 1);
			} else {
				next = stack[--depth].current;
				previous = stack[depth].previous;
			}
			break;
		}
		current = next;
		st->section = current;
	}
	return depth ? err_set(e, ".pushsection without .popsection") : 0;
}

int asm_check(struct unit_impl *u, struct err *e)
{
	static const char *const switches[] = {
	    ".section", ".text", ".data", ".bss", ".previous", ".subsection"};
	static const char *const refused[] = {".macro", ".intel_syntax", ".include", ".incbin",
	    ".org", ".altmacro", ".code16", ".code32", ".end", ".bundle_align_mode"};
	struct stmt *st;
	int depth = 0, open = 0;
	const char *p;
	struct str t;
	size_t i;

	for (i = u->inline_asm.first; i < u->inline_asm.end; i++) {
		st = &u->stmt.v[i];
		if (st->kind != ST_ASM)
			continue;
		for (p = st->line.p; token_next(&p, st->line.p + st->line.n, &t);) {
			if (*t.p != '.')
				continue;
			depth += str_is(t, ".pushsection");
			depth -= str_is(t, ".popsection");
			open += str_starts(t, ".if") || str_is(t, ".rept") || str_starts(t, ".irp");
			open -= str_is(t, ".endif") || str_is(t, ".endr");
			if ((depth <= 0 &&
				str_is_any(t, switches, sizeof switches / sizeof *switches)) ||
			    str_is_any(t, refused, sizeof refused / sizeof *refused) ||
			    str_starts(t, ".LMB") || str_starts(t, ".LME"))
				return err_set(
				    e, "line %zu: %.*s in inline assembly", i + 1, (int)t.n, t.p);
		}
		if (st->app_end && depth)
			return err_set(e, "line %zu: inline assembly changes the section", i + 1);
		if (st->app_end && open)
			return err_set(
			    e, "line %zu: inline assembly leaves .if or .rept open", i + 1);
	}
	return 0;
}
