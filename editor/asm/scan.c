#include "editor/asm/text.h"

#include <stdlib.h>

struct dir_name {
	const char *name;
	uint8_t kind;
};

/* Sorted, for bsearch. */
static const struct dir_name dirs[] = {
    {".addrsig", DIR_MISC},
    {".addrsig_sym", DIR_MISC},
    {".align", DIR_ALIGN},
    {".altmacro", DIR_REFUSE},
    {".ascii", DIR_DATA},
    {".asciz", DIR_DATA},
    {".attach_to_group", DIR_REFUSE},
    {".balign", DIR_ALIGN},
    {".base64", DIR_DATA},
    {".bss", DIR_SECTION},
    {".bundle_align_mode", DIR_REFUSE},
    {".byte", DIR_DATA},
    {".code16", DIR_REFUSE},
    {".code32", DIR_REFUSE},
    {".comm", DIR_MISC},
    {".data", DIR_SECTION},
    {".double", DIR_DATA},
    {".else", DIR_REFUSE},
    {".end", DIR_REFUSE},
    {".endif", DIR_REFUSE},
    {".endm", DIR_REFUSE},
    {".equ", DIR_SET},
    {".equiv", DIR_SET},
    {".file", DIR_FILE},
    {".fill", DIR_DATA},
    {".float", DIR_DATA},
    {".global", DIR_SYMBOL},
    {".globl", DIR_SYMBOL},
    {".hidden", DIR_SYMBOL},
    {".hword", DIR_DATA},
    {".ident", DIR_IDENT},
    {".if", DIR_REFUSE},
    {".ifdef", DIR_REFUSE},
    {".ifndef", DIR_REFUSE},
    {".incbin", DIR_REFUSE},
    {".include", DIR_REFUSE},
    {".int", DIR_DATA},
    {".intel_syntax", DIR_REFUSE},
    {".internal", DIR_SYMBOL},
    {".irp", DIR_REFUSE},
    {".irpc", DIR_REFUSE},
    {".largecomm", DIR_MISC},
    {".lcomm", DIR_MISC},
    {".loc", DIR_LOC},
    {".local", DIR_SYMBOL},
    {".long", DIR_DATA},
    {".macro", DIR_REFUSE},
    {".nop", DIR_DATA},
    {".nops", DIR_DATA},
    {".octa", DIR_DATA},
    {".offset", DIR_REFUSE},
    {".org", DIR_REFUSE},
    {".p2align", DIR_ALIGN},
    {".popsection", DIR_POP},
    {".previous", DIR_POP},
    {".protected", DIR_SYMBOL},
    {".pushsection", DIR_PUSH},
    {".quad", DIR_DATA},
    {".reloc", DIR_REFUSE},
    {".rept", DIR_REFUSE},
    {".rva", DIR_DATA},
    {".section", DIR_SECTION},
    {".set", DIR_SET},
    {".short", DIR_DATA},
    {".single", DIR_DATA},
    {".size", DIR_SIZE},
    {".skip", DIR_DATA},
    {".sleb128", DIR_DATA},
    {".space", DIR_DATA},
    {".stays", DIR_STAYS},
    {".string", DIR_DATA},
    {".struct", DIR_REFUSE},
    {".subsection", DIR_REFUSE},
    {".symver", DIR_SYMBOL},
    {".text", DIR_SECTION},
    {".tfloat", DIR_DATA},
    {".type", DIR_TYPE},
    {".uleb128", DIR_DATA},
    {".value", DIR_DATA},
    {".weak", DIR_SYMBOL},
    {".weakref", DIR_SYMBOL},
    {".word", DIR_DATA},
    {".zero", DIR_DATA},
};

static int dir_compare(const void *key, const void *elem)
{
	const struct str *k = key;
	const struct dir_name *d = elem;
	int c = strncmp(k->p, d->name, k->n);

	return c ? c : (d->name[k->n] ? -1 : 0);
}

enum dir_kind dir_kind(struct str op)
{
	const struct dir_name *d;

	if (str_starts(op, ".cfi_"))
		return DIR_CFI;
	d = bsearch(&op, dirs, sizeof dirs / sizeof dirs[0], sizeof dirs[0], dir_compare);
	return d ? (enum dir_kind)d->kind : DIR_UNKNOWN;
}

static bool symbol_char(char c)
{
	static const bool is[256] = {['a' ... 'z'] = true,
	    ['A' ... 'Z'] = true,
	    ['0' ... '9'] = true,
	    ['.'] = true,
	    ['_'] = true,
	    ['$'] = true,
	    [0x80 ... 0xff] = true};

	return is[(unsigned char)c];
}

bool token_next(const char **p, const char *end, struct str *token)
{
	const char *s = *p;

	while (s < end && (!symbol_char(*s) || *s == '$'))
		s++;
	token->p = s;
	while (s < end && symbol_char(*s))
		s++;
	token->n = (uint32_t)(s - token->p);
	*p = s;
	return token->n > 0;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

enum { HASH, SEMICOLON, SLASH, NUL, ODD_CHARS };
static const char odd[ODD_CHARS] = {'#', ';', '/', '\0'};

/* Positions of the next special characters: they are on few lines, and are searched in the whole
 * text. */
struct scanner {
	const char *end;
	const char *next[ODD_CHARS]; /* NULL: not searched yet; end: there is none */
};

/* Is there a special character between s and end? Lines must be queried in order. */
static bool has(struct scanner *c, int which, const char *s, const char *end)
{
	const char **next = &c->next[which];

	if (!*next || *next < s) {
		*next = memchr(s, odd[which], (size_t)(c->end - s));
		*next = *next ? *next : c->end;
	}
	return *next < end;
}

/* The statement without a trailing '#' comment; '#' inside strings stays. */
static const char *comment_start(struct scanner *c, const char *s, const char *end)
{
	bool quoted = false;

	if (!has(c, HASH, s, end))
		return end;
	if (!memchr(s, '"', (size_t)(c->next[HASH] - s)))
		return c->next[HASH];
	for (; s < end; s++) {
		if (*s == '\\' && quoted)
			s++;
		else if (*s == '"')
			quoted = !quoted;
		else if (*s == '#' && !quoted)
			return s;
	}
	return end;
}

/* A second statement or a comment of C's kind on the line. */
static bool crowded(struct scanner *c, const char *s, const char *end)
{
	bool quoted = false;

	if (!has(c, SEMICOLON, s, end) && !has(c, SLASH, s, end))
		return false;
	for (; s < end; s++) {
		if (*s == '\\' && quoted)
			s++;
		else if (*s == '"')
			quoted = !quoted;
		else if (!quoted && (*s == ';' || (*s == '/' && s + 1 < end && s[1] == '*')))
			return true;
	}
	return false;
}

/* False when the line is none that a compiler prints. */
static bool classify(struct scanner *c, struct stmt *st, const char *s, const char *end)
{
	const char *p;

	end = comment_start(c, s, end);
	while (end > s && blank(end[-1]))
		end--;
	if (s == end) {
		st->kind = ST_BLANK;
		return true;
	}
	if (*s == '"') { /* a quoted label */
		for (p = s + 1; p < end && *p != '"'; p++)
			;
		p += p < end;
	} else {
		for (p = s; p < end && symbol_char(*p); p++)
			;
	}
	st->op = (struct str){s, (uint32_t)(p - s)};
	if (p + 1 == end && *p == ':') {
		st->kind = ST_LABEL;
		return true;
	}
	st->kind = *s == '.' ? ST_DIR : ST_INSN;
	while (p < end && blank(*p))
		p++;
	st->arg = (struct str){p, (uint32_t)(end - p)};
	if (st->kind == ST_DIR)
		st->dir = dir_kind(st->op);
	if (p < end && *p == '=') { /* newer clang's "alias = function" */
		if (st->kind == ST_DIR && st->dir != DIR_UNKNOWN)
			return false; /* a symbol that is called as a directive */
		st->kind = ST_DIR;
		st->dir = DIR_SET;
	}
	/* "1: call mcount" is GCC's -pg; nobody refers to that label. */
	if (p < end && *p == ':' && !(*s >= '0' && *s <= '9'))
		return false;
	/* clang's comments may hold a NUL; what counts may not. */
	return !has(c, NUL, s, end) && !crowded(c, s, end);
}

/* GCC's line before an inline assembly ("# 12 "file.c" 1") and after it
 * ("# 0 "" 2"); what follows the latter is the compiler's again. */
static bool asm_marker(const char *p, const char *nl)
{
	if (nl - p < 3 || p[0] != '#' || p[1] != ' ')
		return false;
	for (p += 2; p < nl && *p >= '0' && *p <= '9'; p++)
		;
	return nl - p >= 2 && p[0] == ' ' && p[1] == '"';
}

/* Is it clang's comment at file-scope assembly? */
static bool file_scope(const char *p, const char *nl, const char *which)
{
	static const char rest[] = " of file scope inline assembly";
	size_t n = strlen(which);

	return (size_t)(nl - p) == n + sizeof rest - 1 && !memcmp(p, which, n) &&
	       !memcmp(p + n, rest, sizeof rest - 1);
}

uint32_t align_log2(const struct stmt *st)
{
	uint32_t v = 0, log = 0, i;

	for (i = 0; i < st->arg.n && i < 8 && st->arg.p[i] >= '0' && st->arg.p[i] <= '9'; i++)
		v = 10 * v + (uint32_t)(st->arg.p[i] - '0');

	if (str_is(st->op, ".p2align"))
		return v < 12 ? v : 0;
	while (log < 12 && (1u << log) < v)
		log++;
	return log;
}

static void extend_range(struct stmt_range *s, size_t stmt)
{
	if (!s->end)
		s->first = (uint32_t)stmt;
	s->end = (uint32_t)stmt + 1;
}

static size_t lines_of(const char *s, const char *end)
{
	size_t n = 0;

	for (; s < end; s++, n++) {
		s = memchr(s, '\n', (size_t)(end - s));
		if (!s)
			return n + 1;
	}
	return n;
}

static bool prints_data(const char *s, const char *end)
{
	/* By how often they occur. */
	static const char *const word[] = {"byte", "uleb128", "long", "quad", "string", "value",
	    "sleb128", "ascii", "short", "asciz"};
	size_t i, n;

	if (end - s < 2 || s[0] != '\t' || s[1] != '.')
		return false;
	for (s += 2, i = 0; i < sizeof word / sizeof *word; i++) {
		n = strlen(word[i]);
		if (*s == *word[i] && (size_t)(end - s) > n && !memcmp(s, word[i], n) &&
		    blank(s[n]))
			return true;
	}
	return false;
}

/* The end of the lines of data and labels that begin at s: one statement a line, as compilers print
 * them, else s itself. */
static const char *data_end(struct scanner *c, const char *s)
{
	const char *at = s, *nl;

	for (; at < c->end; at = nl + 1) {
		nl = memchr(at, '\n', (size_t)(c->end - at));
		if (!nl || !(prints_data(at, nl) ||
			       (nl - at > 2 && at[0] == '.' && at[1] == 'L' && nl[-1] == ':')))
			break;
	}
	return at > s && !has(c, SEMICOLON, s, at) && !has(c, NUL, s, at) &&
		       !memmem(s, (size_t)(at - s), "/*", 2)
		   ? at
		   : s;
}

int unit_scan(struct unit_impl *u, const char *text, size_t n, bool debug, struct err *e)
{
	const char *s = text, *end = text + n, *nl, *p;
	struct scanner c = {.end = end};
	bool in_asm = false, body = false;
	struct stmt st;

	if (n > UINT32_MAX / 2)
		return err_set(e, "assembly text of %zu bytes is too large", n);
	u->stmt.cap = lines_of(s, end);
	u->stmt.v = xmalloc_large(u->stmt.cap, sizeof *u->stmt.v);
	for (; s < end; s = nl + 1) {
		nl = memchr(s, '\n', (size_t)(end - s));
		if (!nl)
			nl = end;
		st = (struct stmt){.line = {s, (uint32_t)(nl - s)},
		    .op = {nl, 0},
		    .arg = {nl, 0},
		    .aux = NONE,
		    .label = NONE};
		for (p = s; p < nl && blank(*p); p++)
			;
		if (p < nl && *p == '#') {
			st.app_begin =
			    (nl - p >= 4 && !memcmp(p, "#APP", 4)) || file_scope(p, nl, "# Start");
			st.app_end =
			    (nl - p >= 7 && !memcmp(p, "#NO_APP", 7)) || file_scope(p, nl, "# End");
		}
		if (st.app_begin)
			in_asm = body = true;
		if (in_asm && asm_marker(p, nl))
			body = true;
		if (in_asm && (body || st.app_end))
			st.kind = ST_ASM;
		else if (!classify(&c, &st, p, nl))
			return err_set(
			    e, "line %zu: not the form of compiler output", lines_of(text, s) + 1);
		if (body && nl - p == 8 && !memcmp(p, "# 0 \"\" 2", 8))
			body = false;
		if (st.app_end)
			in_asm = false;
		if (st.kind == ST_DIR && st.dir == DIR_REFUSE)
			return err_set(e, "line %zu: directive %.*s", lines_of(text, s) + 1,
			    (int)st.op.n, st.op.p);
		if (st.kind == ST_DIR)
			extend_range(&u->dir[st.dir], u->stmt.n);
		else if (st.kind == ST_ASM)
			extend_range(&u->inline_asm, u->stmt.n);
		vec_push(&u->stmt, st);
		if (debug || st.kind != ST_DIR || st.dir != DIR_SECTION ||
		    !str_starts(st.arg, ".debug_") || nl == end)
			continue;
		p = data_end(&c, nl + 1);
		if (p == nl + 1)
			continue;
		st = (struct stmt){.line = {nl + 1, (uint32_t)(p - nl - 2)},
		    .kind = ST_BLANK,
		    .aux = NONE,
		    .label = NONE};
		vec_push(&u->stmt, st);
		nl = p - 1;
	}
	if (in_asm)
		return err_set(e, "#APP without #NO_APP at the end of the text");
	return 0;
}

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

bool refers_to_here(const struct stmt *st)
{
	const char *p = st->arg.p;
	struct str t;

	while (token_next(&p, st->arg.p + st->arg.n, &t))
		if (str_is(t, "."))
			return true;
	return false;
}
