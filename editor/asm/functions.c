/*
 * Where functions begin and end, and what of them is code: from the label whose
 * type is a function's up to its .size, GCC's cold part included.
 */
#include "editor/asm/text.h"

static bool typed_function(const struct stmt *st)
{
	struct str type = operand_at(st->arg, 1);

	return str_is(type, "@function") || str_is(type, "%function") ||
	       str_is(type, "\"function\"") || str_is(type, "STT_FUNC");
}

static bool size_of(const struct stmt *st, struct str name)
{
	struct str s;

	if (st->kind != ST_DIR || st->dir != DIR_SIZE)
		return false;
	s = operand_at(st->arg, 0);
	return s.n == name.n && !memcmp(s.p, name.p, name.n);
}

bool size_to_end(struct str size, struct str name)
{
	const char *minus = memchr(size.p, '-', size.n);
	uint32_t head = minus ? (uint32_t)(minus - size.p) : 0;

	if (!minus || size.n - head - 1 != name.n || memcmp(minus + 1, name.p, name.n))
		return false;
	return (head == 1 && *size.p == '.') || (head > 2 && str_starts(size, ".L"));
}

bool is_cold_name(struct str cold, struct str name)
{
	cold = unquote(cold);
	name = unquote(name);
	return cold.n == name.n + 5 && !memcmp(cold.p, name.p, name.n) &&
	       !memcmp(cold.p + name.n, ".cold", 5);
}

/* Statements from the label at `begin` to after the .size directive. False
 * when there is no such end. */
static bool function_collect(struct unit_impl *u, struct func *f, const struct htab *typed)
{
	struct stmt *st;
	uint32_t i;

	f->section = u->stmt.v[f->begin].section;
	f->cold_label = f->cold_size = NONE;
	f->part1 = NONE;
	for (i = f->begin; i < u->stmt.n; i++) {
		st = &u->stmt.v[i];
		if (size_of(st, f->name))
			break;
		if (st->kind == ST_LABEL && i != f->begin && htab_get(typed, st->op.p, st->op.n)) {
			if (!is_cold_name(st->op, f->name) || !u->section.v[st->section].code ||
			    f->cold_label != NONE)
				return false; /* another function begins inside */
			f->cold_label = i;
			f->cold_section = st->section;
		}
	}
	if (i == u->stmt.n)
		return false;
	f->end_size = i;
	f->end = i + 1;
	/* clang closes the unwind procedure after .size. */
	if (f->end < u->stmt.n && u->stmt.v[f->end].kind == ST_DIR &&
	    str_is(u->stmt.v[f->end].op, ".cfi_endproc"))
		f->end++;
	for (; f->cold_label != NONE && i < u->stmt.n && f->cold_size == NONE; i++) {
		st = &u->stmt.v[i];
		if (st->kind == ST_INSN || st->kind == ST_ASM)
			break;
		if (st->kind == ST_DIR && st->dir == DIR_SIZE &&
		    is_cold_name(operand_at(st->arg, 0), f->name)) {
			f->cold_size = i;
			st->aux = (uint32_t)u->func.n;
		}
	}
	return true;
}

/* What precedes a function: its alignment, or code that belongs to it although its symbol comes
 * later (patchable entries, prefix data). */
static void function_front(struct unit_impl *u, struct func *f)
{
	const struct stmt *st;
	uint32_t i, v;

	for (i = f->begin; i-- > 0 && u->stmt_func[i] == NONE;) {
		st = &u->stmt.v[i];
		if (st->section != f->section || st->kind == ST_ASM)
			return;
		if (st->kind == ST_INSN || (st->kind == ST_DIR && st->dir == DIR_DATA)) {
			f->pinned = true;
			return;
		}
		if (st->kind == ST_DIR && st->dir == DIR_SECTION)
			return;
		if (st->kind == ST_DIR && st->dir == DIR_ALIGN) {
			v = align_log2(st);
			f->align = v > f->align ? v : f->align;
		}
	}
}

bool own_size(const struct func *f, const struct stmt *st)
{
	return st->kind == ST_DIR && st->dir == DIR_SIZE &&
	       (size_of(st, f->name) || is_cold_name(operand_at(st->arg, 0), f->name));
}

/* Does it emit bytes, or something unknown? */
static bool makes_code(const struct unit_impl *u, const struct stmt *st)
{
	bool code = u->section.v[st->section].code;

	switch (st->kind) {
	case ST_INSN:
	case ST_ASM:
		return true;
	case ST_LABEL:
		return code;
	case ST_DIR:
		return st->dir == DIR_CFI ||
		       (code && (st->dir == DIR_DATA || st->dir == DIR_UNKNOWN));
	}
	return false;
}

bool cold_follows(const struct func *f)
{
	return f->part1 < f->code.n && f->cold_section == f->section;
}

/* The first statement of a cold part in the section of the hot one: after the last code, or its
 * unwind procedure. */
static uint32_t cold_begin(const struct unit_impl *u, const struct func *f)
{
	const struct stmt *st;
	uint32_t i = f->cold_label;

	for (; i - 1 > f->begin; i--) {
		st = &u->stmt.v[i - 1];
		if (st->section != f->section || is_code(st) || str_is(st->op, ".cfi_endproc"))
			break;
	}
	return i;
}

static const char *function_sort(struct unit_impl *u, struct func *f)
{
	uint32_t i, cold = 0;
	struct stmt *st;

	if (f->cold_label != NONE && f->cold_section == f->section)
		cold = cold_begin(u, f);
	vec_reserve(&f->code, f->end - f->begin);
	for (i = f->begin; i < f->end; i++) {
		st = &u->stmt.v[i];
		if (st->kind == ST_DIR && (st->dir == DIR_SECTION || own_size(f, st)))
			continue;
		if (st->kind == ST_DIR && (st->dir == DIR_PUSH || st->dir == DIR_POP))
			return "section stack inside";
		if (st->asm_switches)
			return "inline assembly changes the section";
		if (st->asm_aligns) { /* padding is other bytes elsewhere */
			f->pinned = true;
			return "inline assembly aligns its code";
		}
		if (f->cold_label != NONE && st->section == f->cold_section && i >= cold) {
			if (f->part1 == NONE)
				f->part1 = (uint32_t)f->code.n;
		} else if (st->section != f->section) {
			if (makes_code(u, st))
				return "code in a third section";
			vec_push(&f->data, i);
			continue;
		} else if (f->part1 != NONE && makes_code(u, st)) {
			return "code after its cold part";
		}
		vec_push(&f->code, i);
	}
	if (f->part1 == NONE)
		f->part1 = (uint32_t)f->code.n;
	return u->stmt.v[f->end - 1].section == f->section ? NULL : "ends in another section";
}

static void functions_find(struct unit_impl *u)
{
	struct htab typed = {0};
	struct stmt *st;
	struct func f;
	uint32_t i, k;

	for (i = 0; i < u->stmt.n; i++) {
		st = &u->stmt.v[i];
		if (st->kind == ST_DIR && st->dir == DIR_TYPE && typed_function(st))
			htab_put(&typed, operand_at(st->arg, 0).p, operand_at(st->arg, 0).n, NULL);
	}
	for (i = 0; i < u->stmt.n; i++) {
		st = &u->stmt.v[i];
		if (st->kind != ST_LABEL || !u->section.v[st->section].code ||
		    !htab_get(&typed, st->op.p, st->op.n))
			continue;
		f = (struct func){.name = st->op, .begin = i};
		/* Without an end there is nothing to move: it stays plain text. */
		if (!function_collect(u, &f, &typed))
			continue;
		if (!f.why)
			f.why = function_sort(u, &f);
		if (!f.why && !size_to_end(operand_at(u->stmt.v[f.end_size].arg, 1), f.name))
			f.why = "its size is not up to its end";
		f.unsorted = f.why != NULL;
		function_front(u, &f);
		vec_push(&u->func, f);
		for (k = f.begin; k < f.end; k++)
			u->stmt_func[k] = (uint32_t)u->func.n - 1;
		i = f.end - 1;
	}
	htab_free(&typed);
}

/* Code outside of functions must not mark its place: functions around it move. */
static int places_check(const struct unit_impl *u, struct err *e)
{
	const struct stmt *st;
	size_t i;

	for (i = u->dir[DIR_SET].first; i < u->dir[DIR_SET].end; i++) {
		st = &u->stmt.v[i];
		if (st->kind == ST_DIR && st->dir == DIR_SET && u->stmt_func[i] == NONE &&
		    u->section.v[st->section].code && refers_to_here(st))
			return err_set(e, "line %zu: a symbol that is set to its place", i + 1);
	}
	return 0;
}

static void keep_in_place(struct unit_impl *u, uint32_t func)
{
	struct func *f = func == NONE ? NULL : &u->func.v[func];

	if (!f)
		return;
	f->unsorted = true;
	if (!f->why)
		f->why = "its bound is inside an unwind procedure";
}

/* Each unwind procedure lies in one function, or in none; else all of them stay where they are. */
static int procedures_check(struct unit_impl *u, struct err *e)
{
	const struct stmt *st;
	bool open = false;
	size_t i;

	for (i = 0; i < u->stmt.n; i++) {
		st = &u->stmt.v[i];
		if (open && u->stmt_func[i] != u->stmt_func[i - 1]) {
			keep_in_place(u, u->stmt_func[i - 1]);
			keep_in_place(u, u->stmt_func[i]);
		}
		if (st->kind != ST_DIR || st->dir != DIR_CFI)
			continue;
		if (open && str_is(st->op, ".cfi_startproc"))
			return err_set(e, "line %zu: nested unwind procedure", i + 1);
		if (str_is(st->op, ".cfi_startproc"))
			open = true;
		else if (str_is(st->op, ".cfi_endproc"))
			open = false;
	}
	return open ? err_set(e, "unwind procedure without an end") : 0;
}

int unit_functions(struct unit_impl *u, struct err *e)
{
	u->stmt_func = arena_array(u->mem, u->stmt.n, sizeof *u->stmt_func);
	memset(u->stmt_func, 0xff, u->stmt.n * sizeof *u->stmt_func);
	functions_find(u);
	return procedures_check(u, e) || places_check(u, e) ? -1 : 0;
}
