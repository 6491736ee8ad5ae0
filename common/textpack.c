#include "common/textpack.h"
#include "common/hash.h"
#include "common/sort.h"

#include <stdio.h>
#include <string.h>

/*
 * A form is a line in which each of these bytes represents something that is in a stream. SHAPES
 * holds the forms, most frequent first, each with its newline. CODES holds for each line the number
 * of its form, then its registers and numbers.
 */
enum { STRING = 1, DEFINITION, LABEL, REGISTER, NUMBER, SYMBOL, LAST = SYMBOL };
enum { SHAPES, CODES, NAMES, SYMBOLS, STRINGS, LABELS, DEFINITIONS };

/* Numbers of forms below SHORT take one byte. Of symbols the last FRONT that were named are called
 * by how long ago that was, 1 = the last; 0 is a new one, whose name is next in NAMES, and OLDER
 * one that was new so many new ones ago. */
enum { SHORT = 192, LONG_BITS = 6, FRONT = 254, OLDER = 255, REGISTERS = 256, DIGITS = 15 };

/* The symbols that were named last. */
struct front {
	uint32_t id[FRONT];
	size_t n;
};

static void to_front(struct front *f, uint32_t id, size_t from)
{
	if (f->n < FRONT && from == f->n)
		f->n++;
	else if (from == f->n)
		from--;
	memmove(f->id + 1, f->id, from * sizeof *f->id);
	f->id[0] = id;
}

static uint64_t zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* ---- splitting ---- */

struct shape {
	const char *p; /* in the splitter's memory */
	size_t n;
	uint32_t first, uses;
};

struct line {
	uint32_t shape;
	size_t end; /* of its registers and numbers */
};

struct splitter {
	struct buf *s;
	struct arena mem;
	struct htab shape_of, symbol_of, register_of;
	VEC(struct shape) shape;
	VEC(struct line) line;
	struct buf args, form; /* of all lines; of this one */
	struct front front;
	uint32_t symbols, registers;
	int64_t next; /* number of the next label */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool in_word(char c)
{
	return is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}

static size_t word(const char *p, const char *end)
{
	const char *at = p;

	while (at < end && in_word(*at))
		at++;
	return (size_t)(at - p);
}

/* A number as it would be printed: its length, 0 = none. */
static size_t number(const char *p, const char *end, int64_t *v)
{
	size_t sign = p < end && *p == '-', n = word(p + sign, end), i;

	*v = 0;
	if (!n || n > DIGITS || (p[sign] == '0' && (n > 1 || sign)))
		return 0;
	for (i = sign; i < sign + n; i++) {
		if (!is_digit(p[i]))
			return 0;
		*v = *v * 10 + (p[i] - '0');
	}
	if (sign)
		*v = -*v;
	return sign + n;
}

static void put_symbol(struct splitter *x, const char *p, size_t n)
{
	bool fresh;
	uint64_t *id = htab_put(&x->symbol_of, p, n, &fresh);
	size_t at = x->front.n;

	buf_char(&x->form, SYMBOL);
	if (fresh) {
		*id = x->symbols++;
		buf_char(&x->s[SYMBOLS], 0);
		buf_add(&x->s[NAMES], p, n);
		buf_char(&x->s[NAMES], '\n');
	} else {
		for (at = 0; at < x->front.n && x->front.id[at] != *id; at++)
			continue;
		buf_char(&x->s[SYMBOLS], (char)(at < x->front.n ? at + 1 : OLDER));
		if (at == x->front.n)
			buf_uleb(&x->s[SYMBOLS], x->symbols - 1 - *id);
	}
	to_front(&x->front, (uint32_t)*id, at);
}

/* All of these: the length of what they took, 0 = it is no such thing. */

static size_t take_string(struct splitter *x, const char *p, const char *end, bool kept)
{
	const char *at = p + 1;

	if (*p != '"')
		return 0;
	while (at < end && *at != '"')
		at += 1 + (*at == '\\' && at + 1 < end);
	if (kept || at == end) {
		at += at < end;
		buf_add(&x->form, p, (size_t)(at - p));
		return (size_t)(at - p);
	}
	buf_char(&x->form, STRING);
	buf_add(&x->s[STRINGS], p + 1, (size_t)(at - p - 1));
	buf_char(&x->s[STRINGS], '\n');
	return (size_t)(at + 1 - p);
}

static size_t take_label(struct splitter *x, const char *p, const char *end, bool begins)
{
	bool defines;
	int64_t v;
	size_t n;

	if (end - p < 3 || p[0] != '.' || p[1] != 'L' || !is_digit(p[2]) ||
	    !(n = number(p + 2, end, &v)))
		return 0;
	n += 2;
	defines = begins && p + n + 1 == end && p[n] == ':';
	buf_char(&x->form, defines ? DEFINITION : LABEL);
	buf_uleb(&x->s[defines ? DEFINITIONS : LABELS], zigzag(v - x->next));
	if (defines)
		x->next = v + 1;
	return n;
}

static size_t take_register(struct splitter *x, const char *p, const char *end)
{
	const char *at = p + 1;
	uint64_t *id;
	bool fresh;

	while (at < end && (is_lower(*at) || is_digit(*at)))
		at++;
	if (*p != '%' || at == p + 1)
		return 0;
	id = htab_get(&x->register_of, p + 1, (size_t)(at - p - 1));
	if (!id && x->registers == REGISTERS)
		return 0;
	id = htab_put(&x->register_of, p + 1, (size_t)(at - p - 1), &fresh);
	if (fresh) {
		*id = x->registers++;
		buf_add(&x->s[NAMES], p + 1, (size_t)(at - p - 1));
		buf_char(&x->s[NAMES], '\n');
	}
	buf_char(&x->form, REGISTER);
	buf_char(&x->args, (char)*id);
	return (size_t)(at - p);
}

static size_t take_number(struct splitter *x, const char *p, const char *end)
{
	int64_t v;
	size_t n = number(p, end, &v);

	if (n) {
		buf_char(&x->form, NUMBER);
		buf_uleb(&x->args, zigzag(v));
	}
	return n;
}

static bool begins(const char *p, size_t n, const char *with)
{
	return n >= strlen(with) && !memcmp(p, with, strlen(with));
}

static void split_line(struct splitter *x, const char *line, const char *end)
{
	const char *p = line;
	bool inside = *line == '\t', code = inside && end - line > 1 && line[1] != '.';
	bool text = begins(line, (size_t)(end - line), "\t.string") ||
		    begins(line, (size_t)(end - line), "\t.asci");
	size_t n;

	if (inside) {
		n = 1 + word(line + 1, end);
		buf_add(&x->form, line, n);
		p += n;
	}
	while (p < end) {
		if ((n = take_string(x, p, end, !text)) || (n = take_label(x, p, end, p == line)) ||
		    (code && (n = take_register(x, p, end))) || (n = take_number(x, p, end))) {
			p += n;
			continue;
		}
		n = word(p, end);
		if (n > 1 && !is_digit(*p) && (p == line || p[-1] != '@'))
			put_symbol(x, p, n);
		else
			buf_add(&x->form, p, n ? n : (n = 1));
		p += n;
	}
	buf_char(&x->form, '\n');
}

static void end_line(struct splitter *x)
{
	bool fresh;
	uint64_t *id = htab_put(&x->shape_of, x->form.p, x->form.n, &fresh);

	if (fresh) {
		*id = x->shape.n;
		vec_push(&x->shape, (struct shape){arena_strndup(&x->mem, x->form.p, x->form.n),
					x->form.n, (uint32_t)*id, 0});
	}
	x->shape.v[*id].uses++;
	vec_push(&x->line, (struct line){(uint32_t)*id, x->args.n});
	x->form.n = 0;
}

static int by_uses(const void *a, const void *b)
{
	const struct shape *x = a, *y = b;

	return ORDER(y->uses, x->uses) ?: ORDER(x->first, y->first);
}

static void put_code(struct buf *out, uint32_t code)
{
	if (code < SHORT) {
		buf_char(out, (char)code);
	} else {
		code -= SHORT;
		buf_char(out, (char)(SHORT + (code & ((1 << LONG_BITS) - 1))));
		buf_uleb(out, code >> LONG_BITS);
	}
}

static void put_lines(struct splitter *x)
{
	uint32_t *code = arena_array(&x->mem, x->shape.n, sizeof *code);
	size_t i, at = 0;

	vec_sort(&x->shape, by_uses);
	for (i = 0; i < x->shape.n; i++) {
		code[x->shape.v[i].first] = (uint32_t)i;
		buf_add(&x->s[SHAPES], x->shape.v[i].p, x->shape.v[i].n);
	}
	for (i = 0; i < x->line.n; i++) {
		put_code(&x->s[CODES], code[x->line.v[i].shape]);
		if (x->line.v[i].end > at)
			buf_add(&x->s[CODES], x->args.p + at, x->line.v[i].end - at);
		at = x->line.v[i].end;
	}
}

bool text_plain(const char *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if ((unsigned char)p[i] <= LAST)
			return false;
	return n && p[n - 1] == '\n';
}

bool text_split(const char *p, size_t n, struct buf s[TEXT_STREAMS])
{
	struct splitter x = {.s = s};
	const char *end = p + n, *nl;

	if (!text_plain(p, n))
		return false;
	for (; p < end; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(end - p));
		split_line(&x, p, nl);
		end_line(&x);
	}
	put_lines(&x);
	arena_free(&x.mem);
	htab_free(&x.shape_of);
	htab_free(&x.symbol_of);
	htab_free(&x.register_of);
	vec_free(&x.shape);
	vec_free(&x.line);
	buf_free(&x.args);
	buf_free(&x.form);
	return true;
}

/* ---- joining ---- */

struct name {
	const char *p;
	size_t n;
};

struct joiner {
	const uint8_t *at[TEXT_STREAMS], *end[TEXT_STREAMS];
	VEC(struct name) shape, symbol, reg;
	struct front front;
	int64_t next;
	struct buf *out;
	size_t room; /* bytes that are still to come */
	bool bad;
};

static void add(struct joiner *j, const void *p, size_t n)
{
	if (n > j->room) {
		j->bad = true;
		return;
	}
	buf_add(j->out, p, n);
	j->room -= n;
}

static uint64_t get_uleb(struct joiner *j, int stream)
{
	uint64_t v = 0;

	if (uleb_read(&j->at[stream], j->end[stream], &v) < 0)
		j->bad = true;
	return v;
}

static uint8_t get_byte(struct joiner *j, int stream)
{
	if (j->at[stream] < j->end[stream])
		return *j->at[stream]++;
	j->bad = true;
	return 0;
}

/* Up to the next newline, which is not in it. */
static struct name get_line(struct joiner *j, int stream)
{
	const uint8_t *from = j->at[stream], *nl = NULL;

	if (from < j->end[stream])
		nl = memchr(from, '\n', (size_t)(j->end[stream] - from));
	if (!nl) {
		j->bad = true;
		return (struct name){"", 0};
	}
	j->at[stream] = nl + 1;
	return (struct name){(const char *)from, (size_t)(nl - from)};
}

static void add_number(struct joiner *j, int64_t v)
{
	char digits[24];

	add(j, digits, (size_t)snprintf(digits, sizeof digits, "%lld", (long long)v));
}

static void join_string(struct joiner *j)
{
	struct name s = get_line(j, STRINGS);

	add(j, "\"", 1);
	add(j, s.p, s.n);
	add(j, "\"", 1);
}

static void join_label(struct joiner *j, int stream)
{
	int64_t v = (int64_t)((uint64_t)j->next + (uint64_t)unzigzag(get_uleb(j, stream)));

	add(j, ".L", 2);
	add_number(j, v);
	if (stream == DEFINITIONS)
		j->next = (int64_t)((uint64_t)v + 1);
}

static void join_register(struct joiner *j)
{
	size_t id = get_byte(j, CODES);

	if (id == j->reg.n)
		vec_push(&j->reg, get_line(j, NAMES));
	if (id >= j->reg.n) {
		j->bad = true;
		return;
	}
	add(j, "%", 1);
	add(j, j->reg.v[id].p, j->reg.v[id].n);
}

static void join_symbol(struct joiner *j)
{
	uint8_t how = get_byte(j, SYMBOLS);
	size_t at = j->front.n;
	uint64_t id = j->symbol.n;

	if (how == 0)
		vec_push(&j->symbol, get_line(j, NAMES));
	else if (how == OLDER)
		id -= 1 + get_uleb(j, SYMBOLS);
	else if (how <= at)
		id = j->front.id[at = how - 1];
	if (id >= j->symbol.n) {
		j->bad = true;
		return;
	}
	to_front(&j->front, (uint32_t)id, at);
	add(j, j->symbol.v[id].p, j->symbol.v[id].n);
}

static void join_part(struct joiner *j, char c)
{
	switch (c) {
	case STRING:
		join_string(j);
		break;
	case DEFINITION:
		join_label(j, DEFINITIONS);
		break;
	case LABEL:
		join_label(j, LABELS);
		break;
	case REGISTER:
		join_register(j);
		break;
	case NUMBER:
		add_number(j, unzigzag(get_uleb(j, CODES)));
		break;
	case SYMBOL:
		join_symbol(j);
		break;
	default:
		add(j, &c, 1);
	}
}

static void join_line(struct joiner *j)
{
	uint64_t code = get_byte(j, CODES);
	const struct name *shape;
	size_t i;

	if (code >= SHORT)
		code = SHORT + (code - SHORT) + (get_uleb(j, CODES) << LONG_BITS);
	if (j->bad || code >= j->shape.n) {
		j->bad = true;
		return;
	}
	shape = &j->shape.v[code];
	for (i = 0; i < shape->n && !j->bad; i++)
		join_part(j, shape->p[i]);
	add(j, "\n", 1);
}

int text_join(const struct buf s[TEXT_STREAMS], uint64_t size, struct buf *out, struct err *e)
{
	struct joiner j = {.out = out, .room = size};
	size_t was = out->n, i;

	for (i = 0; i < TEXT_STREAMS; i++) {
		j.at[i] = (const uint8_t *)s[i].p;
		j.end[i] = s[i].n ? j.at[i] + s[i].n : j.at[i];
	}
	while (!j.bad && j.at[SHAPES] < j.end[SHAPES])
		vec_push(&j.shape, get_line(&j, SHAPES));
	while (!j.bad && j.room)
		join_line(&j);
	for (i = 0; i < TEXT_STREAMS; i++)
		j.bad |= j.at[i] != j.end[i];
	vec_free(&j.shape);
	vec_free(&j.symbol);
	vec_free(&j.reg);
	if (!j.bad)
		return 0;
	out->n = was;
	return err_set(e, "the streams of a text are damaged");
}
