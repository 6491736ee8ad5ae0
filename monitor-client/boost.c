#include "monitor-client/boost.h"
#include "monitor-client/kernel/clock.h"

/* A second: fewer add nothing; of more the kernel's buffers overflow on a busy machine. */
enum { RATE_MIN = 16, RATE_MAX = 1000 };
/* Without samples of a boosted build; programs may run but now and then. */
#define PATIENCE (60 * SECOND)

bool boost_has(const struct boost *b, const struct build_id *id)
{
	return b->build.n && htab_get(&b->build, id->b, id->n);
}

static bool is_prime(uint64_t n)
{
	uint64_t d;

	for (d = 2; d * d <= n; d++)
		if (n % d == 0)
			return false;
	return true;
}

uint64_t boost_period(uint32_t budget, uint64_t cost)
{
	uint64_t rate = cost ? budget * (SECOND / 1000000) / cost : 0;

	if (rate > RATE_MAX)
		rate = RATE_MAX;
	while (rate >= RATE_MIN && !is_prime(rate))
		rate--;
	return rate >= RATE_MIN ? SECOND / rate : 0;
}

void boost_batch(struct boost *b, const struct wire_boost *told, uint64_t now)
{
	uint32_t i;

	if (b->seen)
		b->before = now;
	b->seen = 0;
	htab_free(&b->build);
	for (i = 0; i < told->builds.n; i++)
		htab_put(&b->build, told->builds.id[i].b, told->builds.id[i].n, NULL);
	b->period = b->build.n && b->before && now - b->before < PATIENCE
			? boost_period(told->budget, b->cost)
			: 0;
}

void boost_free(struct boost *b)
{
	htab_free(&b->build);
}
