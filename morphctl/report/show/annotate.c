#include "morphctl/report/show/annotate.h"
#include "common/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The instruction that holds an offset, or n. */
static size_t find(const struct symbols_insn *insn, size_t n, uint64_t offset)
{
	size_t i = partition_point(0, n, k, insn[k].offset + insn[k].size <= offset);

	return i < n && insn[i].offset <= offset ? i : n;
}

static bool begins_with(const char *text, const char *word)
{
	return strncmp(text, word, strlen(word)) == 0;
}

/* Jumps end a block; calls do not. */
static bool is_jump(const char *text)
{
	return text[0] == 'j' || begins_with(text, "ret") || begins_with(text, "loop") ||
	       begins_with(text, "bnd j") || begins_with(text, "notrack j") ||
	       begins_with(text, "ud2");
}

static void mark_leaders(struct annotate_line *line, const struct symbols_insn *insn, size_t n)
{
	const char *hex;
	size_t i, to;

	for (i = 0; i < n; i++) {
		line[i].leader |= i == 0 || is_jump(insn[i - 1].text);
		if (!is_jump(insn[i].text) || !(hex = strstr(insn[i].text, " 0x")))
			continue;
		to = find(insn, n, strtoull(hex, NULL, 16));
		if (to < n && insn[to].offset == strtoull(hex, NULL, 16))
			line[to].leader = true;
	}
}

/* Of a block's n instructions. */
static void estimate_stalls(struct annotate_line *line, size_t n)
{
	double all = 0;
	size_t i;

	for (i = 0; i < n; i++)
		all += (double)line[i].n;
	for (i = 0; i < n; i++)
		line[i].stall = n > 1 && all >= ANNOTATE_LEAST * (double)n
				    ? (double)line[i].n * (double)n / all
				    : NAN;
}

void annotate_make(struct annotate_line *line, const struct symbols_insn *insn, size_t n,
    const struct recording *r, uint32_t event, uint32_t file)
{
	const struct recording_location *l;
	const struct recording_sample *s;
	size_t i, at, end;

	for (i = 0; i < n; i++)
		line[i] = (struct annotate_line){.insn = &insn[i]};
	for (i = 0; i < r->sample.n; i++) {
		s = &r->sample.v[i];
		if (s->event != event || s->stack == RECORDING_NONE)
			continue;
		l = &r->location.v[r->stack.v[s->stack].location];
		if (l->file == file && (at = find(insn, n, l->offset)) < n)
			line[at].n += s->n;
	}
	mark_leaders(line, insn, n);
	for (i = 0; i < n; i = end) {
		for (end = i + 1; end < n && !line[end].leader; end++)
			;
		estimate_stalls(&line[i], end - i);
	}
}
