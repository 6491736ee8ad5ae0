/*
 * cov >= 110
 * Exception tables of a linked file: what is read must be in order, and every action, type and list
 * that it names is followed.
 */
#include "common/unwind/ehtable.h"

#include <stdlib.h>

enum { FUNC = 0x10000, ADDR = 0x20000 };

static void follow(const struct eh_table *t, const struct eh_site *s)
{
	eh_filters filter = {0}, list = {0};
	uint64_t type;
	size_t i;

	if (!eh_table_filters(t, s->action, &filter))
		for (i = 0; i < filter.n; i++) {
			if (filter.v[i] > 0)
				eh_table_type(t, filter.v[i], &type);
			else if (filter.v[i] < 0)
				eh_table_list(t, filter.v[i], &list);
		}
	vec_free(&filter);
	vec_free(&list);
}

static void check(const struct eh_table *t)
{
	const struct eh_site *s;
	uint64_t last = FUNC, until;
	size_t i;

	for (i = 0; i < t->site.n; i++) {
		s = &t->site.v[i];
		if (s->begin < last || s->end <= s->begin)
			abort();
		if (eh_table_at(t, s->begin, &until) != s || until != s->end ||
		    eh_table_at(t, s->end - 1, &until) != s)
			abort();
		if (s->begin > last && (eh_table_at(t, last, &until) || until != s->begin))
			abort();
		last = s->end;
		follow(t, s);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct eh_table t;

	if (!eh_table_read(p, p + n, ADDR, FUNC, &t))
		check(&t);
	eh_table_free(&t);
	return 0;
}
