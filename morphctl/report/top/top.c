#include "morphctl/report/top/top.h"
#include "common/sort.h"
#include "morphctl/report/show/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

unsigned top_window(unsigned i)
{
	static const unsigned seconds[] = {TOP_LIVE, 600, 3600, 86400};

	return i < sizeof seconds / sizeof *seconds ? seconds[i] : 0;
}

const char *top_name(const struct top *t, const struct breakdown_row *row, struct arena *a)
{
	const struct recording_task *task;

	switch (t->query.level) {
	case BREAKDOWN_MODULE:
		return rows_file(a, t->r, row->file);
	case BREAKDOWN_FUNCTION:
		return rows_function(a, t->r, row->function);
	case BREAKDOWN_LINE:
		return row->source ? arena_printf(a, "%s:%u", row->source, row->line) : "[unknown]";
	case BREAKDOWN_ADDRESS:
		return arena_printf(a, "%" PRIx64, row->offset);
	case BREAKDOWN_PROCESS:
		break;
	}
	task = row->task == RECORDING_NONE ? NULL : &t->r->task.v[row->task];
	return task ? arena_printf(a, "%u %s", task->pid, task->comm) : "[unknown]";
}

/* ---- the rows ---- */

struct sorting {
	const struct top *t;
	struct arena mem;
};

static int by_total(const void *a, const void *b)
{
	const struct breakdown_row *x = a, *y = b;

	return ORDER(y->total, x->total) ?: ORDER(y->self, x->self) ?: ORDER(x->file, y->file)
	    ?: ORDER(x->function, y->function);
}

static int by_name(const void *a, const void *b, void *arg)
{
	struct sorting *s = arg;

	return strcmp(top_name(s->t, a, &s->mem), top_name(s->t, b, &s->mem));
}

static void sort_rows(struct top *t)
{
	struct sorting s = {.t = t};

	if (t->sort == TOP_TOTAL)
		vec_sort(&t->rows.row, by_total);
	else if (t->sort == TOP_NAME && t->rows.row.n)
		qsort_r(t->rows.row.v, t->rows.row.n, sizeof *t->rows.row.v, by_name, &s);
	arena_free(&s.mem);
}

static void make_rows(struct top *t)
{
	breakdown_free(&t->rows);
	t->rows = (struct breakdown){0};
	if (t->query.event != RECORDING_NONE)
		breakdown_make(&t->rows, t->r, &t->query);
	sort_rows(t);
	if (t->selected >= t->rows.row.n)
		t->selected = t->rows.row.n ? t->rows.row.n - 1 : 0;
}

void top_update(struct top *t, const struct recording *r)
{
	t->r = r;
	t->query.event = breakdown_event(r);
	make_rows(t);
}

/* ---- keys ---- */

static void set(char **at, const char **query, const char *value)
{
	free(*at);
	*at = value ? xstrdup(value) : NULL;
	*query = *at;
}

static void enter(struct top *t)
{
	const struct breakdown_row *row = &t->rows.row.v[t->selected];

	if (t->selected >= t->rows.row.n)
		return;
	if (t->query.level == BREAKDOWN_MODULE && row->file != RECORDING_NONE) {
		set(&t->module, &t->query.module, t->r->file.v[row->file].path);
		t->query.level = BREAKDOWN_FUNCTION;
	} else if (t->query.level == BREAKDOWN_FUNCTION && row->function != RECORDING_NONE) {
		set(&t->function, &t->query.function, t->r->function.v[row->function].linkage);
		t->query.level = BREAKDOWN_LINE;
	} else if (t->query.level == BREAKDOWN_LINE) {
		t->query.level = BREAKDOWN_ADDRESS;
	} else {
		return;
	}
	t->selected = 0;
}

static void leave(struct top *t)
{
	switch (t->query.level) {
	case BREAKDOWN_ADDRESS:
		t->query.level = BREAKDOWN_LINE;
		break;
	case BREAKDOWN_LINE:
		set(&t->function, &t->query.function, NULL);
		t->query.level = BREAKDOWN_FUNCTION;
		break;
	case BREAKDOWN_FUNCTION:
	case BREAKDOWN_PROCESS:
		set(&t->module, &t->query.module, NULL);
		t->query.level = BREAKDOWN_MODULE;
		break;
	case BREAKDOWN_MODULE:
		break;
	}
	t->selected = 0;
}

static void move(struct top *t, int64_t by)
{
	int64_t at = (int64_t)t->selected + by, last = (int64_t)t->rows.row.n - 1;

	t->selected = (size_t)(at < 0 || last < 0 ? 0 : at > last ? last : at);
}

static void toggle_processes(struct top *t)
{
	bool were = t->query.level == BREAKDOWN_PROCESS;

	while (t->query.level != BREAKDOWN_MODULE)
		leave(t);
	t->query.level = were ? BREAKDOWN_MODULE : BREAKDOWN_PROCESS;
	t->selected = 0;
}

bool top_key(struct top *t, enum top_key key)
{
	int64_t page = t->page ? (int64_t)t->page : 1;

	switch (key) {
	case TOP_UP:
	case TOP_DOWN:
		move(t, key == TOP_UP ? -1 : 1);
		return false;
	case TOP_PAGE_UP:
	case TOP_PAGE_DOWN:
		move(t, key == TOP_PAGE_UP ? -page : page);
		return false;
	case TOP_FIRST:
	case TOP_LAST:
		move(t, key == TOP_FIRST ? INT32_MIN : INT32_MAX);
		return false;
	case TOP_ENTER:
		enter(t);
		break;
	case TOP_LEAVE:
		leave(t);
		break;
	case TOP_SORT:
		t->sort = (t->sort + 1) % TOP_SORTS;
		break;
	case TOP_PROCESSES:
		toggle_processes(t);
		break;
	case TOP_WINDOW:
		t->window = top_window(t->window + 1) ? t->window + 1 : 0;
		return true;
	case TOP_PAUSE:
		t->paused = !t->paused;
		return !t->paused;
	case TOP_QUIT:
		t->quit = true;
		return false;
	case TOP_OTHER:
		return false;
	}
	make_rows(t);
	return false;
}

void top_free(struct top *t)
{
	breakdown_free(&t->rows);
	free(t->module);
	free(t->function);
}
