#include "morphctl/report/symbols/symbols.h"
#include "common/log.h"
#include "common/publish.h"
#include "common/sort.h"
#include "morphctl/report/symbols/answer.h"
#include "morphctl/report/confined/confined.h"
#include "morphctl/report/symbols/open.h"
#include "morphctl/report/symbols/readers.h"

#include <string.h>

enum { KALLSYMS_MAX = 128 << 20, PERFMAP_MAX = 512 << 20 };

/* The locations of one file that are to be resolved, by offset. */
struct work {
	struct recording *r;
	const struct symbols_options *o;
	uint32_t file;
	const uint32_t *location;
	struct request q;
};

/* ---- in the child ---- */

static int read_text(const struct request *q, struct recording *r, struct err *e)
{
	bool kernel = q->file->kind == RECORDING_KERNEL;
	struct buf b = {0};

	if (reader_bytes(kernel ? KALLSYMS_MAX : PERFMAP_MAX, &b, e))
		return -1;
	if (kernel)
		return read_kallsyms(q, b.p, b.n, r, e);
	read_perfmap(q, b.p, b.n, r);
	return 0;
}

static int read_file(void *arg, struct buf *answer, struct err *e)
{
	const struct request *q = arg;
	struct recording r = {0};

	if (q->file->kind == RECORDING_ELF ? read_elf(q, &r, e) : read_text(q, &r, e))
		return -1;
	answer_encode(&r, answer);
	return 0;
}

/* ---- in the parent ---- */

static void add_answer(struct work *w, const struct recording *found)
{
	uint32_t *index = xmalloc(found->function.n * sizeof *index + 1);
	struct recording_frame frame[ANSWER_DEPTH];
	struct recording_function f;
	size_t i, k;

	for (i = 0; i < found->function.n; i++) {
		f = found->function.v[i];
		f.file = w->file;
		index[i] = recording_function(w->r, &f);
	}
	for (i = 0; i < w->q.n; i++) {
		const struct recording_location *l = &found->location.v[i];

		for (k = 0; k < l->nframe; k++) {
			frame[k] = found->frame.v[l->frame + k];
			frame[k].function = index[frame[k].function];
		}
		recording_resolve(w->r, w->location[i], frame, l->nframe);
	}
	free(index);
}

/* Returns 0, or -1 and why nothing is known of a file that is there. */
static int read_confined(struct work *w, int fd, struct err *e)
{
	struct confined c = {.file = fd, .folder = w->q.debug, .run = read_file, .arg = &w->q};
	struct recording found = {0};
	struct buf answer = {0};
	int rc =
	    confined_run(&c, &answer, e) || answer_decode(answer.p, answer.n, w->q.n, &found, e);

	if (!rc)
		add_answer(w, &found);
	recording_free(&found);
	buf_free(&answer);
	return rc ? -1 : 0;
}

static void resolve_file(struct work *w, bool *kernel_warned)
{
	const struct recording_file *f = w->q.file;
	int fd = open_for(f, w->o);
	size_t i;
	struct err e;

	if (fd >= 0 && read_confined(w, fd, &e)) {
		if (f->kind != RECORDING_KERNEL)
			log_warn("%s: functions are not named: %s", f->path, e.text);
		else if (!*kernel_warned)
			log_warn("functions of the kernel are not named: %s", e.text);
		*kernel_warned |= f->kind == RECORDING_KERNEL;
	}
	fd_close(&fd);
	for (i = 0; i < w->q.n; i++)
		if (!w->r->location.v[w->location[i]].resolved)
			recording_resolve(w->r, w->location[i], NULL, 0);
}

struct todo {
	uint32_t file;
	uint64_t offset;
	uint32_t location;
};

static int by_offset(const void *a, const void *b)
{
	const struct todo *x = a, *y = b;

	return ORDER(x->file, y->file) ?: ORDER(x->offset, y->offset);
}

/* The n at t are all of one file. */
static void resolve_some(struct recording *r, const struct symbols_options *o, const struct todo *t,
    size_t n, bool *kernel_warned)
{
	struct recording_file f = r->file.v[t->file];
	uint64_t *at = xmalloc(n * sizeof *at);
	uint32_t *location = xmalloc(n * sizeof *location);
	struct work w = {r, o, t->file, location,
	    {&f, f.kind == RECORDING_ELF ? open_debug_folder(o) : NULL, o->lines, at, n}};
	size_t i;

	for (i = 0; i < n; i++) {
		at[i] = t[i].offset;
		location[i] = t[i].location;
	}
	resolve_file(&w, kernel_warned);
	free(at);
	free(location);
}

void symbols_resolve(struct recording *r, const struct symbols_options *o)
{
	VEC(struct todo) todo = {0};
	bool kernel_warned = false;
	size_t i, n;

	for (i = 0; i < r->location.n; i++)
		if (!r->location.v[i].resolved)
			vec_push(&todo, (struct todo){r->location.v[i].file,
					    r->location.v[i].offset, (uint32_t)i});
	vec_sort(&todo, by_offset);
	for (i = 0; i < todo.n; i += n) {
		for (n = 1; i + n < todo.n && todo.v[i + n].file == todo.v[i].file; n++)
			;
		resolve_some(r, o, &todo.v[i], n, &kernel_warned);
	}
	vec_free(&todo);
}
