#include "managerd/samples/remap.h"

#include <string.h>

struct remap_result remap_profile(struct profile *p, const struct map_table *t, struct decay at)
{
	struct remap_result r = {0};
	struct profile old = *p;
	struct profile_func *f, *g;
	const struct map_func *m;
	size_t i, before;

	*p = (struct profile){0};
	for (i = 0; i < t->func.n; i++) {
		m = &t->func.v[i];
		before = p->func.n;
		f = profile_put(p, &m->key, m->name, m->tu_name, m->opaque, m->nblock);
		if (!f || p->func.n == before)
			continue;
		g = profile_get(&old, &m->key);
		if (!g || g->nblock != m->nblock) {
			r.fresh++;
			continue;
		}
		profile_move(f, g);
		r.kept++;
	}
	if (p->func.n) {
		p->func.v = xrealloc(p->func.v, p->func.n, sizeof *p->func.v);
		p->func.cap = p->func.n;
	}
	r.discarded = old.func.n - r.kept;
	r.samples_kept = profile_total(p, at).samples;
	r.samples_discarded = profile_total(&old, at).samples;
	profile_free(&old);
	return r;
}
