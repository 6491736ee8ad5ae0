/*
 * Morph's profiles as text (common/profiletext/profiletext.h): samples, or executions, of basic
 * blocks by function and number. Nothing is known of where they lie: a location is one for each
 * block, and a call is a branch to the callee's block 0.
 */
#include "common/profiletext/profiletext.h"
#include "common/sort.h"
#include "morphctl/report/in/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { THOUSANDTHS = 1000, BLOCK_BITS = 32, LINES_SNIFFED = 8 };

struct reader {
	struct recording *r;
	uint32_t file, event;
	struct buf name;
};

static uint32_t function_of(struct reader *x, const struct profiletext_name *name)
{
	struct recording_function f = {.file = x->file, .start = UINT64_MAX};

	x->name.n = 0;
	buf_add(&x->name, name->p, name->n);
	f.name = buf_cstr(&x->name);
	return recording_function(x->r, &f);
}

static uint32_t block_of(struct reader *x, const struct profiletext_name *name, uint32_t block)
{
	struct recording_frame frame = {.function = function_of(x, name)};
	uint32_t at =
	    recording_location(x->r, x->file, (uint64_t)frame.function << BLOCK_BITS | block);

	if (!x->r->location.v[at].resolved)
		recording_resolve(x->r, at, &frame, 1);
	return at;
}

static void add_line(struct reader *x, const struct profiletext_line *l)
{
	uint64_t n = (l->value + THOUSANDTHS / 2) / THOUSANDTHS;
	uint32_t at;

	if (!l->value || (l->kind != PROFILETEXT_BLOCK && l->kind != PROFILETEXT_CALL))
		return;
	at = block_of(x, &l->func, l->block);
	if (l->kind == PROFILETEXT_CALL)
		recording_branch(x->r, at, block_of(x, &l->callee, 0), n ?: 1, 0);
	else if (n)
		recording_sample(x->r, &(struct recording_sample){.event = x->event,
					   .task = RECORDING_NONE,
					   .stack = recording_stack(x->r, RECORDING_NONE, at),
					   .n = n,
					   .period = n});
}

static struct profiletext_reader begin(const struct in_file *f)
{
	return (struct profiletext_reader){
	    .form = COUNTS_SAMPLES, .p = (const char *)f->p, .end = (const char *)f->p + f->n};
}

static int read_profile(
    struct recording *r, const struct in_file *f, const struct in_options *o, struct err *e)
{
	const char *path = o->module ? o->module : "[profile]";
	struct reader x = {.r = r, .file = recording_file(r, RECORDING_NAMED, path, NULL, 0)};
	struct profiletext_reader text = begin(f);
	struct profiletext_line l;
	int rc;

	x.event = recording_event(r, "profile", "count");
	while ((rc = profiletext_read(&text, &l, e)) > 0)
		add_line(&x, &l);
	buf_free(&x.name);
	return rc ? err_wrap(e, "%s: line %zu", f->name, text.line) : 0;
}

static bool is_profile(const struct in_file *f)
{
	struct profiletext_reader text = begin(f);
	struct profiletext_line l;
	int i, rc = 1;

	for (i = 0; rc > 0 && i < LINES_SNIFFED; i++)
		rc = profiletext_read(&text, &l, NULL);
	return rc >= 0 && (rc > 0 || i > 1);
}

const struct in_format in_profile = {
    "profile", "Morph's profile as text, of morphctl profile --text", is_profile, read_profile};
