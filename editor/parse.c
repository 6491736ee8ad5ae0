#include "editor/text.h"

#include "editor/insn.h"

#include <stdlib.h>

/* ---- sections ---- */

struct str unquote(struct str s)
{
	if (s.n >= 2 && s.p[0] == '"' && s.p[s.n - 1] == '"')
		return (struct str){s.p + 1, s.n - 2};
	return s;
}

struct str operand_at(struct str arg, unsigned k)
{
	const char *p = arg.p, *end = arg.p + arg.n, *start;
	bool quoted = false;

	for (;; p++) {
		while (p < end && (*p == ' ' || *p == '\t'))
			p++;
		for (start = p; p < end && (quoted || *p != ','); p++)
			if (*p == '"')
				quoted = !quoted;
		if (k-- == 0)
			break;
		if (p >= end)
			return (struct str){end, 0};
	}
	while (p > start && (p[-1] == ' ' || p[-1] == '\t'))
		p--;
	return (struct str){start, (uint32_t)(p - start)};
}

static bool section_is_code(struct str name, struct str flags)
{
	if (flags.n)
		return memchr(flags.p, 'x', flags.n) != NULL;
	return str_is(name, ".text") || str_starts(name, ".text.") || str_is(name, ".init") ||
	       str_is(name, ".fini");
}

/* A section is its directive's whole text: the same name may stand for many
 * (COMDAT groups, unique, linked-to). The short form, which GCC prints from the
 * second time on, means the first of that name without a group. */
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

/* Inline assembly that leaves another section than it found, or that decides
 * about the text behind it, breaks the account of everything. */
static bool one_of(struct str s, const char *const *names, size_t n)
{
	while (n-- > 0)
		if (str_is(s, names[n]))
			return true;
	return false;
}

static int asm_check(struct unit_impl *u, struct err *e)
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

	for (i = 0; i < u->stmt.n; i++) {
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
				one_of(t, switches, sizeof switches / sizeof *switches)) ||
			    one_of(t, refused, sizeof refused / sizeof *refused) ||
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

/* ---- functions ---- */

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

/* Statements from the label at `begin` to behind the .size directive. False
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
			if (!is_cold_name(st->op, f->name) || st->section == f->section ||
			    !u->section.v[st->section].code || f->cold_label != NONE)
				return false; /* another function begins inside */
			f->cold_label = i;
			f->cold_section = st->section;
		}
	}
	if (i == u->stmt.n)
		return false;
	f->end_size = i;
	f->end = i + 1;
	/* clang closes the unwind procedure behind .size. */
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

/* What stands in front of a function: its alignment, or code that belongs to
 * it although its symbol comes later (patchable entries, prefix data). */
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

/* Does it stand for bytes, or for something that is not known? */
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

static const char *function_sort(struct unit_impl *u, struct func *f)
{
	struct stmt *st;
	uint32_t i;

	for (i = f->begin; i < f->end; i++) {
		st = &u->stmt.v[i];
		if (st->kind == ST_DIR && (st->dir == DIR_SECTION || own_size(f, st)))
			continue;
		if (st->kind == ST_DIR && (st->dir == DIR_PUSH || st->dir == DIR_POP))
			return "section stack inside";
		if (f->cold_label != NONE && st->section == f->cold_section) {
			if (f->part1 == NONE)
				f->part1 = (uint32_t)f->code.n;
		} else if (st->section != f->section) {
			if (makes_code(u, st))
				return "code in a third section";
			vec_push(&f->data, i);
			continue;
		} else if (f->part1 != NONE && makes_code(u, st)) {
			return "code behind its cold part";
		}
		vec_push(&f->code, i);
	}
	if (f->part1 == NONE)
		f->part1 = (uint32_t)f->code.n;
	return u->stmt.v[f->end - 1].section == f->section ? NULL : "ends in another section";
}

bool refers_to_here(const struct stmt *st)
{
	const char *p = st->arg.p;
	struct str t;

	while (token_next(&p, st->arg.p + st->arg.n, &t))
		if (str_is(t, "."))
			return true;
	return false;
}

/* Code outside of functions must not mark its place: functions around it move. */
static int places_check(const struct unit_impl *u, struct err *e)
{
	const struct stmt *st;
	size_t i;

	for (i = 0; i < u->stmt.n; i++) {
		st = &u->stmt.v[i];
		if (st->kind == ST_DIR && st->dir == DIR_SET && u->stmt_func[i] == NONE &&
		    u->section.v[st->section].code && refers_to_here(st))
			return err_set(e, "line %zu: a symbol that is set to its place", i + 1);
	}
	return 0;
}

/* Each unwind procedure lies in one function, or in none. */
static int procedures_check(const struct unit_impl *u, struct err *e)
{
	const struct stmt *st;
	bool open = false;
	size_t i;

	for (i = 0; i < u->stmt.n; i++) {
		st = &u->stmt.v[i];
		if (open && (i == 0 || u->stmt_func[i] != u->stmt_func[i - 1]))
			return err_set(
			    e, "line %zu: a function's bound inside an unwind procedure", i + 1);
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

/* ---- labels and who refers to them ---- */

struct label *label_find(const struct unit_impl *u, struct str name)
{
	uint64_t *at;

	name = unquote(name);
	at = htab_get(&u->label_by_name, name.p, name.n);
	return at ? &u->label.v[*at] : NULL;
}

static int labels_collect(struct unit_impl *u, struct err *e)
{
	struct stmt *st;
	struct func *f;
	uint32_t i, owner;
	struct str name;
	uint64_t *at;
	bool fresh;

	for (i = 0; i < u->stmt.n; i++) {
		st = &u->stmt.v[i];
		if (st->kind != ST_LABEL || (*st->op.p >= '0' && *st->op.p <= '9'))
			continue;
		if (str_starts(st->op, ".LMB") || str_starts(st->op, ".LME") ||
		    str_starts(st->op, ".LMR"))
			return err_set(e, "line %u: has block labels already", i + 1);
		name = unquote(st->op);
		at = htab_put(&u->label_by_name, name.p, name.n, &fresh);
		if (!fresh)
			return err_set(
			    e, "line %u: label %.*s again", i + 1, (int)st->op.n, st->op.p);
		*at = u->label.n;
		owner = u->stmt_func[i];
		f = owner == NONE ? NULL : &u->func.v[owner];
		if (f && st->section != f->section &&
		    (f->cold_label == NONE || st->section != f->cold_section))
			owner = NONE;
		vec_push(&u->label,
		    (struct label){.name = st->op, .stmt = i, .func = owner, .block = NONE});
	}
	return 0;
}

/* Printing calls a function's cold part NAME.cold. Where that means something
 * else already, the function stays in one part. */
static void cold_names_taken(struct unit_impl *u)
{
	const struct stmt *st;
	const struct label *l;
	const char *p, *end;
	struct func *f;
	struct str t;
	size_t i;

	for (i = 0; i < u->stmt.n; i++) {
		st = &u->stmt.v[i];
		p = st->line.p;
		end = p + st->line.n;
		if (st->kind == ST_BLANK || !memmem(p, st->line.n, ".cold", 5))
			continue;
		while (token_next(&p, end, &t)) {
			if (t.n <= 5 || memcmp(t.p + t.n - 5, ".cold", 5))
				continue;
			t.n -= 5;
			l = label_find(u, t);
			f = l && l->func != NONE ? &u->func.v[l->func] : NULL;
			if (f && f->begin == l->stmt && f->cold_label == NONE)
				f->one_part = true;
		}
	}
}

/* Where functions lie relative to each other, or to other code, is fixed. */
static void pin(struct unit_impl *u, uint32_t func)
{
	struct func *f;

	if (func == NONE)
		return;
	f = &u->func.v[func];
	f->pinned = true;
	if (!f->why)
		f->why = "distance to other code";
}

/* Marks the code labels of one expression. A difference of two in a function
 * holds that together; of others, it holds them in their places. */
static void mark_expr(struct unit_impl *u, struct str text, uint32_t owner, uint32_t how)
{
	const char *p = text.p, *end = text.p + text.n;
	bool difference = memchr(text.p, '-', text.n) != NULL, first = true;
	uint32_t func = NONE;
	struct label *l;
	struct str t;

	while (token_next(&p, end, &t)) {
		l = *t.p >= '0' && *t.p <= '9' ? NULL : label_find(u, t);
		if (!l || (l->func == NONE && !u->section.v[u->stmt.v[l->stmt].section].code))
			continue;
		l->flags |= how == LB_TABLE && l->func != owner ? LB_ADDRESS : how;
		if (difference && !first) {
			if (func != NONE && func == l->func) {
				u->func.v[func].one_part = true;
			} else {
				pin(u, func);
				pin(u, l->func);
			}
		}
		func = l->func;
		first = false;
	}
}

static void mark_operands(struct unit_impl *u, struct str arg, uint32_t owner, uint32_t how)
{
	const char *p = arg.p, *end = p + arg.n, *comma;

	if (!arg.n)
		return;
	for (; p < end; p = comma + 1) {
		comma = memchr(p, ',', (size_t)(end - p));
		if (!comma)
			comma = end;
		mark_expr(u, (struct str){p, (uint32_t)(comma - p)}, owner, how);
	}
}

/* All tokens of a line of inline assembly; a distance holds its function together. */
static void mark_asm(struct unit_impl *u, struct str line)
{
	const char *p = line.p, *end = line.p + line.n;
	struct label *l;
	struct str t;

	while (token_next(&p, end, &t)) {
		l = *t.p == '.' ? label_find(u, t) : NULL;
		if (!l)
			continue;
		l->flags |= LB_ADDRESS | LB_OPEN;
		if (l->func != NONE && memchr(line.p, '-', line.n))
			u->func.v[l->func].one_part = true;
	}
}

/* A direct jump: its target is entered that way only, when it is local. */
static void mark_insn(struct unit_impl *u, uint32_t i, enum insn_class class, struct str op)
{
	struct label *l;

	l = class == INSN_JMP || class == INSN_JCC ? label_find(u, op) : NULL;
	if (l && l->func != NONE)
		l->flags |= l->func == u->stmt_func[i] ? LB_BRANCH : LB_ADDRESS | LB_OPEN;
	else if (!l)
		mark_operands(u, u->stmt.v[i].arg, NONE, LB_ADDRESS | LB_OPEN);
}

/* Data right behind an indirect jump, of the same function, is its jump table. */
static void labels_mark(struct unit_impl *u)
{
	uint32_t i, self, jumped = NONE, table = NONE;
	enum insn_class class;
	struct section *s;
	struct stmt *st;
	struct str op;

	for (i = 0; i < u->stmt.n; i++) {
		st = &u->stmt.v[i];
		s = &u->section.v[st->section];
		self = u->stmt_func[i];
		if (s->debug)
			continue;
		switch (st->kind) {
		case ST_INSN:
			class = insn_classify(st, &op);
			mark_insn(u, i, class, op);
			jumped = class == INSN_JMP_IND ? self : NONE;
			break;
		case ST_ASM:
			mark_asm(u, st->line);
			jumped = NONE;
			break;
		case ST_DIR:
			if (st->dir == DIR_SECTION)
				table = s->code ? NONE : jumped;
			else if (st->dir == DIR_DATA && !s->eh_table)
				mark_operands(u, st->arg, self,
				    table != NONE && table == self ? LB_TABLE : LB_ADDRESS);
			else if (st->dir == DIR_SET)
				mark_operands(u, st->arg, NONE, LB_ADDRESS | LB_OPEN);
			break;
		}
	}
}

static void flag_labels(
    struct unit_impl *u, struct func *f, uint32_t from, uint32_t to, uint32_t flag)
{
	struct stmt *st;

	for (; from < to; from++) {
		st = &u->stmt.v[f->code.v[from]];
		if (st->kind == ST_LABEL)
			label_find(u, st->op)->flags |= flag;
	}
}

/* Debug information may keep distances between a function's two ends. */
static void labels_of_ends(struct unit_impl *u, struct func *f)
{
	uint32_t i;

	if (!f->blk)
		return;
	for (i = 0; i < f->part1 && u->stmt.v[f->code.v[i]].kind != ST_INSN; i++)
		;
	flag_labels(u, f, 0, i, LB_START);
	flag_labels(u, f, f->tail[0], f->part1, LB_END);
}

/* ---- the unit ---- */

static bool find_line(const struct unit_impl *u, uint8_t dir, struct str *arg)
{
	size_t i;

	for (i = 0; i < u->stmt.n; i++) {
		if (u->stmt.v[i].kind != ST_DIR || u->stmt.v[i].dir != dir)
			continue;
		*arg = unquote(u->stmt.v[i].arg);
		return true;
	}
	return false;
}

static const char *refuse(const struct unit_impl *u)
{
	size_t i;

	for (i = 0; i < u->section.n; i++) {
		if (str_starts(u->section.v[i].name, ".gnu.lto_"))
			return "LTO object: code is made at link time";
		if (own_section(u->section.v[i].name))
			return "has a block map already";
		if (str_is(u->section.v[i].name, ".eh_frame"))
			return "unwind tables without CFI directives";
	}
	for (i = 0; i < u->stmt.n; i++)
		if (u->stmt.v[i].kind == ST_DIR && u->stmt.v[i].dir == DIR_IDENT)
			return NULL;
	return "no .ident of a compiler: hand-written assembly";
}

/* Functions may leave sections that GNU ld gathers by name into .text, but
 * only ones that nobody addresses by section. */
static bool section_movable(const struct section *s)
{
	return str_is(s->name, ".text") || str_starts(s->name, ".text.");
}

static void publish_functions(struct unit_impl *u)
{
	struct unit_func *pub;
	struct stmt *st;
	struct func *f;
	size_t i;

	u->pub->nfunc = (uint32_t)u->func.n;
	for (i = 0; i < u->func.n; i++) {
		f = &u->func.v[i];
		pub = f->pub;
		pub->name = arena_strndup(u->mem, unquote(f->name).p, unquote(f->name).n);
		pub->ord = (uint32_t)i;
		pub->opaque = f->why;
		pub->one_part = f->one_part;
		pub->movable =
		    !f->unsorted && !f->pinned && section_movable(&u->section.v[f->section]);
		pub->impl = f;
	}
	for (i = 0; i < u->stmt.n; i++) {
		struct label *l;
		st = &u->stmt.v[i];
		if (st->kind != ST_DIR || st->dir != DIR_SYMBOL ||
		    !(str_is(st->op, ".globl") || str_is(st->op, ".global") ||
			str_is(st->op, ".weak")))
			continue;
		l = label_find(u, st->arg);
		if (l && l->func != NONE)
			u->func.v[l->func].pub->global = true;
	}
}

static void impl_free(struct unit_impl *u)
{
	size_t i;

	for (i = 0; i < u->func.n; i++) {
		vec_free(&u->func.v[i].code);
		vec_free(&u->func.v[i].data);
		free(u->func.v[i].blk);
	}
	vec_free(&u->stmt);
	vec_free(&u->section);
	vec_free(&u->label);
	vec_free(&u->func);
	vec_free(&u->cfi);
	htab_free(&u->label_by_name);
	htab_free(&u->section_by_name);
	htab_free(&u->section_by_text);
}

void unit_free(struct unit *unit)
{
	if (unit)
		impl_free(unit->impl);
}

struct unit *unit_parse(struct arena *a, const char *text, size_t n, struct err *e)
{
	struct unit *unit = arena_alloc(a, sizeof *unit);
	struct unit_impl *u = arena_alloc(a, sizeof *u);
	struct str name = {"", 0}, producer = {"", 0};
	const char *why;
	struct func *f;
	size_t i;

	unit->impl = u;
	u->pub = unit;
	u->mem = a;
	vec_push(&u->cfi, cfi_initial());
	if (unit_scan(u, text, n, e) || unit_sections(u, e) || asm_check(u, e))
		goto fail;
	why = refuse(u);
	if (why) {
		err_set(e, "%s", why);
		goto fail;
	}
	find_line(u, DIR_FILE, &name);
	find_line(u, DIR_IDENT, &producer);
	unit->name = arena_strndup(a, name.p, name.n);
	unit->producer = arena_strndup(a, producer.p, producer.n);
	u->stmt_func = arena_array(a, u->stmt.n, sizeof *u->stmt_func);
	memset(u->stmt_func, 0xff, u->stmt.n * sizeof *u->stmt_func);
	functions_find(u);
	if (procedures_check(u, e) || places_check(u, e) || labels_collect(u, e))
		goto fail;
	unit->func = arena_array(a, u->func.n, sizeof *unit->func);
	cold_names_taken(u);
	labels_mark(u);
	debug_follow_locs(u);
	debug_find_pairs(u);
	ranges_find(u);
	for (i = 0; i < u->func.n; i++) {
		f = &u->func.v[i];
		f->pub = &unit->func[i];
		if (!f->why)
			f->why = blocks_build(u, f);
		if (f->why)
			blocks_opaque(u, f);
		labels_of_ends(u, f);
	}
	publish_functions(u);
	for (i = 0; i < u->func.n; i++) {
		unit->func[i].key = func_key(u, &u->func.v[i]);
		tabled_jumps(u, &u->func.v[i]);
	}
	return unit;
fail:
	impl_free(u);
	return NULL;
}
