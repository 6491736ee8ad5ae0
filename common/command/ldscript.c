#include "common/command/ldscript.h"

#include <stdbool.h>
#include <string.h>

enum { END, WORD, QUOTED, MARK, BAD };
enum { NESTED_MAX = 16 };

struct reader {
	const char *p, *end;
	const char *tok; /* the token at hand */
	size_t n;
	int kind;
	bool sysrooted; /* the script lies below the sysroot */
};

static const char *const list_word[] = {"AS_NEEDED", "GROUP", "INPUT", NULL};
static const char *const refused_word[] = {"INCLUDE", "OUTPUT", "STARTUP", "TARGET", NULL};
static const char *const other_word[] = {"OVERLAY", "SEARCH_DIR", "SECTIONS", NULL};

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* The first word of the list that occurs anywhere in the bytes, however ld
 * cuts them into tokens; NULL = none. */
static const char *finds(const char *const *list, const char *s, size_t n)
{
	const char *p, *end = s + n;
	size_t k;

	for (; *list; list++) {
		k = strlen(*list);
		for (p = s; (p = memmem(p, (size_t)(end - p), *list, k)); p++)
			if ((p == s || !name_char(p[-1])) && (p + k == end || !name_char(p[k])))
				return *list;
	}
	return NULL;
}

/* As ld sees the first bytes of an ELF file: a name, and then what no
 * statement goes on with ('>', of e_machine). */
static bool is_elf(const unsigned char *p, size_t n)
{
	static const unsigned char ident[8] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0}, zero[8];

	return n >= 64 && !memcmp(p, ident, 7) && (p[7] == 0 || p[7] == 3) &&
	       !memcmp(p + 8, zero, 8) && p[16] >= 1 && p[16] <= 3 && !p[17] && p[18] == 0x3e &&
	       !p[19];
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static bool skip_blanks(struct reader *r)
{
	const char *close;

	for (;;) {
		while (r->p < r->end && is_space(*r->p))
			r->p++;
		if (r->end - r->p < 2 || r->p[0] != '/' || r->p[1] != '*')
			return true;
		close = memmem(r->p + 2, (size_t)(r->end - r->p) - 2, "*/", 2);
		if (!close)
			return false;
		r->p = close + 2;
	}
}

static int quoted(struct reader *r)
{
	const char *close = memchr(r->p, '"', (size_t)(r->end - r->p));

	if (!close)
		return BAD;
	r->tok = r->p;
	r->n = (size_t)(close - r->p);
	r->p = close + 1;
	return QUOTED;
}

static int word(struct reader *r)
{
	r->tok = r->p;
	for (; r->p < r->end && !is_space(*r->p) && !strchr("(){};,\"", *r->p); r->p++)
		if (*r->p < ' ' || *r->p >= 0x7f || *r->p == '#' || *r->p == '\\')
			return BAD;
	r->n = (size_t)(r->p - r->tok);
	return !r->n || memmem(r->tok, r->n, "/*", 2) ? BAD : WORD;
}

static int next(struct reader *r)
{
	if (!skip_blanks(r))
		return r->kind = BAD;
	if (r->p == r->end)
		return r->kind = END;
	if (*r->p == '"') {
		r->p++;
		return r->kind = quoted(r);
	}
	if (!*r->p || !strchr("(){};,", *r->p))
		return r->kind = word(r);
	r->tok = r->p++;
	r->n = 1;
	return r->kind = MARK;
}

static bool is_mark(const struct reader *r, char c)
{
	return r->kind == MARK && *r->tok == c;
}

static bool is_name(const struct reader *r)
{
	return r->kind == WORD || r->kind == QUOTED;
}

static bool equals(const struct reader *r, const char *s)
{
	return r->kind == WORD && r->n == strlen(s) && !memcmp(r->tok, s, r->n);
}

static bool has(const struct reader *r, const char *s)
{
	return memmem(r->tok, r->n, s, strlen(s)) != NULL;
}

static bool climbs(const struct reader *r)
{
	return has(r, "../") || has(r, "/..") || (r->n == 2 && has(r, ".."));
}

static int refuse(const struct reader *r, struct err *e)
{
	if (r->kind == END)
		return err_set(e, "ends within a statement");
	if (r->kind == BAD)
		return err_set(e, "what stands there is not read (comment, quote, '#' or '\\')");
	return err_set(e, "\"%.*s\" is not repeated", r->n < 200 ? (int)r->n : 200, r->tok);
}

/* The names between parentheses after INPUT, GROUP, AS_NEEDED. */
static int read_list(struct reader *r, struct err *e)
{
	int depth = 0;

	do {
		if (equals(r, "INPUT") || equals(r, "GROUP") || equals(r, "AS_NEEDED")) {
			next(r);
			if (!is_mark(r, '(') || ++depth > NESTED_MAX)
				return refuse(r, e);
		} else if (is_mark(r, ')')) {
			depth--;
		} else if (is_name(r)) {
			if (climbs(r) || (r->n && *r->tok == '/' && !r->sysrooted) ||
			    (r->n && *r->tok == '-' &&
				(r->n < 3 || r->tok[1] != 'l' || has(r, "/"))))
				return refuse(r, e);
		} else if (!is_mark(r, ',')) {
			return refuse(r, e);
		}
	} while (depth && next(r));
	return depth ? refuse(r, e) : 0;
}

static int read_search_dir(struct reader *r, struct err *e)
{
	next(r);
	if (!is_mark(r, '('))
		return refuse(r, e);
	next(r);
	if (!is_name(r) || r->n < 2 || memcmp(r->tok, "=/", 2) || climbs(r))
		return refuse(r, e);
	next(r);
	return is_mark(r, ')') ? 0 : refuse(r, e);
}

/* A token of any other statement: nothing that is a path, or that ld might
 * take for more than one word. */
static int read_other(const struct reader *r, struct err *e)
{
	if (r->kind == MARK || equals(r, "/DISCARD/") || equals(r, "/") || equals(r, "/="))
		return 0;
	if (has(r, "/"))
		return refuse(r, e);
	if (r->kind == WORD &&
	    (finds(refused_word, r->tok, r->n) || finds(list_word, r->tok, r->n) ||
		(finds(other_word, r->tok, r->n) && !equals(r, "SECTIONS") &&
		    !equals(r, "OVERLAY"))))
		return refuse(r, e);
	return 0;
}

static int read_script(struct reader *r, struct err *e)
{
	int rc = 0;

	while (!rc && next(r) != END) {
		if (r->kind == BAD)
			rc = refuse(r, e);
		else if (equals(r, "INPUT") || equals(r, "GROUP") || equals(r, "AS_NEEDED"))
			rc = read_list(r, e);
		else if (equals(r, "SEARCH_DIR"))
			rc = read_search_dir(r, e);
		else
			rc = read_other(r, e);
	}
	return rc;
}

static bool lies_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return !n || (!strncmp(path, folder, n) && path[n] == '/' && !strstr(path, "/.."));
}

int ldscript_check(const void *p, size_t n, const char *path, const char *sysroot, struct err *e)
{
	struct reader r = {
	    .p = p, .end = (const char *)p + n, .sysrooted = lies_below(path, sysroot)};

	if (is_elf(p, n))
		return 0;
	if (n >= 7 && !memcmp(p, "!<thin>", 7))
		return err_set(e, "%s: a thin archive names files of its own", path);
	if (!finds(list_word, p, n) && !finds(refused_word, p, n) && !finds(other_word, p, n))
		return 0;
	return read_script(&r, e) ? err_wrap(e, "%s: not a linker script that Morph repeats", path)
				  : 0;
}
