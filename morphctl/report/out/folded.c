/*
 * Folded stacks, as flamegraph.pl reads them: a line "COMM;FUNCTION;FUNCTION N" of each stack, its
 * root first, N samples. Functions of the kernel end in _[k], of JIT compilers in _[j], inlined
 * ones in _[i]. Where there are several events, theirs is the first name.
 */
#include "common/sort.h"
#include "morphctl/report/out/formats.h"
#include "morphctl/report/out/stacks.h"
#include "morphctl/report/out/text.h"

#include <string.h>

struct line {
	const char *stack;
	uint64_t n;
};

struct lines {
	VEC(struct line) v;
	struct htab index; /* stack -> its index in v */
	struct arena mem;
};

static const char *annotation(const struct recording *r, const struct level *l)
{
	uint32_t file = r->location.v[l->location].file;

	if (file != RECORDING_NONE && r->file.v[file].kind == RECORDING_KERNEL)
		return "_[k]";
	if (file != RECORDING_NONE && r->file.v[file].kind == RECORDING_ANON)
		return "_[j]";
	return l->inlined ? "_[i]" : "";
}

static void put_name(struct buf *line, const char *name, const char *after)
{
	if (line->n)
		buf_char(line, ';');
	text_put(line, *name ? name : "?", ';', ':');
	buf_str(line, after);
}

static void put_stack(
    struct buf *line, const struct recording *r, uint32_t stack, struct levels *levels)
{
	struct buf name = {0};
	size_t i;

	levels_of_stack(levels, r, stack);
	for (i = 0; i < levels->v.n; i++)
		put_name(
		    line, level_name(&levels->v.v[i], r, &name), annotation(r, &levels->v.v[i]));
	if (!levels->v.n)
		put_name(line, "[unknown]", "");
	buf_free(&name);
}

static void add(struct lines *lines, struct buf *stack, uint64_t n)
{
	bool fresh;
	uint64_t *at = htab_put(&lines->index, stack->p, stack->n, &fresh);

	if (fresh) {
		*at = lines->v.n;
		vec_push(
		    &lines->v, (struct line){arena_strndup(&lines->mem, stack->p, stack->n), 0});
	}
	lines->v.v[*at].n += n;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->stack, ((const struct line *)b)->stack);
}

static void put_lines(struct buf *out, struct lines *lines)
{
	size_t i;

	vec_sort(&lines->v, by_text);
	for (i = 0; i < lines->v.n; i++) {
		buf_str(out, lines->v.v[i].stack);
		buf_printf(out, " %llu\n", (unsigned long long)lines->v.v[i].n);
	}
	vec_free(&lines->v);
	htab_free(&lines->index);
	arena_free(&lines->mem);
}

int write_folded(
    const struct recording *r, const struct out_options *o, struct buf *out, struct err *e)
{
	struct lines lines = {0};
	struct levels levels = {0};
	struct recording sums;
	struct buf stack = {0};
	size_t i;

	samples_sum(&sums, r);
	for (i = 0; i < sums.sample.n; i++) {
		const struct recording_sample *s = &sums.sample.v[i];

		stack.n = 0;
		if (r->event.n > 1)
			put_name(&stack, r->event.v[s->event].name, "");
		if (s->task != RECORDING_NONE && *r->task.v[s->task].comm)
			put_name(&stack, r->task.v[s->task].comm, "");
		put_stack(&stack, r, s->stack, &levels);
		add(&lines, &stack, s->n);
	}
	put_lines(out, &lines);
	recording_free(&sums);
	vec_free(&levels.v);
	buf_free(&stack);
	return 0;
}
