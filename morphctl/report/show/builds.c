#include "morphctl/report/show/builds.h"
#include "morphctl/report/show/breakdown.h"

#include <stdlib.h>

static uint32_t first(struct htab *seen, const uint64_t *key, size_t size, uint32_t i)
{
	bool fresh;
	uint64_t *at = htab_put(seen, key, size, &fresh);

	if (fresh)
		*at = i;
	return (uint32_t)*at;
}

/* The first of each path. */
static void join_files(struct builds *b, const struct recording *r)
{
	struct htab seen = {0};
	uint32_t i;

	for (i = 0; i < r->file.n; i++) {
		const struct recording_file *f = &r->file.v[i];
		uint64_t key[] = {f->kind, f->pid, (uintptr_t)f->path};

		b->file[i] = first(&seen, key, sizeof key, i);
	}
	htab_free(&seen);
}

static bool is_other_build(const struct builds *b, const struct recording_function *f)
{
	return f->file != RECORDING_NONE && b->file[f->file] != f->file;
}

/* A build can have several functions of a name: those of the first stay what they are, and those
 * of another count for the first of them. */
static void join_functions(struct builds *b, const struct recording *r)
{
	struct htab seen = {0};
	uint32_t i, same;
	int others;

	for (others = 0; others <= 1; others++) {
		for (i = 0; i < r->function.n; i++) {
			const struct recording_function *f = &r->function.v[i];
			uint64_t key[] = {f->file == RECORDING_NONE ? f->file : b->file[f->file],
			    (uintptr_t)f->linkage, (uintptr_t)f->source};

			if (is_other_build(b, f) != others)
				continue;
			same = first(&seen, key, sizeof key, i);
			b->function[i] = others ? same : i;
		}
	}
	htab_free(&seen);
}

void builds_join(struct builds *b, const struct recording *r)
{
	b->file = xcalloc(r->file.n + 1, sizeof *b->file);
	b->function = xcalloc(r->function.n + 1, sizeof *b->function);
	join_files(b, r);
	join_functions(b, r);
}

void builds_free(struct builds *b)
{
	free(b->file);
	free(b->function);
	*b = (struct builds){0};
}

uint32_t builds_function(const struct builds *b, const struct recording *r, uint32_t location)
{
	uint32_t function = breakdown_function(r, location);

	return function == RECORDING_NONE ? function : b->function[function];
}
