/*
 * clang's sample profile, as text, which out/llvm.c describes:
 *
 *	NAME:TOTAL:HEAD
 *	 LINE[.DISCRIMINATOR]: N [CALLEE:N …]
 *	 LINE[.DISCRIMINATOR]: NAME:TOTAL
 *	  …
 *	 !CFGChecksum: N, !Attributes: N
 *
 * Lines stay as they are, counted from the function's definition: where that is the profile does
 *not say. A call is a branch to the callee's entry. Totals are sums of the rest; a head counts
 *calls again.
 */
#include "morphctl/report/in/named.h"
#include "morphctl/report/in/lines.h"

#include <stdlib.h>
#include <string.h>

enum { INLINED_MAX = 128 };

struct reader {
	struct lines l;
	struct named to;
	struct recording_frame body[INLINED_MAX]; /* outermost first: function, line at hand */
	uint32_t depth;                           /* of the bodies that are open */
};

static uint32_t function_named(struct reader *x, struct word name)
{
	char *source = xasprintf("[%.*s]", (int)name.n, name.s);
	char *own = xasprintf("%.*s", (int)name.n, name.s);
	uint32_t function = recording_function(
	    x->to.r, &(struct recording_function){
			 .name = own, .source = source, .file = x->to.file, .start = UINT64_MAX});

	free(source);
	free(own);
	return function;
}

static uint32_t entry_of(struct reader *x, uint32_t function)
{
	uint32_t at = recording_location(x->to.r, x->to.file, function);

	if (!x->to.r->location.v[at].resolved)
		recording_resolve(x->to.r, at, &(struct recording_frame){.function = function}, 1);
	return at;
}

/* Cuts ":NUMBER" off the end. */
static bool take_last(struct word *w, uint64_t *v)
{
	const char *colon = w->n ? memrchr(w->s, ':', w->n) : NULL;
	size_t n;

	if (!colon)
		return false;
	n = (size_t)(colon - w->s);
	if (!word_decimal((struct word){colon + 1, w->n - n - 1}, v))
		return false;
	w->n = n;
	return n && !memchr(w->s, '\0', n);
}

static bool take_head(struct word *line)
{
	uint64_t total, head;

	while (line->n && line->s[line->n - 1] == ' ')
		line->n--;
	return take_last(line, &head) && take_last(line, &total) && *line->s != ' ';
}

static bool take_number(struct word w, uint32_t *v)
{
	uint64_t n;

	if (!word_decimal(w, &n) || n > UINT32_MAX)
		return false;
	*v = (uint32_t)n;
	return true;
}

/* LINE[.DISCRIMINATOR]: */
static bool take_spot(struct word *line, struct recording_frame *at)
{
	struct word spot, number;
	uint32_t discriminator;

	if (!word_split(line, ": ", &spot))
		return false;
	if (word_split(&spot, ".", &number))
		return take_number(number, &at->line) && take_number(spot, &discriminator);
	return take_number(spot, &at->line);
}

/* On the line at hand of the body at hand. */
static uint32_t count(struct reader *x, uint64_t n)
{
	struct recording_frame frame[INLINED_MAX];
	uint32_t i;

	for (i = 0; i < x->depth; i++)
		frame[i] = x->body[x->depth - 1 - i];
	return named_count(&x->to, frame, x->depth, n);
}

static bool add_calls(struct reader *x, uint32_t from)
{
	struct word callee;
	uint32_t function;
	uint64_t n;

	while (lines_word(&x->l, &callee)) {
		if (!take_last(&callee, &n))
			return false;
		function = function_named(x, callee);
		if (n)
			recording_branch(x->to.r, from, entry_of(x, function), n, 0);
	}
	return true;
}

static bool open_body(struct reader *x, struct word name)
{
	if (x->depth == INLINED_MAX)
		return false;
	x->body[x->depth++] = (struct recording_frame){.function = function_named(x, name)};
	return true;
}

/* A line of a body, its blanks taken off. */
static bool add_line(struct reader *x)
{
	struct word name;
	uint64_t n;

	if (*x->l.rest.s == '!')
		return true;
	if (!take_spot(&x->l.rest, &x->body[x->depth - 1]) || lines_end(&x->l))
		return false;
	if (*x->l.rest.s >= '0' && *x->l.rest.s <= '9')
		return lines_word(&x->l, &name) && word_decimal(name, &n) &&
		       add_calls(x, count(x, n));
	return lines_word(&x->l, &name) && take_last(&name, &n) && lines_end(&x->l) &&
	       open_body(x, name);
}

static int read_line(struct reader *x, struct word line, struct err *e)
{
	size_t indent = 0;

	while (indent < line.n && line.s[indent] == ' ')
		indent++;
	if (!indent && *line.s == '[')
		return lines_bad(&x->l, e,
		    "a profile with contexts: make it one without by llvm-profdata merge --sample "
		    "--convert-sample-profile-layout=nest");
	if (!indent) {
		x->depth = 0;
		return take_head(&line) && open_body(x, line)
			   ? 0
			   : lines_bad(&x->l, e, "not NAME:TOTAL:HEAD");
	}
	if (indent > x->depth)
		return lines_bad(&x->l, e, "deeper than the body before it");
	x->depth = (uint32_t)indent;
	x->l.rest = (struct word){line.s + indent, line.n - indent};
	return add_line(x) ? 0
			   : lines_bad(&x->l, e,
				 "not LINE[.DISCRIMINATOR]: N [CALLEE:N …], nor LINE: NAME:TOTAL "
				 "up to 128 deep");
}

/* The next line that says something, whole. */
static bool next_line(struct lines *l, struct word *line)
{
	while (lines_next(l)) {
		*line = l->rest;
		if (!lines_end(l) && *line->s != '#')
			return true;
	}
	return false;
}

static int read_llvm(
    struct recording *r, const struct in_file *f, const struct in_options *o, struct err *e)
{
	struct reader x = {.l = {.f = f}, .to = named_begin(r, o, "[llvm]", "samples")};
	struct word line;
	int result = 0;

	while (!result && next_line(&x.l, &line))
		result = read_line(&x, line, e);
	return result;
}

static bool is_llvm(const struct in_file *f)
{
	struct lines l = {.f = f};
	struct word line;

	return next_line(&l, &line) && take_head(&line);
}

const struct in_format in_llvm = {"llvm", "clang's sample profile, as text", is_llvm, read_llvm};
