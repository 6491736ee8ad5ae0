/*
 * How both texts of the output check are read and compared.
 */
#include "editor/check/check.h"

bool parse_ref(struct str s, const char *prefix, struct block_ref *r)
{
	const char *p = s.p + 4, *end = s.p + s.n;
	uint64_t v[3] = {0, 0, 0};
	int k = 0;

	if (s.n < 7 || !str_starts(s, prefix) || !(*p >= '0' && *p <= '9'))
		return false;
	for (; p < end; p++) {
		if (*p == '.' && k < 2 && p + 1 < end)
			k++;
		else if (*p >= '0' && *p <= '9' && v[k] <= UINT32_MAX)
			v[k] = 10 * v[k] + (uint64_t)(*p - '0');
		else
			return false;
	}
	if (!k || v[0] >= NONE || v[1] >= NONE || v[2] >= NONE)
		return false;
	*r = (struct block_ref){(uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2]};
	return true;
}

bool is_ref(const struct stmt *st, const char *prefix, struct block_ref *r)
{
	return st->kind == ST_LABEL && parse_ref(st->op, prefix, r);
}

int wrong_block(struct checker *c, struct block_ref r, const char *what)
{
	return err_set(c->e, "output check: function %s, block %u: %s",
	    r.func < c->u->func.n ? c->u->func.v[r.func].pub->name : "?", r.id, what);
}

int wrong_line(struct checker *c, size_t i, const char *what)
{
	const struct stmt *st = i < c->out.stmt.n ? &c->out.stmt.v[i] : NULL;

	return err_set(c->e, "output check: line %zu%s%.*s: %s", i + 1, st ? ": " : "",
	    st ? (int)st->line.n : 0, st ? st->line.p : "", what);
}

bool same_stmt(const struct stmt *a, const struct stmt *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == ST_ASM)
		return str_equal(a->line, b->line);
	return str_equal(a->op, b->op) && (a->kind == ST_LABEL || str_equal(a->arg, b->arg));
}

bool is_cfi(const struct stmt *st)
{
	return st->kind == ST_DIR && st->dir == DIR_CFI;
}

const struct section *section_of(const struct unit_impl *u, const struct stmt *st)
{
	return &u->section.v[st->section];
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

bool same_section(const struct section *a, const struct section *b)
{
	return a->plain && b->plain ? str_equal(a->name, b->name)
				    : same_text(a->directive, b->directive);
}

bool section_fits(const struct func *f, const struct section *was, const struct section *s)
{
	if (same_section(was, s))
		return true;
	return f->pub->movable && s->code && same_text(was->group, s->group) &&
	       (str_starts(s->name, ".text.sorted.") || str_starts(s->name, ".text.unlikely."));
}

bool table_fits(const struct section *was, const struct section *s, const char *group)
{
	return same_section(was, s) || (group && !was->group && str_equal(was->name, s->name) &&
					   same_text(s->group, group));
}

/* ---- unwind procedures ---- */

uint32_t proc_owner(struct checker *c, size_t i)
{
	struct block_ref r;

	for (i++; i < c->out.stmt.n; i++) {
		if (is_ref(&c->out.stmt.v[i], ".LMB", &r))
			return r.func < c->u->func.n && c->u->func.v[r.func].blk ? r.func : NONE;
		if (is_code(&c->out.stmt.v[i]) || str_is(c->out.stmt.v[i].op, ".cfi_startproc") ||
		    str_is(c->out.stmt.v[i].op, ".cfi_endproc"))
			break;
	}
	return NONE;
}

int apply_cfi(struct checker *c, const struct stmt *st, uint32_t func)
{
	struct block_ref r = {func, 0};
	const char *why;

	if (str_is(st->op, ".cfi_startproc")) {
		c->cfi = cfi_initial();
		c->stack.n = 0;
		c->in_proc = true;
		c->proc = func;
		handlers_reset(c, (size_t)(st - c->out.stmt.v));
	} else if (str_is(st->op, ".cfi_endproc")) {
		c->in_proc = false;
		c->proc = NONE;
	} else if (c->in_proc && cfi_is_handler(st)) {
		return handlers_apply(c, st, r);
	} else if (c->in_proc) {
		why = cfi_apply(st, &c->cfi, &c->stack);
		if (why)
			return wrong_block(c, r, why);
	}
	return 0;
}
