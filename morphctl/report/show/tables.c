#include "morphctl/report/show/rows.h"
#include "morphctl/report/show/show.h"
#include "morphctl/text/table.h"
#include "morphctl/text/words.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

struct shown {
	const struct recording *r;
	const struct breakdown_query *q;
	const struct breakdown *t;
	struct arena mem;
};

static const struct recording_event *event_of(const struct shown *s)
{
	return &s->r->event.v[s->q->event];
}

static const char *row_text(struct shown *s, const struct breakdown_row *row)
{
	struct arena *a = &s->mem;
	const struct recording_task *task;

	switch (s->q->level) {
	case BREAKDOWN_MODULE:
		return rows_file(a, s->r, row->file);
	case BREAKDOWN_FUNCTION:
		return rows_function(a, s->r, row->function);
	case BREAKDOWN_LINE:
		return row->source
			   ? arena_printf(a, "%s:%u", words_clean(a, row->source), row->line)
			   : "[unknown]";
	case BREAKDOWN_ADDRESS:
		return arena_printf(a, "%#" PRIx64, row->offset);
	case BREAKDOWN_PROCESS:
		break;
	}
	if (row->task == RECORDING_NONE)
		return "[unknown]";
	task = &s->r->task.v[row->task];
	return arena_printf(a, "%u %s", task->pid, words_clean(a, task->comm));
}

/* What a row is of, where its own text does not say. */
static const char *row_where(struct shown *s, const struct breakdown_row *row, bool function)
{
	if (function && s->q->level != BREAKDOWN_FUNCTION)
		return rows_function(&s->mem, s->r, row->function);
	return rows_file(&s->mem, s->r, row->file);
}

static bool is_timed(const struct shown *s)
{
	return strcmp(event_of(s)->unit, "ns") == 0;
}

static void print_head(FILE *out, struct shown *s)
{
	const struct recording_event *e = event_of(s);
	struct arena *a = &s->mem;
	size_t i;

	fprintf(
	    out, "%s of %s", words_plural(a, (double)s->t->n, "sample"), words_clean(a, e->name));
	if (is_timed(s))
		fprintf(out, ", %s", rows_amount(a, e->unit, s->t->sum));
	else if (strcmp(e->unit, "count") != 0)
		fprintf(
		    out, ", %s %s", rows_amount(a, e->unit, s->t->sum), words_clean(a, e->unit));
	if (s->r->lost)
		fprintf(out, "; %s were lost", words_number(a, (double)s->r->lost));
	fputc('\n', out);
	for (i = 0; i < s->r->event.n; i++)
		if (i != s->q->event)
			fprintf(out, "Another event: %s (--event)\n",
			    words_clean(a, s->r->event.v[i].name));
}

static void add_row(struct table *t, struct shown *s, const struct breakdown_row *row)
{
	struct arena *a = &s->mem;
	const char *cell[7];
	unsigned n = 0, k;
	struct table_row *to = table_row(t, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
	bool deep = s->q->level == BREAKDOWN_LINE || s->q->level == BREAKDOWN_ADDRESS;

	cell[n++] = words_share(a, row->self / s->t->sum);
	if (s->t->chains)
		cell[n++] = words_share(a, row->total / s->t->sum);
	cell[n++] = words_number(a, (double)row->n);
	cell[n++] = rows_amount(a, event_of(s)->unit, row->self);
	if (s->q->charged)
		cell[n++] = rows_amount(a, event_of(s)->unit, row->charged);
	cell[n++] = row_text(s, row);
	if (s->q->level == BREAKDOWN_FUNCTION || deep)
		cell[n++] = row_where(s, row, deep);
	for (k = 0; k < n; k++)
		to->cell[k].text = cell[k];
}

static unsigned columns(const struct shown *s, struct column *c)
{
	static const char *const name[] = {"MODULE", "FUNCTION", "LINE", "OFFSET", "PROCESS"};
	enum breakdown_level level = s->q->level;
	unsigned n = 0;

	c[n++] = (struct column){"SHARE", RIGHT};
	if (s->t->chains)
		c[n++] = (struct column){"TOTAL", RIGHT};
	c[n++] = (struct column){"SAMPLES", RIGHT};
	c[n++] = (struct column){is_timed(s) ? "TIME" : "PERIODS", RIGHT};
	if (s->q->charged)
		c[n++] = (struct column){"CHARGED", RIGHT};
	c[n++] =
	    (struct column){name[level], level == BREAKDOWN_MODULE || level == BREAKDOWN_LINE ? CUT
					 : level == BREAKDOWN_ADDRESS                         ? LEFT
								      : CUT_END};
	if (level == BREAKDOWN_FUNCTION)
		c[n++] = (struct column){"MODULE", LEFT};
	if (level == BREAKDOWN_LINE || level == BREAKDOWN_ADDRESS)
		c[n++] = (struct column){"FUNCTION", LEFT};
	return n;
}

static void print_table(FILE *out, struct shown *s, const struct show_options *o)
{
	struct column column[TABLE_COLUMNS];
	struct table t = {.column = column, .whole = o->whole};
	size_t i, n = s->t->row.n < o->limit ? s->t->row.n : o->limit;

	t.ncolumn = columns(s, column);
	print_head(out, s);
	for (i = 0; i < n; i++)
		add_row(&t, s, &s->t->row.v[i]);
	if (n) {
		fputc('\n', out);
		table_print(out, &t, table_colour());
	}
	if (n < s->t->row.n)
		fprintf(out, "… and %s more (--limit)\n",
		    words_number(&s->mem, (double)(s->t->row.n - n)));
	table_free(&t);
}

/* ---- JSON ---- */

static json_t *text_json(const char *s)
{
	return s ? json_string(s) : json_null();
}

static json_t *row_json(struct shown *s, const struct breakdown_row *row)
{
	const struct recording *r = s->r;
	json_t *j = json_pack("{s:I, s:f, s:f, s:f}", "samples", (json_int_t)row->n, "self",
	    row->self, "total", row->total, "share", s->t->sum > 0 ? row->self / s->t->sum : 0);
	const struct recording_function *f =
	    row->function == RECORDING_NONE ? NULL : &r->function.v[row->function];

	if (s->q->charged)
		json_object_set_new(j, "charged", json_real(row->charged));
	if (s->q->level == BREAKDOWN_PROCESS) {
		if (row->task != RECORDING_NONE)
			json_object_set_new(j, "pid", json_integer(r->task.v[row->task].pid));
		json_object_set_new(j, "process", text_json(row_text(s, row)));
		return j;
	}
	json_object_set_new(j, "module",
	    row->file == RECORDING_NONE ? json_null()
					: text_json(rows_file(&s->mem, r, row->file)));
	if (s->q->level == BREAKDOWN_MODULE)
		return j;
	json_object_set_new(
	    j, "function", f ? text_json(words_clean(&s->mem, f->name)) : json_null());
	json_object_set_new(
	    j, "linkage", f ? text_json(words_clean(&s->mem, f->linkage)) : json_null());
	if (s->q->level == BREAKDOWN_LINE) {
		json_object_set_new(j, "source",
		    row->source ? text_json(words_clean(&s->mem, row->source)) : json_null());
		json_object_set_new(j, "line", json_integer(row->line));
	}
	if (s->q->level == BREAKDOWN_ADDRESS)
		json_object_set_new(j, "offset", json_integer((json_int_t)row->offset));
	return j;
}

static void print_json(FILE *out, struct shown *s, const struct show_options *o)
{
	json_t *rows = json_array(), *all;
	size_t i;

	for (i = 0; i < s->t->row.n && i < o->limit; i++)
		json_array_append_new(rows, row_json(s, &s->t->row.v[i]));
	all = json_pack("{s:s*, s:s*, s:I, s:f, s:I, s:b, s:I, s:o}", "event", event_of(s)->name,
	    "unit", event_of(s)->unit, "samples", (json_int_t)s->t->n, "sum", s->t->sum, "lost",
	    (json_int_t)s->r->lost, "chains", (int)s->t->chains, "rows_total",
	    (json_int_t)s->t->row.n, "rows", rows);
	json_dumpf(all, out, JSON_INDENT(2));
	fputc('\n', out);
	json_decref(all);
}

void show_breakdown(FILE *out, const struct recording *r, const struct breakdown_query *q,
    const struct show_options *o)
{
	struct breakdown t;
	struct shown s = {.r = r, .q = q, .t = &t};

	breakdown_make(&t, r, q);
	if (o->json)
		print_json(out, &s, o);
	else
		print_table(out, &s, o);
	breakdown_free(&t);
	arena_free(&s.mem);
}
