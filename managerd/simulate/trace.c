#include "managerd/simulate/trace.h"
#include "common/publish.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { TRACE_MAX = 1 << 30 }; /* bytes */
static const double days_max = 3660;

struct reader {
	struct trace *t;
	json_t *line;
	struct err *e;
};

/* By the name; -1 with an error. */
static int program_of(struct reader *r, const char *name, uint32_t *out)
{
	for (*out = 0; *out < r->t->program.n; ++*out)
		if (!strcmp(r->t->program.v[*out].name, name))
			return 0;
	return err_set(r->e, "no program \"%s\" was named before", name);
}

static int in_range(struct reader *r, const char *key, double v, double min, double max)
{
	if (v >= min && v <= max)
		return 0;
	return err_set(r->e, "%s: expected %g to %g, found %g", key, min, max, v);
}

static const char *keep(struct reader *r, const char *s)
{
	return s ? arena_strdup(&r->t->mem, s) : NULL;
}

#define unpack(r, ...) unpack_as(r, json_unpack_ex((r)->line, &je, JSON_STRICT, __VA_ARGS__), &je)

static int unpack_as(struct reader *r, int rc, const json_error_t *je)
{
	return rc ? err_set(r->e, "%s", je->text) : 0;
}

/* ---- the first lines ---- */

static int read_head(struct reader *r)
{
	struct trace *t = r->t;
	double version, seed = 1, start = 1700000000, every = 300, step = 10;
	const char *name;
	json_error_t je;

	t->processors = 4;
	if (unpack(r, "{s:F, s:s, s?F, s?F, s?F, s?F, s?F}", "trace", &version, "name", &name,
		"seed", &seed, "start", &start, "every", &every, "step", &step, "processors",
		&t->processors) ||
	    in_range(r, "trace", version, 1, 1) || in_range(r, "seed", seed, 0, 1e15) ||
	    in_range(r, "start", start, 1, 1e11) || in_range(r, "every", every, 0.05, 86400) ||
	    in_range(r, "step", step, 0.02, 600) ||
	    in_range(r, "processors", t->processors, 1, 4096))
		return -1;
	t->name = keep(r, name);
	t->seed = (uint64_t)seed;
	t->start_ms = (int64_t)(start * 1000);
	t->every_ms = (int64_t)(every * 1000);
	t->step_ms = (int64_t)(step * 1000);
	return 0;
}

static int read_key(struct reader *r, const char *hex, struct hash128 *key)
{
	size_t i;
	unsigned b;

	if (strlen(hex) != 2 * sizeof key->b || strspn(hex, "0123456789abcdef") != strlen(hex))
		return err_set(r->e, "functions: a key is not 32 hex digits: \"%.40s\"", hex);
	for (i = 0; i < sizeof key->b; i++) {
		sscanf(hex + 2 * i, "%2x", &b);
		key->b[i] = (uint8_t)b;
	}
	return 0;
}

static int read_table(struct reader *r, const json_t *table, struct trace_program *p)
{
	const char *name, *tu, *key, *opaque;
	struct trace_func f;
	json_error_t je;
	json_int_t n;
	json_t *row;
	size_t i;
	int rc;

	if (!json_is_array(table) || json_array_size(table) > TRACE_FUNCTIONS_MAX)
		return err_set(r->e, "functions: expected a list of at most %d functions",
		    TRACE_FUNCTIONS_MAX);
	json_array_foreach (table, i, row) {
		opaque = NULL;
		if (json_array_size(row) == 5)
			rc = json_unpack_ex(row, &je, JSON_STRICT, "[s, s, s, I, s]", &name, &tu,
			    &key, &n, &opaque);
		else
			rc = json_unpack_ex(
			    row, &je, JSON_STRICT, "[s, s, s, I]", &name, &tu, &key, &n);
		if (rc)
			return err_set(r->e, "functions: %s", je.text);
		if (in_range(r, "functions: blocks", (double)n, 1, TRACE_BLOCKS_MAX) ||
		    read_key(r, key, &f.key))
			return -1;
		f.name = keep(r, name);
		f.tu = keep(r, tu);
		f.opaque = keep(r, opaque);
		f.nblock = (uint32_t)n;
		vec_push(&p->func, f);
	}
	return 0;
}

static int read_program(struct reader *r)
{
	struct trace_program p = {.edit_s = 20, .score_s = 5, .insns = 5, .frontend = 1};
	double functions = 400, branches = 4, seed = 1;
	const char *name, *artifact = NULL;
	json_t *table = NULL;
	json_error_t je;
	struct err none;
	uint32_t i;

	if (unpack(r, "{s:s, s?F, s?F, s?F, s?F, s?F, s?F, s?F, s?s, s?o}", "program", &name,
		"edit", &p.edit_s, "score", &p.score_s, "branches", &branches, "seed", &seed,
		"frontend", &p.frontend, "size", &functions, "insns", &p.insns, "artifact",
		&artifact, "functions", &table) ||
	    in_range(r, "edit", p.edit_s, 0.01, 86400) ||
	    in_range(r, "score", p.score_s, 0.01, 86400) ||
	    in_range(r, "branches", branches, 1, TRACE_BRANCHES_MAX) ||
	    in_range(r, "size", functions, 1, TRACE_FUNCTIONS_MAX) ||
	    in_range(r, "seed", seed, 0, 1e15) || in_range(r, "frontend", p.frontend, -2, 10) ||
	    in_range(r, "insns", p.insns, 1, 1000))
		return -1;
	if (!artifact != !table)
		return err_set(r->e, "a recorded program has both \"artifact\" and \"functions\"");
	if (!*name || strchr(name, '/'))
		return err_set(r->e, "program: \"%s\" is no name", name);
	if (program_of(&(struct reader){r->t, NULL, &none}, name, &i) == 0)
		return err_set(r->e, "program \"%s\" was named before", name);
	if (r->t->program.n == TRACE_PROGRAMS_MAX)
		return err_set(r->e, "more than %d programs", TRACE_PROGRAMS_MAX);
	p.name = keep(r, name);
	p.artifact = keep(r, artifact);
	p.functions = (uint32_t)functions;
	p.branches = (uint32_t)branches;
	p.seed = (uint64_t)seed;
	if (table && read_table(r, table, &p)) {
		vec_free(&p.func);
		return -1;
	}
	vec_push(&r->t->program, p);
	return 0;
}

static int read_workload(struct reader *r)
{
	struct trace_workload w = {.uses = 1};
	const char *name, *program;
	json_error_t je;

	if (unpack(r, "{s:s, s:s, s?F, s?F}", "workload", &name, "of", &program, "uses", &w.uses,
		"differs", &w.differs) ||
	    program_of(r, program, &w.program) || in_range(r, "uses", w.uses, 0.001, 1) ||
	    in_range(r, "differs", w.differs, 0, 1))
		return -1;
	if (r->t->program.v[w.program].artifact)
		return err_set(r->e, "a recorded program has no workloads");
	w.name = keep(r, name);
	vec_push(&r->t->workload, w);
	return 0;
}

/* ---- events ---- */

static int read_run(struct reader *r, struct trace_event *ev)
{
	const char *name, *program;
	json_error_t je;
	double at;

	if (unpack(r, "{s:F, s:s, s:s, s:F}", "at", &at, "run", &program, "workload", &name, "cpu",
		&ev->cpu) ||
	    program_of(r, program, &ev->program) ||
	    in_range(r, "cpu", ev->cpu, 0, r->t->processors))
		return -1;
	for (ev->workload = 0; ev->workload < r->t->workload.n; ev->workload++)
		if (r->t->workload.v[ev->workload].program == ev->program &&
		    !strcmp(r->t->workload.v[ev->workload].name, name))
			return 0;
	return err_set(r->e, "no workload \"%s\" of \"%s\" was named before", name, program);
}

static int read_machine(struct reader *r, struct trace_event *ev)
{
	int battery = 0, asleep = 0;
	json_error_t je;
	double at;

	if (unpack(r, "{s:F, s:{s:F, s?F, s?b, s?b}}", "at", &at, "machine", "busy",
		&ev->machine.busy, "psi", &ev->machine.psi, "battery", &battery, "asleep",
		&asleep) ||
	    in_range(r, "busy", ev->machine.busy, 0, 1) ||
	    in_range(r, "psi", ev->machine.psi, 0, 1))
		return -1;
	ev->machine.battery = battery;
	ev->machine.asleep = asleep;
	return 0;
}

static int read_rebuild(struct reader *r, struct trace_event *ev)
{
	const char *program;
	json_error_t je;
	double at;

	if (unpack(r, "{s:F, s:s, s:F}", "at", &at, "rebuild", &program, "changed", &ev->changed) ||
	    program_of(r, program, &ev->program) || in_range(r, "changed", ev->changed, 0, 1))
		return -1;
	if (r->t->program.v[ev->program].artifact)
		return err_set(r->e, "a recorded program is not built again in a trace");
	return 0;
}

static int read_hand(struct reader *r, struct trace_event *ev)
{
	const char *program;
	json_error_t je;
	double at;

	if (unpack(r, "{s:F, s:s}", "at", &at, "hand", &program))
		return -1;
	return program_of(r, program, &ev->program);
}

static int read_counts(struct reader *r, const json_t *list, struct trace_event *ev)
{
	const struct trace_program *p = &r->t->program.v[ev->program];
	size_t i, n = json_array_size(list);
	struct trace_count *c = arena_array(&r->t->mem, n, sizeof *c);
	json_int_t func, block, count;
	json_error_t je;
	json_t *row;

	json_array_foreach (list, i, row) {
		if (json_unpack_ex(row, &je, JSON_STRICT, "[I, I, I]", &func, &block, &count))
			return err_set(r->e, "blocks: %s", je.text);
		if (func < 0 || (size_t)func >= p->func.n || block < 0 ||
		    block >= p->func.v[func].nblock)
			return err_set(r->e, "blocks: there is no block %lld of function %lld",
			    (long long)block, (long long)func);
		if (in_range(r, "blocks: samples", (double)count, 1, 1e12))
			return -1;
		c[i] = (struct trace_count){(uint32_t)func, (uint32_t)block, (uint64_t)count};
	}
	ev->count = c;
	ev->ncount = n;
	return 0;
}

static int read_samples(struct reader *r, struct trace_event *ev)
{
	double at, outside = 0;
	const char *program;
	json_error_t je;
	json_t *list;

	if (unpack(r, "{s:F, s:s, s:o, s?F}", "at", &at, "samples", &program, "blocks", &list,
		"outside", &outside) ||
	    program_of(r, program, &ev->program) || in_range(r, "outside", outside, 0, 1e12))
		return -1;
	if (!r->t->program.v[ev->program].artifact)
		return err_set(r->e, "only a recorded program has samples in a trace");
	if (!json_is_array(list))
		return err_set(r->e, "blocks: expected a list");
	ev->outside = (uint64_t)outside;
	return read_counts(r, list, ev);
}

/* Jobs take as long as these did in the mean. */
static int read_job(struct reader *r, struct trace_event *ev)
{
	double at, edit = -1, score = -1;
	struct trace_program *p;
	const char *program;
	json_error_t je;

	if (unpack(r, "{s:F, s:s, s?F, s?F}", "at", &at, "job", &program, "edit", &edit, "score",
		&score) ||
	    program_of(r, program, &ev->program))
		return -1;
	p = &r->t->program.v[ev->program];
	if (edit < 0 && score < 0)
		return err_set(r->e, "expected \"edit\" or \"score\"");
	if ((edit >= 0 && in_range(r, "edit", edit, 0.01, 86400)) ||
	    (score >= 0 && in_range(r, "score", score, 0.01, 86400)))
		return -1;
	if (edit >= 0)
		p->edit_s += (edit - p->edit_s) / ++p->edits;
	if (score >= 0)
		p->score_s += (score - p->score_s) / ++p->scores;
	return 0;
}

static int read_end(struct reader *r, struct trace_event *ev)
{
	json_error_t je;
	double at;
	int yes;

	return unpack(r, "{s:F, s:b}", "at", &at, "end", &yes);
}

static const struct {
	const char *key;
	enum trace_kind kind;
	int (*read)(struct reader *r, struct trace_event *ev);
} events[] = {
    {"run", TRACE_RUN, read_run},
    {"machine", TRACE_MACHINE, read_machine},
    {"rebuild", TRACE_REBUILD, read_rebuild},
    {"hand", TRACE_HAND, read_hand},
    {"samples", TRACE_SAMPLES, read_samples},
    {"job", TRACE_JOB, read_job},
    {"end", TRACE_END, read_end},
};

static int read_event(struct reader *r, const json_t *at)
{
	struct trace_event ev = {0};
	const struct trace_event *last = r->t->event.v + r->t->event.n - 1;
	size_t i, n = sizeof events / sizeof *events;

	if (in_range(r, "at", json_number_value(at), 0, days_max * 86400))
		return -1;
	for (i = 0; i < n && !json_object_get(r->line, events[i].key); i++)
		;
	if (i == n)
		return err_set(r->e, "nothing that may happen: expected \"run\", \"machine\", "
				     "\"rebuild\", \"hand\", \"samples\", \"job\" or \"end\"");
	ev.at_ms = llround(json_number_value(at) * 1000);
	ev.kind = events[i].kind;
	if (r->t->event.n && ev.at_ms < last->at_ms)
		return err_set(r->e, "at: %g is before the line above", json_number_value(at));
	if (r->t->event.n && last->kind == TRACE_END)
		return err_set(r->e, "there is something after the end");
	if (events[i].read(r, &ev))
		return -1;
	vec_push(&r->t->event, ev);
	return 0;
}

static int read_line(struct reader *r)
{
	const json_t *at = json_object_get(r->line, "at");

	if (!json_is_object(r->line))
		return err_set(r->e, "expected an object");
	if (!r->t->name)
		return json_object_get(r->line, "trace") ? read_head(r)
							 : err_set(r->e, "this is no trace");
	if (json_object_get(r->line, "program"))
		return read_program(r);
	if (json_is_number(at))
		return read_event(r, at);
	if (json_object_get(r->line, "workload"))
		return read_workload(r);
	return err_set(r->e, "expected \"program\", \"workload\" or \"at\"");
}

int trace_parse(const char *name, const char *text, size_t n, struct trace *t, struct err *e)
{
	const char *end = text + n, *next;
	struct reader r = {.t = t, .e = e};
	unsigned long line = 0;
	json_error_t je;
	struct err why;
	int rc = 0;

	*t = (struct trace){0};
	r.e = &why;
	for (; rc == 0 && text < end; text = next) {
		next = memchr(text, '\n', (size_t)(end - text));
		next = next ? next + 1 : end;
		line++;
		r.line = json_loadb(text, (size_t)(next - text), JSON_REJECT_DUPLICATES, &je);
		rc = r.line ? read_line(&r) : err_set(&why, "%s", je.text);
		json_decref(r.line);
	}
	if (rc == 0 && (!t->event.n || t->event.v[t->event.n - 1].kind != TRACE_END)) {
		line++;
		rc = err_set(&why, "the trace has no \"end\"");
	}
	if (rc == 0)
		return 0;
	trace_free(t);
	return err_set(e, "%s:%lu: %.900s", name, line, err_line(why.text));
}

int trace_read(const char *path, struct trace *t, struct err *e)
{
	struct buf text = {0};
	int rc = file_read(path, TRACE_MAX, &text, e);

	if (rc == 0)
		rc = trace_parse(path, text.p, text.n, t, e);
	buf_free(&text);
	return rc;
}

void trace_free(struct trace *t)
{
	size_t i;

	for (i = 0; i < t->program.n; i++)
		vec_free(&t->program.v[i].func);
	vec_free(&t->program);
	vec_free(&t->workload);
	vec_free(&t->event);
	arena_free(&t->mem);
}
