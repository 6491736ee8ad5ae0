/*
 * Labels and their references: by a jump, by a jump table, or otherwise, and then what binds code
 * together or to its position.
 */
#include "editor/asm/insn.h"
#include "editor/asm/text.h"

struct label *label_find(const struct unit_impl *u, struct str name)
{
	uint64_t *at;

	name = unquote(name);
	at = htab_get(&u->label_by_name, name.p, name.n);
	return at ? &u->label.v[*at] : NULL;
}

static int labels_collect(struct unit_impl *u, struct err *e)
{
	static const char *const own[] = {
	    ".LMB", ".LMC", ".LMD", ".LME", ".LMF", ".LMG", ".LML", ".LMR", ".LMT", ".LMX"};
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
		if (str_starts(st->op, ".LM") &&
		    str_starts_any(st->op, own, sizeof own / sizeof *own))
			return err_set(e, "line %u: has block labels already", i + 1);
		name = unquote(st->op);
		at = htab_put(&u->label_by_name, name.p, name.n, &fresh);
		if (!fresh)
			return err_set(
			    e, "line %u: label %.*s again", i + 1, (int)st->op.n, st->op.p);
		*at = u->label.n;
		st->label = (uint32_t)u->label.n;
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

static const char WORD[] = "got.";

/* ".set .LTHUNK0,name": GCC's thunks jump there. And ".set got.name,image+0x3fd8". */
static void aliases_collect(struct unit_impl *u)
{
	const struct stmt *st;
	uint64_t *at;
	uint32_t i;
	bool fresh;

	for (i = u->dir[DIR_SET].first; i < u->dir[DIR_SET].end; i++) {
		st = &u->stmt.v[i];
		if (st->kind != ST_DIR || !str_is(st->op, ".set") ||
		    (!str_starts(st->arg, ".L") && !str_starts(st->arg, WORD)))
			continue;
		at = htab_put(&u->alias, st->arg.p, operand_at(st->arg, 0).n, &fresh);
		*at = fresh ? i : NONE;
	}
}

struct str alias_target(const struct unit_impl *u, struct str name)
{
	const uint64_t *at = htab_get(&u->alias, name.p, name.n);

	return at && *at != NONE ? operand_at(u->stmt.v[*at].arg, 1) : (struct str){"", 0};
}

bool has_word(const struct unit_impl *u, struct str name)
{
	const char *word;

	if (!u->alias.n)
		return false;
	word = arena_printf(u->mem, "%s%.*s", WORD, (int)name.n, name.p);
	return alias_target(u, (struct str){word, (uint32_t)strlen(word)}).n != 0;
}

static const char *find_cold(const char *p, const char *end)
{
	const char *at = memmem(p, (size_t)(end - p), ".cold", 5);

	return at ? at : end;
}

/* Printing calls a function's cold part NAME.cold. Where that means something
 * else already, the function stays in one part. */
static void cold_names_taken(struct unit_impl *u)
{
	struct str last = u->stmt.n ? u->stmt.v[u->stmt.n - 1].line : (struct str){"", 0};
	const char *p, *end, *cold = NULL;
	const struct stmt *st;
	const struct label *l;
	struct func *f;
	struct str t;
	size_t i;

	for (i = 0; i < u->stmt.n; i++) {
		st = &u->stmt.v[i];
		p = st->line.p;
		end = p + st->line.n;
		if (!cold || cold < p)
			cold = find_cold(p, last.p + last.n);
		if (st->kind == ST_BLANK || cold >= end)
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

/* The next token in text that is no number and no register; moves *p after it. */
static bool name_next(const char **p, struct str text, struct str *t)
{
	while (token_next(p, text.p + text.n, t))
		if ((*t->p < '0' || *t->p > '9') && (t->p == text.p || t->p[-1] != '%'))
			return true;
	return false;
}

/* Marks the code labels of one expression. A difference of two labels of one function binds it
 * together; other differences fix the positions of their functions. */
static void mark_expr(struct unit_impl *u, struct str text, uint32_t owner, uint32_t how)
{
	const char *p = text.p;
	bool difference = memchr(text.p, '-', text.n) != NULL, first = true;
	uint32_t func = NONE;
	struct label *l;
	struct str t;

	while (name_next(&p, text, &t)) {
		l = label_find(u, t);
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
	struct str t;

	if (!name_next(&p, arg, &t))
		return;
	for (p = arg.p; p < end; p = comma + 1) {
		comma = memchr(p, ',', (size_t)(end - p));
		if (!comma)
			comma = end;
		mark_expr(u, (struct str){p, (uint32_t)(comma - p)}, owner, how);
	}
}

/* All tokens of a line of inline assembly; a distance binds its function together, and a function
 * of which there is more than the name to its place. */
static void mark_asm(struct unit_impl *u, struct str line)
{
	const char *p = line.p, *end = line.p + line.n;
	struct label *l;
	struct str t;

	while (token_next(&p, end, &t)) {
		l = label_find(u, t);
		if (!l)
			continue;
		if (*t.p != '.') {
			if ((p < end && (*p == '-' || *p == '+')) ||
			    (t.p > line.p && t.p[-1] == '-'))
				pin(u, l->func);
			continue;
		}
		l->flags |= LB_ADDRESS | LB_OPEN;
		if (l->func != NONE && memchr(line.p, '-', line.n))
			u->func.v[l->func].one_part = true;
	}
}

/* A direct jump: its target is entered only by jumps, when it is local. */
static void mark_insn(struct unit_impl *u, uint32_t i, enum insn_class class, struct str op)
{
	struct label *l;

	l = class == INSN_JMP || class == INSN_JCC ? label_find(u, op) : NULL;
	if (l)
		u->stmt.v[i].label = (uint32_t)(l - u->label.v);
	if (l && l->func != NONE)
		l->flags |= l->func == u->stmt_func[i] ? LB_BRANCH : LB_ADDRESS | LB_OPEN;
	else if (!l)
		mark_operands(u, u->stmt.v[i].arg, NONE, LB_ADDRESS | LB_OPEN);
}

/* Data right after an indirect jump, of the same function, is its jump table. */
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

int unit_labels(struct unit_impl *u, struct err *e)
{
	if (labels_collect(u, e))
		return -1;
	aliases_collect(u);
	cold_names_taken(u);
	labels_mark(u);
	return 0;
}

static void flag_labels(
    struct unit_impl *u, struct func *f, uint32_t from, uint32_t to, uint32_t flag)
{
	struct stmt *st;

	for (; from < to; from++) {
		st = &u->stmt.v[f->code.v[from]];
		if (st->kind == ST_LABEL)
			label_of(u, st)->flags |= flag;
	}
}

void labels_of_ends(struct unit_impl *u, struct func *f)
{
	uint32_t i;

	if (!f->blk)
		return;
	for (i = 0; i < f->part1 && u->stmt.v[f->code.v[i]].kind != ST_INSN; i++)
		;
	flag_labels(u, f, 0, i, LB_START);
	flag_labels(u, f, f->tail[0], f->part1, LB_END);
	if (cold_follows(f))
		flag_labels(u, f, f->tail[1], (uint32_t)f->code.n, LB_END);
}
