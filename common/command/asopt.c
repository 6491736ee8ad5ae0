#include "common/command/asopt.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct {
	enum asopt kind;
	const char *names; /* blanks between; one that ends in '=' takes a word */
} table[] = {
    {ASOPT_KEEP, "--64 --compress-debug-sections --compress-debug-sections= --execstack "
		 "--fatal-warnings --generate-missing-build-notes= --no-warn "
		 "--nocompress-debug-sections --noexecstack --warn -Qn -Qy -W -march= "
		 "-mrelax-relocations= -mtune= -mx86-used-note= -q -s"},
    {ASOPT_DEBUG, "--gdwarf-2 --gdwarf-3 --gdwarf-4 --gdwarf-5 --gdwarf2 -g -gdwarf-2 -gdwarf-3 "
		  "-gdwarf-4 -gdwarf-5"},
    {ASOPT_INQUIRY, "--help --statistics --target-help --version"},
};

static bool is_word(const char *s, size_t n)
{
	static const char ok[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-._";
	size_t i;

	for (i = 0; i < n; i++)
		if (!memchr(ok, s[i], sizeof ok - 1))
			return false;
	return n > 0;
}

static bool matches(const char *name, size_t k, const char *s, size_t n)
{
	if (n < k || memcmp(name, s, k))
		return false;
	return name[k - 1] == '=' ? is_word(s + k, n - k) : n == k;
}

static enum asopt kind_of(const char *s, size_t n)
{
	const char *name;
	size_t i, k;

	for (i = 0; i < sizeof table / sizeof *table; i++)
		for (name = table[i].names; *name; name += k + (name[k] == ' ')) {
			k = strcspn(name, " ");
			if (matches(name, k, s, n))
				return table[i].kind;
		}
	return ASOPT_REFUSED;
}

enum asopt asopt_kind(const char *arg)
{
	return kind_of(arg, strlen(arg));
}

int asopt_check(const char *as_args, struct err *e)
{
	const char *p = as_args;
	enum asopt kind;
	size_t n;

	for (; *p; p += n + (p[n] == '\n')) {
		n = strcspn(p, "\n");
		kind = kind_of(p, n);
		if (kind != ASOPT_KEEP && kind != ASOPT_DEBUG)
			return err_set(e, "%.*s: not an option of as that Morph repeats",
			    n < 200 ? (int)n : 200, p);
	}
	return 0;
}

static bool symbol_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '$' || (c & 0x80);
}

/* The length of the refused directive at p, 0 = none. */
static size_t refused_directive(const char *p, const char *end)
{
	static const char *const list[] = {".incbin", ".include", ".macro", ".irp", ".irpc",
	    ".irep", ".irepc", ".altmacro", ".mri"};
	size_t i, n;

	/* Nearly all other directives are done with here. */
	if (end - p < 2 || !strchr("imaIMA", p[1]))
		return 0;
	for (i = 0; i < sizeof list / sizeof *list; i++) {
		n = strlen(list[i]);
		if ((size_t)(end - p) >= n && !strncasecmp(p, list[i], n) &&
		    (p + n == end || !symbol_char(p[n])))
			return n;
	}
	return 0;
}

/* Is this a comment that as reads as the number and file of a line? */
static bool line_number(const char *s, const char *end)
{
	for (s++; s < end && (*s == ' ' || *s == '\t'); s++)
		;
	return s < end && *s >= '0' && *s <= '9';
}

/* Does a line that begins outside of strings and comments end there? What takes more
 * than these lines to know (character constants, comments over lines) counts as no. */
static bool closed_line(const char *s, const char *end)
{
	bool quoted = false;

	for (; s < end; s++) {
		if (quoted && *s == '\\')
			s++;
		else if (*s == '"')
			quoted = !quoted;
		else if (quoted)
			continue;
		else if (*s == '\'' || (*s == '/' && s + 1 < end && s[1] == '*'))
			return false;
		else if (*s == '#' && !line_number(s, end))
			return true;
	}
	return !quoted;
}

/* The same of the lines between *from and to, which it moves on over them. */
static bool closed_lines(const char **from, const char *to)
{
	const char *stop;

	for (; *from < to; *from = stop + 1) {
		stop = memchr(*from, '\n', (size_t)(to - *from));
		if (!closed_line(*from, stop))
			return false;
	}
	return true;
}

/* What as reads as one string or a comment, where the lines before it are closed. */
static bool harmless_line(const char *s, const char *end)
{
	static const char *const directive[] = {".string", ".asciz", ".ascii"};
	size_t i;

	s += strspn(s, " \t");
	if (s < end && *s == '#')
		return !memchr(s, '"', (size_t)(end - s));
	for (i = 0; i < 3 && strncmp(s, directive[i], strlen(directive[i])); i++)
		;
	if (i == 3)
		return false;
	s += strlen(directive[i]);
	s += strspn(s, " \t");
	if (s >= end || *s != '"')
		return false;
	for (s++; s < end && *s != '"'; s++)
		s += *s == '\\';
	return s == end - 1;
}

/* Whether a refused directive or a comment may begin in the STEP bytes at s; reads one more.
 * Without branches: a compiler makes vectors of it. */
enum { STEP = 64 };
static bool may_refuse(const char *s)
{
	unsigned char any = 0, next;
	size_t i;

	for (i = 0; i < STEP; i++) {
		next = (unsigned char)s[i + 1] | 0x20;
		any |= (s[i] == '.') & ((next == 'i') | (next == 'm') | (next == 'a'));
		any |= (s[i] == '/') & (s[i + 1] == '*');
	}
	return any;
}

int as_text_check(const char *text, size_t n, struct err *e)
{
	static const char raw[] = "#NO_APP"; /* as then takes nothing for a comment */
	const char *end = text + n, *p, *line, *stop, *open = text;
	bool cooked = n < sizeof raw - 1 || memcmp(text, raw, sizeof raw - 1) != 0;
	size_t k;

	for (p = text; p < end; p++) {
		if ((p - text) % STEP == 0 && end - p > STEP && !may_refuse(p)) {
			p += STEP - 1;
			continue;
		}
		if ((*p != '.' && *p != '/') || (*p == '.' && p > text && symbol_char(p[-1])))
			continue;
		k = *p == '.' ? refused_directive(p, end)
			      : (p > text && symbol_char(p[-1]) && p + 1 < end && p[1] == '*') * 2;
		if (!k)
			continue;
		line = memrchr(text, '\n', (size_t)(p - text));
		line = line ? line + 1 : text;
		stop = memchr(p, '\n', (size_t)(end - p));
		if (!cooked || !harmless_line(line, stop ? stop : end) ||
		    !closed_lines(&open, line))
			return err_set(
			    e, "%.*s in assembly text: it might take in another file", (int)k, p);
	}
	return 0;
}
