/*
 * Inline assembly: whatever follows an #APP, by the author of the program. Most of it leaves the
 * assembler as it found it, and is opaque text within its block. What switches to another section
 * for the text after it is followed; what cannot be followed breaks the account of everything, and
 * the unit is refused.
 */
#include "editor/asm/operand.h"
#include "editor/asm/text.h"

enum { NESTED_MAX = 16 };

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static const char *skip_blanks(const char *p, const char *end)
{
	while (p < end && blank(*p))
		p++;
	return p;
}

/* After a string that begins at p; NULL: it goes on in the next line. */
static const char *string_end(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		p += *p == '\\' && p + 1 < end;
	return p < end ? p + 1 : NULL;
}

static const char *skip_string(const char *p, const char *end)
{
	p = string_end(p, end);
	return p ? p : end;
}

/* Might as see other statements in it than asm_next()? */
static bool doubtful(const char *p, const char *end)
{
	for (; p && p < end && *p != '#'; p = *p == '"' ? string_end(p, end) : p + 1)
		if (*p == '\'' || (*p == '/' && p + 1 < end && p[1] == '*'))
			return true;
	return !p;
}

/* After the first word: a label, directive or mnemonic. */
static const char *skip_word(const char *p, const char *end)
{
	if (p < end && *p == '"')
		return skip_string(p, end);
	while (p < end && !blank(*p) && !strchr(":;#,\"=", *p))
		p++;
	return p;
}

/* At the separator or comment after a statement. */
static const char *skip_statement(const char *p, const char *end)
{
	while (p < end && *p != ';' && *p != '#')
		p = *p == '"' ? skip_string(p, end) : p + 1;
	return p;
}

bool asm_next(const char **p, const char *end, struct stmt *st)
{
	const char *s = *p, *stop, *after;

	for (;;) {
		while (s < end && (blank(*s) || *s == ';'))
			s++;
		if (s >= end || *s == '#')
			return false;
		stop = skip_word(s, end);
		after = skip_blanks(stop, end);
		if (stop == s || after == end || *after != ':')
			break;
		s = after + 1;
	}
	*st = (struct stmt){.kind = ST_ASM, .op = {s, (uint32_t)(stop - s)}};
	*p = stop = skip_statement(stop, end);
	while (stop > after && blank(stop[-1]))
		stop--;
	st->arg = (struct str){after, stop > after ? (uint32_t)(stop - after) : 0};
	return true;
}

int asm_nesting(struct str op)
{
	static const char *const begin[] = {".rept", ".irp", ".irpc", ".macro"};
	static const char *const end[] = {".endif", ".endr", ".endm"};

	if (str_starts(op, ".if") || str_is_any(op, begin, sizeof begin / sizeof *begin))
		return 1;
	return -str_is_any(op, end, sizeof end / sizeof *end);
}

/* ---- registers without '%' ---- */

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.';
}

static bool names_register(struct str s)
{
	const char *p = s.p, *end = p + s.n, *word;

	while (p < end) {
		if (*p == '"') {
			p = skip_string(p, end);
			continue;
		}
		for (word = p; p < end && is_word(*p); p++)
			continue;
		if (p == word)
			p++;
		else if ((word == s.p || word[-1] != '%') &&
			 operand_is_register((struct str){word, (uint32_t)(p - word)}))
			return true;
	}
	return false;
}

/* Whether a compiler's own statements name anything as a register is named. */
static bool compiler_names_register(const struct unit_impl *u)
{
	size_t i;

	for (i = 0; i < u->stmt.n; i++)
		if ((u->stmt.v[i].kind == ST_DIR || u->stmt.v[i].kind == ST_INSN) &&
		    names_register(u->stmt.v[i].arg))
			return true;
	return false;
}

/* ---- what it leaves ---- */

/* Sections by what is known of them: 0 is the one in force at the beginning, others are numbered
 * as they come. */
enum { BEGUN, UNKNOWN = -1 };
/* GIVEN: as it was before, AT&T's with '%', or NAKED by an earlier one. NAKED: AT&T's with or
 * without '%', of which compilers make no use. */
enum syntax { GIVEN, NAKED, INTEL };
struct place {
	int now, previous;
	unsigned pushed;
	enum syntax syntax;
};

struct run {
	struct place at, stack[NESTED_MAX]; /* before each .pushsection */
	struct place outer[NESTED_MAX];     /* before each .if, .rept, .irp */
	unsigned depth, ever;               /* of outer[]; sections so far */
	bool nested, doubt; /* was there any .if; is there what might be a comment */
	bool bare;          /* are there registers without '%' in syntax GIVEN */
	bool aligns;        /* the code at hand, by a directive */
};

static const char changes[] = "inline assembly changes the section";
static const char open_if[] = "inline assembly leaves .if or .rept open";

static const char *switch_to(struct run *r, bool push)
{
	if (push && r->at.pushed == NESTED_MAX)
		return ".pushsection nested too deep";
	if (push) {
		r->stack[r->at.pushed] = r->at;
		r->at.pushed++;
	}
	r->at.previous = r->at.now;
	r->at.now = (int)++r->ever;
	return NULL;
}

static const char *go_back(struct run *r)
{
	int now = r->at.now;

	if (r->at.previous == UNKNOWN)
		return ".previous in inline assembly";
	r->at.now = r->at.previous;
	r->at.previous = now;
	return NULL;
}

static const char *pop(struct run *r)
{
	enum syntax syntax = r->at.syntax;

	if (r->at.pushed <= (r->depth ? r->outer[r->depth - 1].pushed : 0))
		return changes;
	r->at = r->stack[r->at.pushed - 1];
	r->at.syntax = syntax;
	return NULL;
}

/* What may be left out or repeated must end where it began. */
static bool closed(const struct run *r)
{
	const struct place *was = &r->outer[r->depth - 1];

	return r->at.now == was->now && r->at.pushed == was->pushed && r->at.syntax == was->syntax;
}

static const char *nest(struct run *r, struct str op)
{
	r->nested = true;
	if (asm_nesting(op) > 0) {
		if (r->depth == NESTED_MAX)
			return open_if;
		r->outer[r->depth++] = r->at;
	} else {
		if (!r->depth)
			return open_if;
		if (!closed(r))
			return changes;
		r->depth -= !str_starts(op, ".else");
	}
	r->at.previous = UNKNOWN;
	return NULL;
}

/* .align, .balign, .p2align, and those with a letter for the size of what fills the room. */
static bool is_alignment(struct str op)
{
	return str_is(op, ".align") || str_starts(op, ".balign") || str_starts(op, ".p2align");
}

static const char *run_directive(struct unit_impl *u, struct run *r, struct str op, struct str arg)
{
	static const char *const refused[] = {".macro", ".include", ".incbin", ".org", ".altmacro",
	    ".code16", ".code32", ".end", ".bundle_align_mode"};
	static const char *const switches[] = {
	    ".pushsection", ".section", ".text", ".data", ".bss"};

	if (str_is_any(op, refused, sizeof refused / sizeof *refused))
		return arena_printf(u->mem, "%.*s in inline assembly", (int)op.n, op.p);
	if (asm_nesting(op) || str_starts(op, ".else"))
		return nest(r, op);
	r->aligns |= r->at.now == BEGUN && is_alignment(op);
	if (str_is_any(op, switches, sizeof switches / sizeof *switches))
		return switch_to(r, str_is(op, ".pushsection"));
	if (str_is(op, ".previous"))
		return go_back(r);
	if (str_is(op, ".popsection"))
		return pop(r);
	if (str_is(op, ".subsection") && !r->at.pushed)
		return changes;
	if (str_is(op, ".intel_syntax"))
		r->at.syntax = INTEL;
	else if (str_is(op, ".att_syntax"))
		r->at.syntax = str_is(arg, "noprefix") ? NAKED : GIVEN;
	return NULL;
}

static const char *run_stmt(struct unit_impl *u, struct run *r, const struct stmt *st)
{
	char small[24]; /* no directive of interest is longer */
	uint32_t i;

	r->doubt |= *st->op.p == '/';
	r->bare = r->bare || (r->at.syntax == GIVEN && names_register(st->arg));
	if (*st->op.p != '.' || st->op.n > sizeof small)
		return NULL;
	for (i = 0; i < st->op.n; i++) {
		small[i] = st->op.p[i];
		if (small[i] >= 'A' && small[i] <= 'Z') {
			small[i] += 'a' - 'A';
			r->doubt = true; /* what follows the sections reads small letters alone */
		}
	}
	return run_directive(u, r, (struct str){small, st->op.n}, st->arg);
}

static const char *run_line(struct unit_impl *u, struct run *r, const struct stmt *line)
{
	const char *p = line->line.p, *end = p + line->line.n, *why = NULL;
	struct stmt st;

	if (memmem(p, line->line.n, ".LMB", 4) || memmem(p, line->line.n, ".LME", 4))
		return "a block label in inline assembly";
	r->doubt |= doubtful(p, end);
	while (!why && asm_next(&p, end, &st))
		why = run_stmt(u, r, &st);
	return why;
}

static const char *run_end(const struct run *r)
{
	if (r->depth)
		return open_if;
	if (r->at.pushed || (r->doubt && (r->nested || r->ever)))
		return changes;
	return r->at.syntax == INTEL ? ".intel_syntax in inline assembly" : NULL;
}

int asm_check(struct unit_impl *u, struct err *e)
{
	const char *why = NULL;
	bool bare = false;
	size_t i, k, naked = 0;
	struct run r;

	for (i = u->inline_asm.first; i < u->inline_asm.end; i = k + 1) {
		r = (struct run){.at = {.previous = UNKNOWN}};
		for (k = i; !why && k < u->inline_asm.end && u->stmt.v[k].kind == ST_ASM; k++)
			why = run_line(u, &r, &u->stmt.v[k]);
		if (!why)
			why = run_end(&r);
		if (why)
			return err_set(e, "line %zu: %s", k, why);
		for (; i < k; i++) {
			u->stmt.v[i].asm_switches = r.at.now != BEGUN;
			u->stmt.v[i].asm_aligns = r.aligns;
		}
		bare |= r.bare;
		if (r.at.syntax == NAKED)
			naked = k;
	}
	/* Text after it may come before it, and the other way round. */
	if (naked && (bare || compiler_names_register(u)))
		return err_set(e,
		    "line %zu: .att_syntax noprefix in inline assembly, and a symbol named like "
		    "a register",
		    naked);
	return 0;
}
