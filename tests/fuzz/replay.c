/*
 * cov >= 1500
 * Any text as a unit, compiled to micro-operations as if every instruction had
 * 3 bytes: the reader takes all that the compiler makes, and it is evaluated
 * from every instruction. Calls and jumps are found at instructions of their blocks, in order.
 */
#include "editor/replay/replay.h"
#include "managerd/replay/backward.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTH = 3 };

/* The sizes of a unit's blocks, by the lines that measure them. */
static uint32_t **sizes(const struct unit *u, const char *line, struct arena *a)
{
	uint32_t **size = arena_array(a, u->nfunc + 1, sizeof *size), i, b;

	for (i = 0; i < u->nfunc; i++) {
		size[i] = arena_array(a, u->func[i].cfg.nblock, sizeof *size[i]);
		for (b = 0; !u->func[i].opaque && b < u->func[i].cfg.nblock; b++) {
			if (!u->func[i].cfg.block[b].bytes)
				continue;
			for (; *line && *line != '\n'; line++)
				size[i][b] += *line == '-' ? LENGTH : 0;
			line += *line == '\n';
		}
	}
	return size;
}

static void evaluate(const struct uops *u, const uint8_t *stack, size_t n)
{
	struct replay_sample s = {.stack = stack, .nstack = n};
	struct replay_outcome edge[REPLAY_OUTCOMES];
	const struct uops_block *b;
	uint32_t k, from, budget = 5000;
	bool own;

	for (s.func = 0; s.func < u->func.n; s.func++)
		for (s.block = 0; s.block < u->func.v[s.func].nblock; s.block++) {
			b = &u->block.v[u->func.v[s.func].block + s.block];
			for (k = 0; k < b->nuop && budget; k++, budget--) {
				s.uop = b->uop + k;
				s.gpr[k % UR_N] += stack[k % n] * UINT64_C(0x0101010101010101);
				s.flags = s.gpr[k % UR_N] >> 3;
				replay_forward(u, &s, edge, &own);
				replay_backward(u, &s, &from);
			}
		}
}

static void find_sites(
    const struct unit *u, const struct buf *lengths, uint32_t **size, struct arena *a)
{
	struct unit_sites *s = arena_array(a, u->nfunc + 1, sizeof *s);
	const struct unit_call *c;
	struct err e;
	uint32_t i, k;

	if (unit_find_sites(u, lengths->p, lengths->n, (const uint32_t *const *)size, s, a, &e))
		abort();
	for (i = 0; i < u->nfunc; i++)
		for (c = u->func[i].call, k = 0; k < u->func[i].ncall; k++) {
			if (s[i].call[k] == UNIT_NO_SITE)
				continue;
			if (s[i].call[k] >= size[i][c[k].block] || s[i].call[k] % LENGTH)
				abort();
			if (k && c[k].block == c[k - 1].block && s[i].call[k] <= s[i].call[k - 1])
				abort();
		}
}

static void compile(const struct unit *u, const uint8_t *p, size_t n, struct arena *a)
{
	struct buf text = {0}, lengths = {0}, bytes = {0};
	struct uops made = {0}, back;
	static const char head[] = "\t.section " MEASURE_SECTION;
	const char *line, *c, *end;
	uint32_t differing, **size;
	struct err e;

	unit_measure(u, &text);
	end = buf_cstr(&text) + text.n;
	for (line = c = text.p; (c = memmem(c, (size_t)(end - c), head, strlen(head))); c++)
		line = c;
	line = strchr(line, '\n') + 1;
	for (c = line; *c; c++)
		if (*c == '-')
			buf_char(&lengths, LENGTH);
	size = sizes(u, line, a);
	if (unit_uops(
		u, lengths.p, lengths.n, (const uint32_t *const *)size, &made, &differing, &e))
		abort();
	find_sites(u, &lengths, size, a);
	uops_sort(&made);
	uops_encode(&made, &bytes);
	if (uops_decode(bytes.p, bytes.n, &back, &e))
		abort();
	evaluate(&back, p, n);
	uops_free(&made);
	uops_free(&back);
	buf_free(&text);
	buf_free(&lengths);
	buf_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct arena a = {0};
	struct unit *u;
	struct err e;

	u = unit_parse(&a, (const char *)p, n, &e);
	if (u)
		compile(u, p, n, &a);
	unit_free(u);
	arena_free(&a);
	return 0;
}
