#include "morphctl/report/symbols/symbols.h"
#include "common/log.h"
#include "common/publish.h"
#include "common/sort.h"
#include "morphctl/report/symbols/answer.h"
#include "morphctl/report/confined/confined.h"
#include "morphctl/report/symbols/open.h"
#include "morphctl/report/symbols/readers.h"

#include <string.h>
#include <unistd.h>

enum { KALLSYMS_MAX = 128 << 20, PERFMAP_MAX = 512 << 20 };

/* The locations of one file that are to be resolved, by offset. */
struct work {
	struct recording *r;
	const struct symbols_options *o;
	uint32_t file;
	uint32_t *location;
	uint64_t *at; /* q.at */
	struct request q;
	struct recording_piece *piece; /* of that file, by start */
	size_t npiece;
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
	const struct request *q = &((const struct work *)arg)->q;
	struct recording r = {0};

	if (q->file->kind == RECORDING_ELF ? read_elf(q, &r, e) : read_text(q, &r, e))
		return -1;
	answer_encode(&r, answer);
	return 0;
}

static int name_pieces(void *arg, struct buf *answer, struct err *e)
{
	const struct work *w = arg;
	struct recording r = {0};

	(void)e;
	read_pieces(&w->q, w->piece, w->npiece, &r);
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

/* Returns 0, or -1 and why nothing is known. */
static int ask(struct work *w, const struct confined *c, struct err *e)
{
	struct recording found = {0};
	struct buf answer = {0};
	int rc =
	    confined_run(c, &answer, e) || answer_decode(answer.p, answer.n, w->q.n, &found, e);

	if (!rc)
		add_answer(w, &found);
	recording_free(&found);
	buf_free(&answer);
	return rc ? -1 : 0;
}

/* What has no name yet is asked about once more. */
static void resolve_by_pieces(struct work *w)
{
	struct work rest = *w;
	struct confined c = {.file = -1, .owner = geteuid(), .run = name_pieces, .arg = &rest};
	const struct recording_location *l = w->r->location.v;
	struct err e;
	size_t i;

	rest.q.n = 0;
	for (i = 0; i < w->q.n; i++) {
		if (l[w->location[i]].nframe)
			continue;
		w->at[rest.q.n] = w->at[i];
		w->location[rest.q.n++] = w->location[i];
	}
	if (rest.q.n && ask(&rest, &c, &e))
		log_warn("%s: functions are not named: %s", w->q.file->path, e.text);
}

static void resolve_file(struct work *w, bool *kernel_warned)
{
	const struct recording_file *f = w->q.file;
	int fd = open_for(f, w->o);
	struct confined c = {.file = fd, .folder = w->q.debug, .run = read_file, .arg = w};
	size_t i;
	struct err e;

	if (fd >= 0 && ask(w, &c, &e)) {
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
	if (w->npiece)
		resolve_by_pieces(w);
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

static int by_piece(const void *a, const void *b)
{
	const struct recording_piece *x = a, *y = b;

	return ORDER(x->file, y->file) ?: ORDER(x->start, y->start);
}

/* Those of a file, of pieces that are sorted. */
static size_t piece_range(struct recording *r, uint32_t file, struct recording_piece **of)
{
	const struct recording_piece *p = r->piece.v;
	size_t from = partition_point(0, r->piece.n, m, p[m].file < file);
	size_t to = partition_point(from, r->piece.n, m, p[m].file <= file);

	*of = r->piece.v + from;
	return to - from;
}

/* The n at t are all of one file. */
static void resolve_some(struct recording *r, const struct symbols_options *o, const struct todo *t,
    size_t n, bool *kernel_warned)
{
	struct recording_file f = r->file.v[t->file];
	uint64_t *at = xmalloc(n * sizeof *at);
	uint32_t *location = xmalloc(n * sizeof *location);
	struct work w = {.r = r,
	    .o = o,
	    .file = t->file,
	    .location = location,
	    .at = at,
	    .q = {&f, f.kind == RECORDING_ELF ? open_debug_folder(o) : NULL, o->lines, at, n}};
	size_t i;

	for (i = 0; i < n; i++) {
		at[i] = t[i].offset;
		location[i] = t[i].location;
	}
	w.npiece = piece_range(r, t->file, &w.piece);
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
	vec_sort(&r->piece, by_piece);
	for (i = 0; i < todo.n; i += n) {
		for (n = 1; i + n < todo.n && todo.v[i + n].file == todo.v[i].file; n++)
			;
		resolve_some(r, o, &todo.v[i], n, &kernel_warned);
	}
	vec_free(&todo);
}
