/*
 * cov >= 570
 * Any bytes as a replay table, evaluated from any registers: what is read
 * prints to the same bytes again and again, and no evaluation leaves its bounds.
 */
#include "managerd/replay/backward.h"

#include <stdlib.h>
#include <string.h>

static void reprint(const struct uops *u)
{
	struct buf once = {0}, twice = {0};
	struct uops back;
	struct err e;

	uops_encode(u, &once);
	if (uops_decode(once.p, once.n, &back, &e))
		abort();
	uops_encode(&back, &twice);
	if (once.n != twice.n || memcmp(once.p, twice.p, once.n))
		abort();
	uops_free(&back);
	buf_free(&once);
	buf_free(&twice);
}

static bool some_place(void *arg, uint64_t address, struct replay_place *at)
{
	*at = (struct replay_place){address & 7, address >> 3 & 15, (uint32_t)(address >> 7) & 31};
	return !(address >> 60);
}

static void evaluate(const struct uops *u, const uint8_t *p, size_t n)
{
	struct replay_sample s = {.stack = p, .nstack = n, .place_at = some_place};
	struct replay_outcome edge[REPLAY_OUTCOMES];
	const struct uops_func *f;
	uint32_t i, k, at, from, budget = 3000;
	bool own;

	for (i = 0; i < u->func.n; i++) {
		f = &u->func.v[i];
		for (s.func = i, s.block = 0; s.block <= f->nblock && budget--; s.block++)
			for (at = 0; at < 8; at++) {
				uops_after_call(u, i, s.block, at);
				s.uop = uops_at(u, i, s.block, at);
				if (s.uop == UOPS_NONE)
					continue;
				for (k = 0; k < UR_N; k++)
					s.gpr[k] = hash_short(&(struct hash128){
					    {p[(k + at) % n], (uint8_t)k, p[k % n]}});
				s.flags = p[at % n] * 0x11u;
				if (replay_forward(u, &s, edge, &own) > REPLAY_OUTCOMES)
					abort();
				replay_backward(u, &s, &from);
			}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct uops u;
	struct err e;

	if (!uops_decode(p, n, &u, &e)) {
		reprint(&u);
		evaluate(&u, p, n);
	}
	uops_free(&u);
	return 0;
}
