#include "morphctl/report/recording/recording.h"
#include "common/sort.h"

#include <stdlib.h>
#include <string.h>

/* What the index is of: the first number of each key. */
enum sort { FILES, LOCATIONS, STACKS, TASKS, EVENTS, FUNCTIONS, BRANCHES, RANGES, STRINGS };

void recording_free(struct recording *r)
{
	vec_free(&r->file);
	vec_free(&r->function);
	vec_free(&r->frame);
	vec_free(&r->location);
	vec_free(&r->stack);
	vec_free(&r->task);
	vec_free(&r->event);
	vec_free(&r->sample);
	vec_free(&r->branch);
	vec_free(&r->range);
	vec_free(&r->waiting);
	vec_free(&r->piece);
	htab_free(&r->index);
	arena_free(&r->mem);
	*r = (struct recording){0};
}

/* The copy of a string, the same for equal ones; NULL stays. */
static const char *intern(struct recording *r, const char *s)
{
	struct buf key = {0};
	uint64_t *at;
	bool fresh;

	if (!s)
		return NULL;
	buf_char(&key, STRINGS);
	buf_str(&key, s);
	at = htab_put(&r->index, key.p, key.n, &fresh);
	if (fresh)
		*at = (uint64_t)(uintptr_t)arena_strdup(&r->mem, s);
	buf_free(&key);
	return (const char *)(uintptr_t)*at;
}

struct key {
	uint64_t sort, of[7];
};

/* The index of a key, n where it is new. */
static uint32_t place(struct recording *r, const struct key *k, size_t n, bool *fresh)
{
	uint64_t *at = htab_put(&r->index, k, sizeof *k, fresh);

	if (*fresh)
		*at = n;
	return (uint32_t)*at;
}

static uint64_t address(const char *s)
{
	return (uint64_t)(uintptr_t)s;
}

static uint64_t digest(const struct build_id *id)
{
	struct hash128 h = hash_bytes(id->b, id->n);

	return id->n ? hash_short(&h) : 0;
}

static struct key file_key(const struct recording_file *f)
{
	return (struct key){FILES, {f->kind, address(f->path), digest(&f->id), f->pid}};
}

uint32_t recording_file(struct recording *r, enum recording_kind kind, const char *path,
    const struct build_id *id, uint32_t pid)
{
	struct recording_file f = {kind, intern(r, path), id ? *id : (struct build_id){0}, pid};
	struct key k = file_key(&f);
	bool fresh;
	uint32_t i = place(r, &k, r->file.n, &fresh);

	if (fresh)
		vec_push(&r->file, f);
	return i;
}

void recording_identify(struct recording *r, uint32_t file, const struct build_id *id)
{
	struct key k;
	bool fresh;

	r->file.v[file].id = *id;
	k = file_key(&r->file.v[file]);
	place(r, &k, file, &fresh);
}

uint32_t recording_location(struct recording *r, uint32_t file, uint64_t offset)
{
	struct key k = {LOCATIONS, {file, offset}};
	bool fresh;
	uint32_t i = place(r, &k, r->location.n, &fresh);

	if (fresh)
		vec_push(&r->location, (struct recording_location){.file = file, .offset = offset});
	return i;
}

uint32_t recording_stack(struct recording *r, uint32_t caller, uint32_t location)
{
	struct key k = {STACKS, {caller, location}};
	bool fresh;
	uint32_t i = place(r, &k, r->stack.n, &fresh);

	if (fresh)
		vec_push(&r->stack, (struct recording_stack){caller, location});
	return i;
}

uint32_t recording_task(struct recording *r, uint32_t pid, uint32_t tid, const char *comm)
{
	struct recording_task t = {pid, tid, intern(r, comm ? comm : "")};
	struct key k = {TASKS, {pid, tid, address(t.comm)}};
	bool fresh;
	uint32_t i = place(r, &k, r->task.n, &fresh);

	if (fresh)
		vec_push(&r->task, t);
	return i;
}

uint32_t recording_event(struct recording *r, const char *name, const char *unit)
{
	struct recording_event e = {intern(r, name), intern(r, unit)};
	struct key k = {EVENTS, {address(e.name), address(e.unit)}};
	bool fresh;
	uint32_t i = place(r, &k, r->event.n, &fresh);

	if (fresh)
		vec_push(&r->event, e);
	return i;
}

uint32_t recording_function(struct recording *r, const struct recording_function *of)
{
	struct recording_function f = *of;
	struct key k;
	bool fresh;
	uint32_t i;

	f.name = intern(r, of->name);
	f.linkage = intern(r, of->linkage ? of->linkage : of->name);
	f.source = intern(r, of->source);
	k = (struct key){FUNCTIONS, {address(f.name), address(f.linkage), address(f.source), f.file,
					f.start, f.size, f.line}};
	i = place(r, &k, r->function.n, &fresh);
	if (fresh)
		vec_push(&r->function, f);
	return i;
}

void recording_sample(struct recording *r, const struct recording_sample *s)
{
	vec_push(&r->sample, *s);
}

void recording_branch(
    struct recording *r, uint32_t from, uint32_t to, uint64_t n, uint64_t mispredicted)
{
	struct key k = {BRANCHES, {from, to}};
	bool fresh;
	uint32_t i = place(r, &k, r->branch.n, &fresh);

	if (fresh)
		vec_push(&r->branch, (struct recording_branch){from, to, 0, 0});
	r->branch.v[i].n += n;
	r->branch.v[i].mispredicted += mispredicted;
}

void recording_range(struct recording *r, uint32_t from, uint32_t to, uint64_t n)
{
	struct key k = {RANGES, {from, to}};
	bool fresh;
	uint32_t i = place(r, &k, r->range.n, &fresh);

	if (fresh)
		vec_push(&r->range, (struct recording_range){from, to, 0});
	r->range.v[i].n += n;
}

void recording_piece(
    struct recording *r, uint32_t file, uint64_t start, uint64_t size, const char *linkage)
{
	vec_push(&r->piece, (struct recording_piece){file, start, size, intern(r, linkage)});
}

void recording_resolve(
    struct recording *r, uint32_t location, const struct recording_frame *frame, uint32_t n)
{
	struct recording_location *l = &r->location.v[location];
	uint32_t i;

	l->resolved = true;
	l->frame = (uint32_t)r->frame.n;
	l->nframe = n;
	for (i = 0; i < n; i++)
		vec_push(&r->frame, frame[i]);
}

static int by_stack(const void *a, const void *b)
{
	const struct recording_sample *x = a, *y = b;

	return ORDER(x->event, y->event) ?: ORDER(x->task, y->task) ?: ORDER(x->stack, y->stack);
}

void recording_sum(struct recording *r)
{
	struct recording_sample *s = r->sample.v;
	size_t i, n = 0;

	vec_sort(&r->sample, by_stack);
	for (i = 0; i < r->sample.n; i++) {
		if (n && by_stack(&s[n - 1], &s[i]) == 0) {
			s[n - 1].n += s[i].n;
			s[n - 1].period += s[i].period;
		} else {
			s[n] = s[i];
			s[n++].time_ns = 0;
		}
	}
	r->sample.n = n;
}
