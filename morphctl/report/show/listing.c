#include "morphctl/report/show/rows.h"
#include "morphctl/report/show/show.h"
#include "morphctl/text/table.h"
#include "morphctl/text/words.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

/* The lines of a source file that instructions come from, and those between. */
struct source {
	const char *path;
	uint32_t from, to;
	const char **text; /* NULL where it cannot be read */
};

struct listing {
	const struct recording *r;
	struct arena mem;
	struct table t;
	VEC(struct source) sources;
	double sum;         /* samples of all parts */
	const char *source; /* file and line of the last line of source */
	uint32_t line;
};

static double samples_of(const struct show_part *part, size_t n)
{
	double sum = 0;
	size_t i, k;

	for (i = 0; i < n; i++)
		for (k = 0; k < part[i].n; k++)
			sum += (double)part[i].line[k].n;
	return sum;
}

static struct source *find_source(struct listing *l, const char *path)
{
	size_t i;

	for (i = 0; i < l->sources.n; i++)
		if (strcmp(l->sources.v[i].path, path) == 0)
			return &l->sources.v[i];
	vec_push(&l->sources, (struct source){path, UINT32_MAX, 0, NULL});
	return &l->sources.v[l->sources.n - 1];
}

/* As the module's owner, who names these files. */
static void read_sources(struct listing *l, const struct show_part *part)
{
	const struct recording_function *f = &l->r->function.v[part->function];
	const struct symbols_insn *insn;
	struct source *s;
	struct stat st;
	size_t i;

	if (stat(l->r->file.v[f->file].path, &st))
		return;
	for (i = 0; i < part->n; i++) {
		insn = part->line[i].insn;
		if (!insn->source)
			continue;
		s = find_source(l, insn->source);
		s->from = insn->line < s->from ? insn->line : s->from;
		s->to = insn->line > s->to ? insn->line : s->to;
	}
	for (i = 0; i < l->sources.n; i++) {
		s = &l->sources.v[i];
		if (symbols_source(
			s->path, st.st_uid, s->from, s->to - s->from + 1, &l->mem, &s->text, NULL))
			s->text = NULL;
	}
}

static const char *source_text(struct listing *l, const char *path, uint32_t line)
{
	const struct source *s = find_source(l, path);
	const char *text = s->text ? s->text[line - s->from] : NULL;

	return text ? words_clean(&l->mem, text + strspn(text, " \t")) : NULL;
}

static void add_source(struct listing *l, const struct symbols_insn *insn)
{
	const char *base, *text;
	struct table_row *row;

	if (!insn->source || (insn->source == l->source && insn->line == l->line))
		return;
	l->source = insn->source;
	l->line = insn->line;
	base = strrchr(insn->source, '/');
	text = source_text(l, insn->source, insn->line);
	row = table_row(&l->t, NULL, NULL, NULL, NULL,
	    arena_printf(&l->mem, "%s:%u%s%s", words_clean(&l->mem, base ? base + 1 : insn->source),
		insn->line, text ? "  " : "", text ? text : ""));
	row->cell[4].paint = DIM;
}

static void add_insn(struct listing *l, const struct annotate_line *line)
{
	struct arena *a = &l->mem;
	bool hot = line->n > 0;
	struct table_row *row =
	    table_row(&l->t, hot ? words_share(a, (double)line->n / l->sum) : NULL,
		hot ? words_number(a, (double)line->n) : NULL,
		hot && line->stall >= 1.5 ? arena_printf(a, "%.1f", line->stall) : NULL,
		arena_printf(a, "%" PRIx64 "%s", line->insn->offset, line->leader ? ":" : " "),
		arena_printf(a, "    %s", words_clean(a, line->insn->text)));

	if (hot && (double)line->n > l->sum / 20)
		row->cell[0].paint = row->cell[4].paint = BOLD;
}

static void add_part(struct listing *l, const struct show_part *part)
{
	size_t i;

	l->sources.n = 0;
	read_sources(l, part);
	for (i = 0; i < part->n; i++) {
		add_source(l, part->line[i].insn);
		add_insn(l, &part->line[i]);
	}
}

static json_t *line_json(struct listing *l, const struct annotate_line *line)
{
	const struct symbols_insn *insn = line->insn;
	const char *text = insn->source ? source_text(l, insn->source, insn->line) : NULL;
	struct arena *a = &l->mem;

	return json_pack("{s:I, s:I, s:s, s:I, s:o, s:b, s:o, s:I, s:s?}", "offset",
	    (json_int_t)insn->offset, "size", (json_int_t)insn->size, "text",
	    words_clean(a, insn->text), "samples", (json_int_t)line->n, "stall",
	    isnan(line->stall) ? json_null() : json_real(line->stall), "leader", (int)line->leader,
	    "source", insn->source ? json_string(words_clean(a, insn->source)) : json_null(),
	    "line", (json_int_t)insn->line, "source_text", text);
}

static void print_json(FILE *out, struct listing *l, const struct show_part *part, size_t n)
{
	json_t *parts = json_array(), *lines;
	size_t i, k;

	for (i = 0; i < n; i++) {
		lines = json_array();
		l->sources.n = 0;
		read_sources(l, &part[i]);
		for (k = 0; k < part[i].n; k++)
			json_array_append_new(lines, line_json(l, &part[i].line[k]));
		json_array_append_new(
		    parts, json_pack("{s:s, s:s, s:o}", "function",
			       rows_function(&l->mem, l->r, part[i].function), "module",
			       rows_file(&l->mem, l->r, l->r->function.v[part[i].function].file),
			       "instructions", lines));
	}
	parts = json_pack("{s:f, s:o}", "samples", l->sum, "parts", parts);
	json_dumpf(parts, out, JSON_INDENT(2));
	fputc('\n', out);
	json_decref(parts);
}

void show_annotated(FILE *out, const struct recording *r, uint32_t event,
    const struct show_part *part, size_t n, const struct show_options *o)
{
	static const struct column column[] = {{"SHARE", RIGHT}, {"SAMPLES", RIGHT},
	    {"STALL", RIGHT}, {"OFFSET", RIGHT}, {"INSTRUCTION", CUT_END}};
	struct listing l = {.r = r,
	    .t = {.column = column, .ncolumn = sizeof column / sizeof *column, .whole = o->whole},
	    .sum = samples_of(part, n)};
	size_t i;

	if (o->json) {
		print_json(out, &l, part, n);
	} else {
		for (i = 0; i < n; i++) {
			l.t.row.n = 0;
			fprintf(out, "%s%s in %s, %s of %s\n\n", i ? "\n" : "",
			    rows_function(&l.mem, r, part[i].function),
			    rows_file(&l.mem, r, r->function.v[part[i].function].file),
			    words_plural(&l.mem, samples_of(&part[i], 1), "sample"),
			    words_clean(&l.mem, r->event.v[event].name));
			add_part(&l, &part[i]);
			table_print(out, &l.t, table_colour());
		}
	}
	table_free(&l.t);
	vec_free(&l.sources);
	arena_free(&l.mem);
}
