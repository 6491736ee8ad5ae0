/*
 * The processed profile format of the Firefox Profiler, version 61 (src/types/profile.ts and
 * docs-developer/CHANGELOG-formats.md there; later versions are upgraded from it when a file is
 * loaded). Tables are columns of equal length. Stacks, frames, functions and strings are common to
 * all threads, of which there is one for each event and task.
 *
 * Frames have no address, since addresses there are relative to where a library is loaded; all that
 * is known of them is said.
 */
#include "morphctl/report/out/formats.h"
#include "morphctl/report/out/stacks.h"
#include "morphctl/report/out/text.h"

#include <string.h>

enum { GECKO_VERSION = 30, PROCESSED_VERSION = 61, COLUMNS = 9, LIBRARY = 1 };
enum { OTHER, USER, KERNEL, JIT }; /* of the categories */

static const int64_t null = INT64_MIN, no = INT64_MIN + 1; /* as cells of a table */

struct table {
	const char *column[COLUMNS + 1];
	struct buf cell[COLUMNS];
	uint32_t n;
};

struct firefox {
	const struct recording *r;
	struct buf strings, libs, threads, name;
	struct htab string, path, pid; /* strings; source files; processes that have a thread */
	uint32_t *function, *resource; /* by level_symbol(), by file: its row + 1 */
	uint32_t *frame, *stack;       /* by location: its first row + 1; by stack: its last + 1 */
	struct table functions, resources, sources, frames, stacks;
};

/* ---- tables ---- */

static void put_cell(struct buf *b, uint32_t row, int64_t v)
{
	if (row)
		buf_char(b, ',');
	if (v == null || v == no)
		buf_str(b, v == null ? "null" : "false");
	else
		buf_printf(b, "%lld", (long long)v);
}

/* A row of as many cells as there are columns. Returns its number. */
static uint32_t put_row(struct table *t, const int64_t *cell)
{
	unsigned i;

	for (i = 0; t->column[i]; i++)
		put_cell(&t->cell[i], t->n, cell[i]);
	return t->n++;
}

/* "NAME":{…} */
static void put_table(struct buf *out, const char *name, struct table *t)
{
	unsigned i;

	buf_printf(out, "\"%s\":{\"length\":%u", name, t->n);
	for (i = 0; t->column[i]; i++) {
		buf_printf(out, ",\n\"%s\":[", t->column[i]);
		buf_add(out, t->cell[i].p, t->cell[i].n);
		buf_char(out, ']');
		buf_free(&t->cell[i]);
	}
	buf_char(out, '}');
}

static int64_t string(struct firefox *f, const char *s)
{
	bool fresh;
	uint64_t *at = htab_put_str(&f->string, s, &fresh);

	if (fresh) {
		*at = f->string.n - 1;
		buf_str(&f->strings, *at ? ",\n" : "");
		text_json(&f->strings, s);
	}
	return (int64_t)*at;
}

/* ---- what stacks are made of ---- */

/* Their name for a build: a GUID of its first 16 bytes, whose first three numbers are little-endian
 * in the bytes, and an age of 0. */
static void put_breakpad_id(struct buf *out, const struct build_id *id)
{
	static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
	unsigned i;

	for (i = 0; i < sizeof order; i++)
		buf_printf(out, "%02X", order[i] < id->n ? id->b[order[i]] : 0);
	buf_char(out, '0');
}

static void put_library(struct firefox *f, const struct recording_file *file, const char *name)
{
	struct buf *b = &f->libs;
	char hex[BUILD_ID_HEX];

	buf_str(b, b->n ? ",\n{\"arch\":\"x86_64\",\"name\":" : "{\"arch\":\"x86_64\",\"name\":");
	text_json(b, name);
	buf_str(b, ",\"path\":");
	text_json(b, file->path);
	buf_str(b, ",\"debugName\":");
	text_json(b, name);
	buf_str(b, ",\"debugPath\":");
	text_json(b, file->path);
	buf_str(b, ",\"breakpadId\":\"");
	put_breakpad_id(b, &file->id);
	buf_str(b, "\",\"codeId\":");
	if (file->id.n)
		buf_printf(b, "\"%s\"}", build_id_hex(&file->id, hex));
	else
		buf_str(b, "null}");
}

/* The row of a file's resource, -1 for RECORDING_NONE. */
static int64_t resource(struct firefox *f, uint32_t file)
{
	const struct recording_file *of;
	const char *slash, *name;
	int64_t number;

	if (file == RECORDING_NONE || f->r->file.v[file].kind == RECORDING_NAMED)
		return -1;
	if (!f->resource[file]) {
		of = &f->r->file.v[file];
		slash = strrchr(of->path, '/');
		name = slash && slash[1] && *of->path != '[' ? slash + 1 : of->path;
		number = f->resources.n;
		put_library(f, of, name);
		put_row(&f->resources, (int64_t[]){LIBRARY, number, string(f, name), null});
		f->resource[file] = f->resources.n;
	}
	return f->resource[file] - 1;
}

static int64_t source(struct firefox *f, const char *path)
{
	bool fresh;
	uint64_t *at;

	if (!path)
		return null;
	at = htab_put_str(&f->path, path, &fresh);
	if (fresh)
		*at = put_row(&f->sources, (int64_t[]){null, string(f, path), 1, 1, null});
	return (int64_t)*at;
}

static int64_t function(struct firefox *f, const struct level *l)
{
	const struct recording *r = f->r;
	uint32_t *row = &f->function[level_symbol(l, r)];
	const struct recording_function *of;
	int64_t name, file;

	if (*row)
		return *row - 1;
	name = string(f, level_name(l, r, &f->name));
	if (l->function == RECORDING_NONE) {
		file = resource(f, r->location.v[l->location].file);
		*row = put_row(&f->functions, (int64_t[]){name, no, no, file, null, null, null});
	} else {
		of = &r->function.v[l->function];
		file = resource(f, of->file);
		*row = put_row(&f->functions, (int64_t[]){name, no, no, file, source(f, of->source),
						  of->line ? of->line : null, null});
	}
	return (*row)++;
}

static int64_t category(const struct recording *r, uint32_t file)
{
	static const int64_t of_kind[] = {[RECORDING_ELF] = USER,
	    [RECORDING_KERNEL] = KERNEL,
	    [RECORDING_ANON] = JIT,
	    [RECORDING_NAMED] = OTHER};

	return file == RECORDING_NONE ? OTHER : of_kind[r->file.v[file].kind];
}

/* The first of a location's rows, one for each level of it. */
static uint32_t frames(struct firefox *f, uint32_t location, uint32_t *n)
{
	struct levels l = {0};
	int64_t in = category(f->r, f->r->location.v[location].file);
	uint32_t i;

	levels_of_location(&l, f->r, location);
	*n = (uint32_t)l.v.n;
	if (!f->frame[location]) {
		f->frame[location] = f->frames.n + 1;
		for (i = 0; i < *n; i++)
			put_row(&f->frames, (int64_t[]){-1, i, in, 0, function(f, &l.v.v[i]), null,
						0, l.v.v[i].line ? l.v.v[i].line : null, null});
	}
	vec_free(&l.v);
	return f->frame[location] - 1;
}

/* Rows for all stacks that samples have; a caller comes before those it calls. */
static void put_stacks(struct firefox *f)
{
	const struct recording *r = f->r;
	bool *used = xcalloc(r->stack.n, sizeof *used);
	uint32_t s, frame, n, i;
	size_t k;
	int64_t caller;

	for (k = 0; k < r->sample.n; k++)
		for (s = r->sample.v[k].stack; s != RECORDING_NONE && !used[s];
		     s = r->stack.v[s].caller)
			used[s] = true;
	for (s = 0; s < r->stack.n; s++) {
		if (!used[s])
			continue;
		caller = r->stack.v[s].caller;
		caller = caller == RECORDING_NONE ? null : f->stack[caller] - 1LL;
		frame = frames(f, r->stack.v[s].location, &n);
		for (i = 0; i < n; i++)
			caller = put_row(&f->stacks, (int64_t[]){frame + i, caller});
		f->stack[s] = (uint32_t)caller + 1;
	}
	free(used);
}

/* ---- threads ---- */

static void put_ms(struct buf *b, uint64_t ns)
{
	buf_printf(b, "%llu.%06llu", (unsigned long long)(ns / 1000000),
	    (unsigned long long)(ns % 1000000));
}

/* Without times samples follow one another, each as long as its period or else a millisecond. */
static uint64_t duration(const struct recording *r, const struct recording_sample *s)
{
	return strcmp(r->event.v[s->event].unit, "ns") == 0 && s->period ? s->period
									 : s->n * 1000000;
}

static void put_samples(struct firefox *f, const struct recording_sample *s,
    const struct recording_sample *end, const uint64_t *start)
{
	struct buf stack = {0}, time = {0}, weight = {0}, *out = &f->threads;
	uint32_t row = 0;
	uint64_t now = 0;

	for (; s < end; s++, row++) {
		put_cell(&stack, row, s->stack == RECORDING_NONE ? null : f->stack[s->stack] - 1LL);
		buf_str(&weight, row ? "," : "");
		buf_decimal(&weight, s->n);
		buf_str(&time, row ? "," : "");
		if (start)
			now = s->time_ns > *start ? s->time_ns - *start : 0;
		put_ms(&time, now);
		now += duration(f->r, s);
	}
	buf_printf(out, "\"samples\":{\"length\":%u,\"weightType\":\"samples\",\n\"stack\":[", row);
	buf_add(out, stack.p, stack.n);
	buf_str(out, "],\n\"time\":[");
	buf_add(out, time.p, time.n);
	buf_str(out, "],\n\"weight\":[");
	buf_add(out, weight.p, weight.n);
	buf_str(out, "]}");
	buf_free(&stack);
	buf_free(&time);
	buf_free(&weight);
}

static void put_thread(struct firefox *f, const struct recording_sample *s,
    const struct recording_sample *end, const uint64_t *start)
{
	static const struct recording_task unknown = {.comm = ""};
	const struct recording_task *t =
	    s->task == RECORDING_NONE ? &unknown : &f->r->task.v[s->task];
	const char *event = f->r->event.v[s->event].name;
	struct buf *out = &f->threads;
	bool first;

	htab_put(&f->pid, &t->pid, sizeof t->pid, &first);
	buf_printf(out,
	    "%s{\"processType\":\"default\",\"processStartupTime\":0,"
	    "\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,"
	    "\"pausedRanges\":[],\"pid\":\"%u\",\"tid\":%u,\"isMainThread\":%s,\n\"name\":",
	    out->n ? ",\n" : "", t->pid, t->tid ? t->tid : t->pid, first ? "true" : "false");
	f->name.n = 0;
	buf_str(&f->name, *t->comm ? t->comm : "unknown");
	if (f->r->event.n > 1)
		buf_printf(&f->name, " (%s)", event);
	text_json(out, buf_cstr(&f->name));
	buf_str(out, ",\"processName\":");
	text_json(out, *t->comm ? t->comm : "unknown");
	buf_str(out, ",\n\"markers\":{\"length\":0,\"data\":[],\"name\":[],\"startTime\":[],"
		     "\"endTime\":[],\"phase\":[],\"category\":[]},\n");
	put_samples(f, s, end, start);
	buf_char(out, '}');
}

static void put_threads(struct firefox *f)
{
	struct recording sorted;
	bool timed = samples_in_time(&sorted, f->r);
	const struct recording_sample *s = sorted.sample.v;
	uint64_t start = UINT64_MAX;
	size_t i, end;

	for (i = 0; i < sorted.sample.n; i++)
		if (s[i].time_ns && s[i].time_ns < start)
			start = s[i].time_ns;
	for (i = 0; i < sorted.sample.n; i = end) {
		end = samples_of_task(&sorted, i);
		put_thread(f, s + i, s + end, timed ? &start : NULL);
	}
	recording_free(&sorted);
}

/* ---- the file ---- */

/* The mean period of events in nanoseconds, a millisecond where there are none. */
static uint64_t interval(const struct recording *r)
{
	const struct recording_sample *s;
	uint64_t n = 0, period = 0;

	for (s = r->sample.v; s < r->sample.v + r->sample.n; s++) {
		if (strcmp(r->event.v[s->event].unit, "ns") == 0 && s->period) {
			n += s->n;
			period += s->period;
		}
	}
	return n && period / n ? period / n : 1000000;
}

static void put_meta(struct buf *out, const struct recording *r, const char *title)
{
	static const char *const category[][2] = {[OTHER] = {"Other", "grey"},
	    [USER] = {"User", "yellow"},
	    [KERNEL] = {"Kernel", "orange"},
	    [JIT] = {"JIT", "blue"}};
	size_t i;

	buf_printf(out, "{\"meta\":{\"version\":%d,\"preprocessedProfileVersion\":%d,\"interval\":",
	    GECKO_VERSION, PROCESSED_VERSION);
	put_ms(out, interval(r));
	buf_str(out, ",\"startTime\":0,\"processType\":0,\"stackwalk\":1,\"symbolicated\":true,"
		     "\"sourceCodeIsNotOnSearchfox\":true,\"usesOnlyOneStackType\":true,"
		     "\"importedFrom\":\"Morph " MORPH_VERSION "\",\"product\":");
	text_json(out, title ? title : "Morph");
	buf_str(out, ",\n\"markerSchema\":[],\"categories\":[");
	for (i = 0; i < sizeof category / sizeof *category; i++)
		buf_printf(out,
		    "%s{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}",
		    i ? "," : "", category[i][0], category[i][1]);
	buf_str(out, "]},\n");
}

static void put_profile(struct firefox *f, struct buf *out)
{
	struct table symbols = {.column = {"libIndex", "address", "name", "functionSize"}};

	put_stacks(f);
	put_threads(f);
	buf_str(out, "\"libs\":[");
	buf_add(out, f->libs.p, f->libs.n);
	buf_str(out, "],\n\"shared\":{");
	put_table(out, "stackTable", &f->stacks);
	buf_str(out, ",\n");
	put_table(out, "frameTable", &f->frames);
	buf_str(out, ",\n");
	put_table(out, "funcTable", &f->functions);
	buf_str(out, ",\n");
	put_table(out, "resourceTable", &f->resources);
	buf_str(out, ",\n");
	put_table(out, "nativeSymbols", &symbols);
	buf_str(out, ",\n");
	put_table(out, "sources", &f->sources);
	buf_str(out, ",\n\"stringArray\":[");
	buf_add(out, f->strings.p, f->strings.n);
	buf_str(out, "]},\n\"threads\":[");
	buf_add(out, f->threads.p, f->threads.n);
	buf_str(out, "]}\n");
}

int write_firefox(
    const struct recording *r, const struct out_options *o, struct buf *out, struct err *e)
{
	struct firefox f = {.r = r,
	    .function = xcalloc(r->function.n + r->file.n + 1, sizeof *f.function),
	    .resource = xcalloc(r->file.n, sizeof *f.resource),
	    .frame = xcalloc(r->location.n, sizeof *f.frame),
	    .stack = xcalloc(r->stack.n, sizeof *f.stack),
	    .stacks.column = {"frame", "prefix"},
	    .frames.column = {"address", "inlineDepth", "category", "subcategory", "func",
		"nativeSymbol", "innerWindowID", "line", "column"},
	    .functions.column = {"name", "isJS", "relevantForJS", "resource", "source",
		"lineNumber", "columnNumber"},
	    .resources.column = {"type", "lib", "name", "host"},
	    .sources.column = {"id", "filename", "startLine", "startColumn", "sourceMapURL"}};

	put_meta(out, r, o->title);
	put_profile(&f, out);
	buf_free(&f.strings);
	buf_free(&f.libs);
	buf_free(&f.threads);
	buf_free(&f.name);
	htab_free(&f.string);
	htab_free(&f.path);
	htab_free(&f.pid);
	free(f.function);
	free(f.resource);
	free(f.frame);
	free(f.stack);
	return 0;
}
