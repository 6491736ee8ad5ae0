#include "editor/text.h"

#include "editor/insn.h"

#include <stdlib.h>

/* ---- sections ---- */

static struct str unquote(struct str s)
{
	if (s.n >= 2 && s.p[0] == '"' && s.p[s.n - 1] == '"')
		return (struct str){s.p + 1, s.n - 2};
	return s;
}

/* The k-th comma-separated operand, trimmed; n = 0 when there is none. */
static struct str operand_at(struct str arg, unsigned k)
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

/* Full texts of .section directives come first in a unit; a later short form
 * (".section .text.unlikely") means the section declared before. */
static uint16_t section_intern(struct unit_impl *u, struct str name, const struct stmt *st)
{
	struct str flags = unquote(operand_at(st->arg, 1)), group = {"", 0};
	bool full = str_is(st->op, ".section") || str_is(st->op, ".pushsection");
	struct section s = {.name = name};
	unsigned k;
	size_t i;

	if (full && memchr(flags.p, 'G', flags.n)) {
		/* name,flags,type[,entsize],group,comdat */
		for (k = 3; k < 6 && !str_is(operand_at(st->arg, k + 1), "comdat"); k++)
			;
		group = unquote(operand_at(st->arg, k));
	}
	for (i = 0; i < u->section.n; i++) {
		struct section *o = &u->section.v[i];
		if (o->name.n != name.n || memcmp(o->name.p, name.p, name.n))
			continue;
		if (!full || !flags.n ||
		    (o->group ? group.n == strlen(o->group) && !memcmp(o->group, group.p, group.n)
			      : !group.n))
			return (uint16_t)i;
	}
	if (u->section.n >= UINT16_MAX)
		return UINT16_MAX;
	s.directive = full
	    ? arena_printf(u->mem, "\t.section\t%.*s\n", (int)st->arg.n, st->arg.p)
	    : arena_printf(u->mem, "\t%.*s\n", (int)st->op.n, st->op.p);
	s.group = group.n ? arena_strndup(u->mem, group.p, group.n) : NULL;
	s.code = section_is_code(name, full ? flags : (struct str){"", 0});
	s.debug = str_starts(name, ".debug_") || str_starts(name, ".gnu.debug");
	s.eh_table = str_starts(name, ".gcc_except_table");
	vec_push(&u->section, s);
	return (uint16_t)i;
}

static struct str section_name(const struct stmt *st)
{
	if (str_is(st->op, ".section") || str_is(st->op, ".pushsection"))
		return unquote(operand_at(st->arg, 0));
	return st->op; /* .text .data .bss */
}

static int sections_assign(struct unit_impl *u, struct err *e)
{
	uint16_t current = 0, previous = 0, next;
	struct {
		uint16_t current, previous;
	} stack[16];
	unsigned depth = 0;
	struct stmt *st;
	size_t i;
	static const struct stmt text = {.op = {".text", 5}};

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

/* Inline assembly that leaves another section than it found breaks the
 * account of sections. */
static int asm_check_sections(struct unit_impl *u, struct err *e)
{
	static const char *const switches[] = {".section", ".text", ".data", ".bss", ".previous",
		".subsection"};
	struct stmt *st;
	int depth = 0;
	size_t i, k;
	const char *p;
	struct str t;

	for (i = 0; i < u->stmt.n; i++) {
		st = &u->stmt.v[i];
		if (st->kind != ST_ASM)
			continue;
		for (p = st->line.p; token_next(&p, st->line.p + st->line.n, &t);) {
			if (*t.p != '.')
				continue;
			depth += str_is(t, ".pushsection");
			depth -= str_is(t, ".popsection");
			for (k = 0; k < sizeof switches / sizeof switches[0]; k++)
				if (str_is(t, switches[k]) && depth <= 0)
					return err_set(e, "line %zu: %s in inline assembly", i + 1,
					    switches[k]);
			if (str_is(t, ".macro") || str_is(t, ".intel_syntax") || str_is(t, ".include"))
				return err_set(e, "line %zu: %.*s in inline assembly", i + 1,
				    (int)t.n, t.p);
		}
		if (st->app_end && depth)
			return err_set(e, "line %zu: inline assembly changes the section", i + 1);
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
	struct str s = operand_at(st->arg, 0);

	return st->kind == ST_DIR && st->dir == DIR_SIZE && s.n == name.n &&
	    !memcmp(s.p, name.p, name.n);
}

static bool is_cold_name(struct str cold, struct str name)
{
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
			if (!is_cold_name(st->op, f->name) || st->section == f->section)
				return false; /* another function begins inside */
			f->cold_label = i;
			f->cold_section = st->section;
		}
	}
	if (i == u->stmt.n)
		return false;
	f->end = i + 1;
	/* clang closes the unwind procedure behind .size. */
	if (f->end < u->stmt.n && u->stmt.v[f->end].kind == ST_DIR &&
	    str_is(u->stmt.v[f->end].op, ".cfi_endproc"))
		f->end++;
	for (; f->cold_label != NONE && i < u->stmt.n && f->cold_size == NONE; i++)
		if (u->stmt.v[i].kind == ST_DIR && u->stmt.v[i].dir == DIR_SIZE &&
		    is_cold_name(operand_at(u->stmt.v[i].arg, 0), f->name))
			u->stmt.v[f->cold_size = i].aux = (uint32_t)u->func.n;
	return true;
}

static const char *function_sort(struct unit_impl *u, struct func *f)
{
	struct stmt *st;
	uint32_t i;

	for (i = f->begin; i < f->end; i++) {
		st = &u->stmt.v[i];
		if (st->kind == ST_DIR && (st->dir == DIR_SECTION || st->dir == DIR_SIZE))
			continue;
		if (st->kind == ST_DIR && (st->dir == DIR_PUSH || st->dir == DIR_POP))
			return "section stack inside";
		if (f->cold_section && st->section == f->cold_section) {
			if (f->part1 == NONE)
				f->part1 = (uint32_t)f->code.n;
		} else if (st->section != f->section) {
			vec_push(&f->data, i);
			continue;
		} else if (f->part1 != NONE) {
			if (st->kind == ST_INSN || st->kind == ST_LABEL || st->kind == ST_ASM)
				return "code behind its cold part";
			continue;
		}
		vec_push(&f->code, i);
	}
	if (f->part1 == NONE)
		f->part1 = (uint32_t)f->code.n;
	return NULL;
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
		f.unsorted = f.why != NULL;
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
	uint64_t *at = htab_get(&u->label_by_name, name.p, name.n);

	return at ? &u->label.v[*at] : NULL;
}

static int labels_collect(struct unit_impl *u, struct err *e)
{
	struct stmt *st;
	struct func *f;
	uint32_t i, owner;
	uint64_t *at;
	bool fresh;

	for (i = 0; i < u->stmt.n; i++) {
		st = &u->stmt.v[i];
		if (st->kind != ST_LABEL)
			continue;
		at = htab_put(&u->label_by_name, st->op.p, st->op.n, &fresh);
		if (!fresh)
			return err_set(e, "line %u: label %.*s again", i + 1, (int)st->op.n, st->op.p);
		*at = u->label.n;
		owner = u->stmt_func[i];
		f = owner == NONE ? NULL : &u->func.v[owner];
		if (f && st->section != f->section && st->section != f->cold_section)
			owner = NONE;
		vec_push(&u->label,
		    (struct label){.name = st->op, .stmt = i, .func = owner, .block = NONE});
	}
	return 0;
}

static void mark(struct unit_impl *u, struct str text, uint32_t flag)
{
	const char *p = text.p, *end = text.p + text.n;
	struct label *l;
	struct str t;

	while (token_next(&p, end, &t)) {
		if (*t.p >= '0' && *t.p <= '9')
			continue;
		l = label_find(u, t);
		if (l)
			l->flags |= flag;
	}
}

/* A direct jump: its target is entered that way only, when it is local. */
static void mark_insn(struct unit_impl *u, uint32_t i)
{
	struct stmt *st = &u->stmt.v[i];
	struct label *l;
	struct str op;

	switch (insn_classify(st, &op)) {
	case INSN_JMP:
	case INSN_JCC:
		l = label_find(u, op);
		if (l && l->func != NONE)
			l->flags |= l->func == u->stmt_func[i] ? LB_BRANCH : LB_ADDRESS;
		else if (!l)
			mark(u, op, LB_ADDRESS); /* .L3+1 and the like */
		break;
	default:
		if (st->arg.n)
			mark(u, st->arg, LB_ADDRESS);
	}
}

/* The data right behind an indirect jump is its jump table. */
static bool behind_indirect_jump(struct unit_impl *u, uint32_t i)
{
	uint32_t f = u->stmt_func[i];
	struct stmt *st;
	struct str op;

	if (f == NONE)
		return false;
	while (i-- > u->func.v[f].begin) {
		st = &u->stmt.v[i];
		if (st->kind == ST_INSN)
			return insn_classify(st, &op) == INSN_JMP_IND;
		if (st->kind == ST_ASM)
			return false;
	}
	return false;
}

static void mark_data(struct unit_impl *u, uint32_t i, bool *table)
{
	struct stmt *st = &u->stmt.v[i];
	struct label *l;
	uint32_t owner = NONE;
	const char *p = st->arg.p, *end = p + st->arg.n;
	struct str t;

	if (!memchr(p, '.', st->arg.n))
		return;
	while (token_next(&p, end, &t)) {
		if (*t.p >= '0' && *t.p <= '9')
			continue;
		l = label_find(u, t);
		if (!l || l->func == NONE)
			continue;
		l->flags |= *table && l->func == u->stmt_func[i] ? LB_TABLE : LB_ADDRESS;
		if (owner != NONE && memchr(st->arg.p, '-', st->arg.n)) {
			/* A difference of two code labels. */
			u->func.v[owner].one_part = true;
			if (owner != l->func)
				u->func.v[owner].why = u->func.v[l->func].why =
				    "distance to another function";
		}
		owner = l->func;
	}
}

static void labels_mark(struct unit_impl *u)
{
	struct section *s;
	struct stmt *st;
	bool table = false;
	uint32_t i, last_func = NONE;

	for (i = 0; i < u->stmt.n; i++) {
		st = &u->stmt.v[i];
		s = &u->section.v[st->section];
		if (s->debug)
			continue;
		switch (st->kind) {
		case ST_INSN:
			mark_insn(u, i);
			break;
		case ST_ASM:
			mark(u, st->line, LB_ADDRESS);
			break;
		case ST_DIR:
			if (st->dir == DIR_SECTION) {
				table = !s->code && behind_indirect_jump(u, i);
				last_func = u->stmt_func[i];
			} else if (st->dir == DIR_DATA && !s->eh_table) {
				if (u->stmt_func[i] != last_func)
					table = false;
				mark_data(u, i, &table);
			} else if (st->dir == DIR_SET) {
				mark(u, st->arg, LB_ADDRESS);
			}
			break;
		}
	}
}

static void flag_labels(struct unit_impl *u, struct func *f, uint32_t from, uint32_t to, uint32_t flag)
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

	for (i = 0; i < u->section.n; i++)
		if (str_starts(u->section.v[i].name, ".gnu.lto_"))
			return "LTO object: code is made at link time";
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
		pub->name = arena_strndup(u->mem, f->name.p, f->name.n);
		pub->ord = (uint32_t)i;
		pub->opaque = f->why;
		pub->one_part = f->one_part;
		pub->movable = !f->unsorted && section_movable(&u->section.v[f->section]);
		pub->impl = f;
	}
	for (i = 0; i < u->stmt.n; i++) {
		struct label *l;
		st = &u->stmt.v[i];
		if (st->kind != ST_DIR || st->dir != DIR_SYMBOL ||
		    !(str_is(st->op, ".globl") || str_is(st->op, ".global") || str_is(st->op, ".weak")))
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
	if (unit_scan(u, text, n, e) || sections_assign(u, e) || asm_check_sections(u, e))
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
	if (labels_collect(u, e))
		goto fail;
	unit->func = arena_array(a, u->func.n, sizeof *unit->func);
	labels_mark(u);
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
	for (i = 0; i < u->func.n; i++)
		unit->func[i].key = func_key(u, &u->func.v[i]);
	return unit;
fail:
	impl_free(u);
	return NULL;
}
