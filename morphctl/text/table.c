#include "morphctl/text/table.h"
#include "common/ascii.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GAP = 2, FIELD = 11, WRAP_LEAST = 30 };

bool table_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

void table_paint(FILE *out, bool colour, enum paint p, const char *s)
{
	static const char *const code[] = {"", "1", "2", "32", "33", "31"};

	if (colour && p != PLAIN && *s)
		fprintf(out, "\033[%sm%s\033[0m", code[p], s);
	else
		fputs(s, out);
}

unsigned text_width(const char *s)
{
	const char *ascii;
	unsigned n = 0;
	size_t bytes;

	while (*s) {
		if ((ascii = ascii_instead(s, &bytes))) {
			n += (unsigned)strlen(ascii);
			s += bytes;
			continue;
		}
		n += ((unsigned char)*s++ & 0xc0) != 0x80;
	}
	return n;
}

struct table_row *table_row(struct table *t, ...)
{
	struct table_row row = {0};
	unsigned i;
	va_list ap;

	va_start(ap, t);
	for (i = 0; i < t->ncolumn; i++)
		row.cell[i].text = va_arg(ap, const char *);
	va_end(ap);
	vec_push(&t->row, row);
	return &t->row.v[t->row.n - 1];
}

static const char *cell_text(const struct cell *c)
{
	return c->text ? c->text : "";
}

static unsigned last_cell(const struct table *t, const struct cell *cell)
{
	unsigned i, last = 0;

	for (i = 0; i < t->ncolumn; i++) {
		if (*cell_text(&cell[i]))
			last = i;
	}
	return last;
}

static bool is_cut(const struct column *c)
{
	return c->kind == CUT || c->kind == CUT_END;
}

/* The widths of the columns; the one that may be cut gives way. */
static void widths(const struct table *t, unsigned *w)
{
	unsigned i, n, total = t->indent, cut = TABLE_COLUMNS;
	size_t r;

	for (i = 0; i < t->ncolumn; i++) {
		w[i] = text_width(t->column[i].title);
		for (r = 0; r < t->row.n; r++) {
			if (is_cut(&t->column[i]) && i + 1 < t->ncolumn &&
			    last_cell(t, t->row.v[r].cell) == i)
				continue;
			n = text_width(cell_text(&t->row.v[r].cell[i]));
			w[i] = n > w[i] ? n : w[i];
		}
		if (t->column[i].kind == WRAP)
			w[i] = WRAP_LEAST;
		total += w[i] + (i ? GAP : 0);
		if (is_cut(&t->column[i]))
			cut = i;
	}
	if (total > TABLE_WIDTH && cut < TABLE_COLUMNS && !t->whole) {
		n = total - TABLE_WIDTH;
		w[cut] = w[cut] > n + 12 ? w[cut] - n : 12;
	}
}

/* s without its first n characters. */
static const char *skip(const char *s, unsigned n)
{
	for (; n > 0 && *s; n--) {
		do
			s++;
		while (((unsigned char)*s & 0xc0) == 0x80);
	}
	return s;
}

/* s, or when it is wider than w and may be cut, a part of it and "…". */
static void put_cut(struct buf *b, enum column_kind kind, const char *s, unsigned w)
{
	unsigned n = text_width(s), gap = text_width("…");

	if (n <= w || (kind != CUT && kind != CUT_END)) {
		buf_str(b, s);
	} else if (kind == CUT) {
		buf_str(b, "…");
		buf_str(b, skip(s, n - w + gap));
	} else {
		buf_add(b, s, (size_t)(skip(s, w - gap) - s));
		buf_str(b, "…");
	}
}

static void pad(FILE *out, unsigned n)
{
	fprintf(out, "%*s", (int)n, "");
}

/* Words of s from column `at` on, following lines at `indent`; ends the line. */
static void put_wrapped(
    FILE *out, bool colour, enum paint p, const char *s, unsigned at, unsigned indent)
{
	struct buf word = {0};
	size_t n;
	bool first = true;

	while (*s) {
		n = strcspn(s, " ");
		word.n = 0;
		buf_add(&word, s, n);
		s += n + strspn(s + n, " ");
		n = text_width(buf_cstr(&word));
		if (!first && at + 1 + n > TABLE_WIDTH) {
			fputc('\n', out);
			pad(out, indent);
			at = indent;
		} else if (!first) {
			fputc(' ', out);
			at++;
		}
		table_paint(out, colour, p, word.p);
		at += (unsigned)n;
		first = false;
	}
	fputc('\n', out);
	buf_free(&word);
}

/* One cell after the spaces owed; returns those owed to the next. */
static unsigned put_cell(
    FILE *out, bool colour, enum column_kind kind, unsigned w, const struct cell *c, unsigned owed)
{
	struct buf text = {0};
	unsigned room;

	put_cut(&text, kind, cell_text(c), w);
	room = w - text_width(buf_cstr(&text));
	pad(out, owed + (kind == RIGHT ? room : 0));
	table_paint(out, colour, c->paint, text.p);
	buf_free(&text);
	return GAP + (kind == RIGHT ? 0 : room);
}

static void put_row(
    FILE *out, const struct table *t, const unsigned *w, const struct cell *cell, bool colour)
{
	unsigned i, last = last_cell(t, cell), room, owed = t->indent, start = t->indent;

	for (i = 0; i <= last; i++) {
		if (t->column[i].kind == WRAP) {
			pad(out, owed);
			put_wrapped(out, colour, cell[i].paint, cell_text(&cell[i]), start, start);
			return;
		}
		room = w[i];
		if (i == last && is_cut(&t->column[i]))
			room = t->whole ? UINT_MAX : TABLE_WIDTH - start;
		owed = put_cell(out, colour, t->column[i].kind, room, &cell[i], owed);
		start += w[i] + GAP;
	}
	fputc('\n', out);
}

void table_print(FILE *out, const struct table *t, bool colour)
{
	struct cell title[TABLE_COLUMNS] = {0};
	unsigned w[TABLE_COLUMNS], i;
	size_t r;

	widths(t, w);
	for (i = 0; i < t->ncolumn; i++)
		title[i] = (struct cell){t->column[i].title, BOLD};
	put_row(out, t, w, title, colour);
	for (r = 0; r < t->row.n; r++) {
		put_row(out, t, w, t->row.v[r].cell, colour);
		if (t->row.v[r].note) {
			pad(out, t->indent + 2);
			put_wrapped(
			    out, colour, DIM, t->row.v[r].note, t->indent + 2, t->indent + 4);
		}
	}
}

void table_field(FILE *out, bool colour, const char *name, const char *text)
{
	fputs("  ", out);
	table_paint(out, colour, DIM, name);
	pad(out, FIELD - text_width(name));
	put_wrapped(out, colour, PLAIN, text, FIELD + 2, FIELD + 2);
}

void table_end(struct table *t, bool colour)
{
	putchar('\n');
	table_print(stdout, t, colour);
	table_free(t);
}

void table_free(struct table *t)
{
	vec_free(&t->row);
}
