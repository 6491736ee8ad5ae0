#include "editor/layout/runs.h"
#include "editor/layout/slots.h"

#include <stdlib.h>
#include <string.h>

void runs_read(const struct cfg *g, const struct layout *l, const uint8_t *fixed, struct runs *out,
    struct arena *a)
{
	uint64_t count;
	struct run *r;
	bool stays;
	uint32_t k;

	relax_slots(g, l, &out->at, a);
	out->v.n = 0;
	for (k = 0; k < l->nhot; k++) {
		stays = k && fixed && fixed[k];
		if (!k || stays || !layout_falls(g, l, k - 1, &count))
			vec_push(&out->v, (struct run){.first = k,
					      .align = k && l->align ? l->align[k] : 0,
					      .fixed = stays});
		r = &out->v.v[out->v.n - 1];
		r->end = k + 1;
		r->bytes = out->at.end[k] - out->at.addr[r->first];
	}
}

struct layout runs_padded(const struct runs *r, const struct layout *l, struct arena *a)
{
	struct layout out = *l;
	uint32_t i;

	out.align = arena_array(a, l->n, sizeof *out.align);
	if (l->align)
		memcpy(out.align, l->align, l->n);
	for (i = 1; i < r->v.n; i++)
		out.align[r->v.v[i].first] = r->v.v[i].align;
	return out;
}
