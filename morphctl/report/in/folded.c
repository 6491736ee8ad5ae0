/*
 * Folded stacks, as the scripts of flame graphs write and read them, a line each:
 *
 *	OUTERMOST;…;INNERMOST COUNT
 *
 * Names may have blanks. Nothing is known but names: a location is its function's index.
 */
#include "morphctl/report/in/lines.h"

#include <string.h>

struct reader {
	struct recording *r;
	uint32_t file;
	struct buf name;
};

/* Cuts the count, after the last blank, off the line. */
static bool take_count(struct word *line, uint64_t *n)
{
	const char *blank;

	while (line->n && (line->s[line->n - 1] == ' ' || line->s[line->n - 1] == '\t'))
		line->n--;
	blank = line->n ? memrchr(line->s, ' ', line->n) : NULL;
	if (!blank ||
	    !word_decimal((struct word){blank + 1, line->n - (size_t)(blank + 1 - line->s)}, n))
		return false;
	line->n = (size_t)(blank - line->s);
	return line->n && !memchr(line->s, '\0', line->n);
}

static uint32_t named_location(struct reader *x, struct word name)
{
	struct recording_function f = {.file = x->file, .start = UINT64_MAX};
	struct recording_frame frame = {0};
	uint32_t location;

	x->name.n = 0;
	buf_add(&x->name, name.s, name.n);
	f.name = buf_cstr(&x->name);
	frame.function = recording_function(x->r, &f);
	location = recording_location(x->r, x->file, frame.function);
	if (!x->r->location.v[location].resolved)
		recording_resolve(x->r, location, &frame, 1);
	return location;
}

static void add_line(struct reader *x, struct word line, uint32_t event, uint64_t n)
{
	struct recording_sample s = {
	    .event = event, .task = RECORDING_NONE, .stack = RECORDING_NONE, .n = n, .period = n};
	struct word name;

	while (word_split(&line, ";", &name))
		s.stack = recording_stack(x->r, s.stack, named_location(x, name));
	s.stack = recording_stack(x->r, s.stack, named_location(x, line));
	recording_sample(x->r, &s);
}

static int read_folded(
    struct recording *r, const struct in_file *f, const struct in_options *o, struct err *e)
{
	struct reader x = {.r = r, .file = recording_file(r, RECORDING_NAMED, "[folded]", NULL, 0)};
	uint32_t event = recording_event(r, "samples", "count");
	struct lines l = {.f = f};
	int result = 0;
	uint64_t n;

	while (!result && lines_next_full(&l)) {
		if (!take_count(&l.rest, &n))
			result = lines_bad(&l, e, "not NAME;…;NAME COUNT");
		else if (n)
			add_line(&x, l.rest, event, n);
	}
	buf_free(&x.name);
	return result;
}

static bool is_folded(const struct in_file *f)
{
	struct lines l = {.f = f};
	uint64_t n;

	return lines_next_full(&l) && take_count(&l.rest, &n);
}

const struct in_format in_folded = {
    "folded", "stacks as text, NAME;…;NAME COUNT", is_folded, read_folded};
