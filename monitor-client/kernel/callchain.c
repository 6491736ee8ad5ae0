#include "monitor-client/kernel/callchain.h"

#include <linux/perf_event.h>
#include <stdbool.h>

enum { VOTES_LEAST = 8, VOTES_MAX = 1024 };

/* No mark of perf's own, which say what the addresses after them are. */
static bool is_address(uint64_t v)
{
	return v >> 63 && v < (uint64_t)PERF_CONTEXT_MAX;
}

/* The majority vote of Boyer and Moore. A chain of full length may have been cut. */
void callchain_user(struct callchain *c, const uint64_t *chain, size_t n)
{
	uint64_t last = 0;
	size_t i, length = 0;

	for (i = 0; i < n; i++)
		if (is_address(chain[i])) {
			last = chain[i];
			length++;
		}
	if (!length || length >= CALLCHAIN_MAX)
		return;
	if (last == c->entry)
		c->votes += c->votes < VOTES_MAX;
	else if (c->votes)
		c->votes--;
	else
		*c = (struct callchain){last, 1};
}

uint64_t callchain_kernel(const struct callchain *c, const uint64_t *chain, size_t n)
{
	size_t i;

	for (i = 0; c->votes >= VOTES_LEAST && i + 1 < n; i++)
		if (chain[i] == c->entry)
			return is_address(chain[i + 1]) ? chain[i + 1] : 0;
	return 0;
}
