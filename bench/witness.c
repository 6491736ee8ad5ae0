/*
 * How many samples with registers a second of one core evaluates: instructions
 * taken at random from a witness table, registers and stack at random, half of
 * them small. bench/witness builds and runs it.
 */
#include "bench/bench.h"
#include "common/publish.h"
#include "managerd/witness.h"

#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES = 1 << 16, STACK = 256, SECONDS = 2 };

static struct witness_sample sample[SAMPLES];
static uint8_t stack[SAMPLES + STACK];

static void make_sample(const struct uops *u, struct witness_sample *s)
{
	const struct uops_func *f;
	const struct uops_block *b;
	unsigned r;

	s->func = (uint32_t)(rnd() % u->func.n);
	f = &u->func.v[s->func];
	s->block = (uint32_t)(rnd() % f->nblock);
	b = &u->block.v[f->block + s->block];
	s->offset = u->uop.v[b->uop + rnd() % b->nuop].at;
	for (r = 0; r < UR_N; r++)
		s->gpr[r] = rnd() & 1 ? rnd() % 100 : rnd();
	s->flags = rnd();
	s->stack = stack + rnd() % SAMPLES;
	s->nstack = STACK;
}

int main(int argc, char **argv)
{
	struct witness_edge edge[WITNESS_EDGES];
	uint64_t n = 0, edges = 0, own = 0;
	struct uops u;
	struct buf b = {0};
	struct err e;
	double begin, t;
	bool first;
	size_t i;

	if (argc != 2 || file_read(argv[1], 0, &b, &e) || uops_decode(b.p, b.n, &u, &e)) {
		fprintf(stderr, "%s\n", argc == 2 ? e.text : "usage: witness TABLE");
		return 1;
	}
	for (i = 0; i < sizeof stack; i++)
		stack[i] = rnd() & 1 ? (uint8_t)rnd() : 0;
	for (i = 0; i < SAMPLES; i++)
		make_sample(&u, &sample[i]);
	begin = cpu_s();
	do {
		for (i = 0; i < SAMPLES; i++) {
			edges += witness_run(&u, &sample[i], edge, &first);
			own += first;
		}
		n += SAMPLES;
		t = cpu_s() - begin;
	} while (t < SECONDS);
	printf("%.2f million evaluations per second of one core; %.2f directions each, "
	       "%.0f %% with their own block's\n",
	    (double)n / t / 1e6, (double)edges / (double)n, 100 * (double)own / (double)n);
	uops_free(&u);
	buf_free(&b);
	return 0;
}
