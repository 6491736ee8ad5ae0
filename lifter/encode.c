#include "lifter/encode.h"
#include "common/hash.h"
#include "common/le.h"

#include <stdbool.h>
#include <string.h>

enum { INSN_MAX = 15, DISTANCE = 4 };

/* A part of the text. */
struct part {
	const char *p, *end;
};

/* What a comment says. */
struct code {
	uint8_t b[INSN_MAX];
	unsigned n, at; /* bytes; where the distance is, n = there is none */
};

struct encoder {
	struct htab name; /* set by the text -> its value + 1 */
	VEC(struct part) value;
	struct buf run; /* bytes of instructions that are to be written */
	struct buf *out;
	size_t line;
	struct err *e;
};

/* ---- words ---- */

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool symbol_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '$' || c & 0x80;
}

static struct part trim(struct part s)
{
	while (s.p < s.end && blank(*s.p))
		s.p++;
	while (s.end > s.p && blank(s.end[-1]))
		s.end--;
	return s;
}

/* The first word of s; moves *s to what follows it. */
static struct part word(struct part *s)
{
	struct part w = *s = trim(*s);

	while (s->p < s->end && !blank(*s->p))
		s->p++;
	w.end = s->p;
	*s = trim(*s);
	return w;
}

static size_t length(struct part s)
{
	return (size_t)(s.end - s.p);
}

static bool starts(struct part s, const char *text)
{
	size_t n = strlen(text);

	return length(s) >= n && !memcmp(s.p, text, n);
}

static bool starts_any(struct part s, const char *const *text, size_t n)
{
	while (n--)
		if (starts(s, text[n]))
			return true;
	return false;
}
#define STARTS_ANY(s, text) starts_any(s, text, sizeof text / sizeof *text)

static const char *find(struct part s, const char *text)
{
	return memmem(s.p, length(s), text, strlen(text));
}

/* What follows the words of a statement that are no operands. The last of these, *op, is what it
 * does; those before it are prefixes. */
static struct part operands(struct part st, struct part *op)
{
	struct part rest = st, w;

	*op = word(&rest);
	for (st = rest; w = word(&rest), rest.p < rest.end && w.end[-1] != ','; st = rest)
		*op = w;
	return st;
}

/* The next symbol in operands; moves *s to what follows it. */
static bool next_symbol(struct part *s, struct part *symbol)
{
	while (s->p < s->end) {
		symbol->p = s->p;
		if (!symbol_char(*s->p) || *s->p == '$') {
			s->p++;
			continue;
		}
		while (s->p < s->end && symbol_char(*s->p))
			s->p++;
		symbol->end = s->p;
		if (symbol->p[-1] != '%') /* there is a word before operands */
			return true;
	}
	return false;
}

/* The next line of text; false at its end. */
static bool next_line(struct part *text, struct part *line)
{
	const char *end = text->p < text->end ? memchr(text->p, '\n', length(*text)) : text->p;

	if (text->p >= text->end)
		return false;
	*line = (struct part){text->p, end ? end : text->end};
	text->p = end ? end + 1 : text->end;
	return true;
}

static int fault(struct encoder *c, const char *what, struct part at)
{
	enum { SHOWN = 200 };

	return err_set(c->e, "line %zu: %s: %.*s", c->line, what,
	    length(at) < SHOWN ? (int)length(at) : SHOWN, at.p);
}

/* ---- names of places in the original ---- */

/* ".set NAME, image+…" */
static bool is_name(struct part line, struct part *name, struct part *value)
{
	struct part op = word(&line);
	const char *comma = starts(op, ".set") ? find(line, ",") : NULL;

	if (!comma)
		return false;
	*name = trim((struct part){line.p, comma});
	*value = trim((struct part){comma + 1, line.end});
	return starts(*value, "image+");
}

static void collect_names(struct encoder *c, struct part text)
{
	struct part line, name, value;
	uint64_t *at;

	while (next_line(&text, &line)) {
		if (!is_name(line, &name, &value))
			continue;
		at = htab_put(&c->name, name.p, length(name), NULL);
		vec_push(&c->value, value);
		*at = c->value.n;
	}
}

/* Appends the value of a name; false: the text sets no such name. */
static bool put_value(struct encoder *c, const char *name, size_t n)
{
	const uint64_t *at = c->name.n ? htab_get(&c->name, name, n) : NULL;
	struct part v;

	if (!at)
		return false;
	v = c->value.v[*at - 1];
	buf_add(c->out, v.p, length(v));
	return true;
}

/* The word that holds the symbol's address. */
static bool put_word(struct encoder *c, struct part symbol)
{
	struct buf name = {0};
	bool known;

	buf_str(&name, "got.");
	buf_add(&name, symbol.p, length(symbol));
	known = put_value(c, name.p, name.n);
	buf_free(&name);
	return known;
}

/* Appends operands with the values of names in their places. There is no PLT any more. */
static int put_operands(struct encoder *c, struct part s)
{
	static const char got[] = "@GOTPCREL", plt[] = "@PLT";
	struct part from = s, t;

	while (next_symbol(&s, &t)) {
		buf_add(c->out, from.p, (size_t)(t.p - from.p));
		if (starts(s, got)) {
			s.p += strlen(got);
			if (!put_word(c, t))
				return fault(c, "no word of the original holds its address", t);
		} else if (!put_value(c, t.p, length(t))) {
			buf_add(c->out, t.p, length(t));
		}
		s.p += starts(s, plt) ? strlen(plt) : 0;
		from.p = s.p;
	}
	buf_add(c->out, from.p, length(from));
	return 0;
}

/* ---- bytes ---- */

/* As few statements as it takes: as reads many of them. */
static void flush(struct encoder *c)
{
	const uint8_t *p = (const uint8_t *)c->run.p, *end = p + c->run.n;

	for (; end - p >= 8; p += 8)
		buf_printf(c->out, "\t.quad\t%#llx\n", (unsigned long long)get_le64(p));
	if (end - p >= 4) {
		buf_printf(c->out, "\t.long\t%#x\n", get_le32(p));
		p += 4;
	}
	for (; p < end; p++)
		buf_printf(c->out, "\t.byte\t%#x\n", *p);
	c->run.n = 0;
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int read_code(struct part s, struct code *code)
{
	bool found = false;

	for (code->n = 0; s.p < s.end; s.p++) {
		if (*s.p == '@' && !found && code->n + DISTANCE <= INSN_MAX) {
			found = true;
			code->at = code->n;
			code->n += DISTANCE;
			continue;
		}
		if (code->n == INSN_MAX || length(s) < 2 || digit(s.p[0]) < 0 || digit(s.p[1]) < 0)
			return -1;
		code->b[code->n++] = (uint8_t)(digit(s.p[0]) << 4 | digit(s.p[1]));
		s.p++;
	}
	if (!found)
		code->at = code->n;
	return code->n ? 0 : -1;
}

/* What the distance in an instruction leads to; false: it has none. */
static bool find_target(struct part st, struct part *target)
{
	static const char *const branch[] = {"call", "j", "loop", "xbegin"};
	struct part op;
	const char *rip;

	*target = operands(st, &op);
	rip = find(*target, "(%rip)");
	if (!rip)
		return STARTS_ANY(op, branch) && length(*target) && symbol_char(*target->p);
	st.p = target->p;
	for (target->p = target->end = rip; target->p > st.p; target->p--)
		if (!symbol_char(target->p[-1]) && target->p[-1] != '+' && target->p[-1] != '-')
			break;
	return length(*target) != 0;
}

/* An instruction whose bytes its comment has. */
static int put_code(struct encoder *c, struct part st, struct part comment)
{
	struct part target;
	struct code code;

	if (!length(st) || read_code(trim(comment), &code))
		return fault(c, "not the bytes of an instruction", comment);
	if (find_target(st, &target) != (code.at < code.n))
		return fault(c, "a target without distance, or a distance without target", st);
	buf_add(&c->run, code.b, code.at);
	if (code.at == code.n)
		return 0;
	flush(c);
	buf_str(c->out, "\t.long\t");
	if (put_operands(c, target))
		return -1;
	/* It counts from the instruction's end. */
	buf_printf(c->out, "-.-%u\n", code.n - code.at);
	code.at += DISTANCE;
	buf_add(&c->run, code.b + code.at, code.n - code.at);
	return 0;
}

/* ---- lines ---- */

/* May it name places in the original? */
static bool has_operands(struct part line)
{
	static const char *const directive[] = {".long", ".quad", ".cfi_personality"};
	struct part op = word(&line);

	if (!length(op) || op.end[-1] == ':')
		return false;
	return *op.p != '.' || STARTS_ANY(op, directive);
}

static int put_line(struct encoder *c, struct part line)
{
	struct part name, value, op, rest = {line.end, line.end};
	const char *comment = find(line, "#=");

	if (comment)
		return put_code(
		    c, trim((struct part){line.p, comment}), (struct part){comment + 2, line.end});
	flush(c);
	if (is_name(line, &name, &value))
		return 0;
	if (has_operands(line))
		rest = operands(line, &op);
	buf_add(c->out, line.p, (size_t)(rest.p - line.p));
	if (put_operands(c, rest))
		return -1;
	buf_char(c->out, '\n');
	return 0;
}

int encode(const char *text, size_t n, struct buf *out, struct err *e)
{
	struct encoder c = {.out = out, .e = e};
	struct part all = {text, text + n}, line;
	int rc = 0;

	collect_names(&c, all);
	while (!rc && next_line(&all, &line)) {
		c.line++;
		rc = put_line(&c, line);
	}
	flush(&c);
	buf_free(&c.run);
	vec_free(&c.value);
	htab_free(&c.name);
	return rc;
}
