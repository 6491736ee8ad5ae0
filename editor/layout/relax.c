#include "editor/layout/relax.h"
#include "editor/layout/slots.h"

#include <stdlib.h>

enum { SHORT = 2, LONG_JUMP = 5, LONG_COND = 6 };

uint32_t relax_most(uint32_t align)
{
	return align > 3 ? (1u << align) - 6 : 7;
}

uint32_t relax_padding(uint64_t at, uint32_t align)
{
	uint32_t n = align ? (uint32_t)(-at & ((1u << align) - 1)) : 0;

	return n > relax_most(align) ? 0 : n;
}

uint32_t relax_jump(enum edge_kind kind, uint64_t from, uint64_t to)
{
	int64_t far = (int64_t)(to - from);

	if (far >= INT8_MIN && far <= INT8_MAX)
		return SHORT;
	return kind == EDGE_JUMP ? LONG_JUMP : LONG_COND;
}

struct ending {
	struct layout_jumps to;
	uint8_t cond_bytes, jump_bytes;
};

enum { NONE = UINT32_MAX };

static struct ending ending_of(const struct cfg *g, const struct layout *l, uint32_t k)
{
	return (struct ending){layout_slot_jumps(g, l, k), SHORT, SHORT};
}

/* One round over all slots; whether a jump did not reach. */
static bool relax_round(const struct cfg *g, const struct layout *l, const uint32_t *slot,
    struct ending *v, struct relaxed *r)
{
	uint64_t at = l->entry_offset;
	bool longer = false;
	uint32_t k, n;

	for (k = 0; k < l->n; k++) {
		if (k == l->nhot)
			at += LAYOUT_FAR;
		else if (k && l->align)
			at += relax_padding(at, l->align[k]);
		r->addr[k] = at;
		at += g->block[l->order[k]].bytes - g->block[l->order[k]].jump;
		r->jump[k] = RELAX_NONE;
		if (v[k].to.cond != NONE) {
			at += v[k].cond_bytes;
			r->jump[k] = at - 1;
		}
		at += v[k].to.jump == NONE ? 0 : v[k].jump_bytes;
		r->end[k] = at;
	}
	for (k = 0; k < l->n; k++) {
		if (v[k].to.cond != NONE && v[k].cond_bytes == SHORT) {
			n = relax_jump(EDGE_TAKEN, r->jump[k] + 1, r->addr[slot[v[k].to.cond]]);
			longer |= n != SHORT;
			v[k].cond_bytes = (uint8_t)n;
		}
		if (v[k].to.jump != NONE && v[k].jump_bytes == SHORT) {
			n = relax_jump(EDGE_JUMP, r->end[k], r->addr[slot[v[k].to.jump]]);
			longer |= n != SHORT;
			v[k].jump_bytes = (uint8_t)n;
		}
	}
	return longer;
}

void relax_slots(const struct cfg *g, const struct layout *l, struct relaxed *out, struct arena *a)
{
	enum { ROUNDS = 32 };
	uint32_t *slot = xcalloc(g->nblock, sizeof *slot), k;
	struct ending *v = xcalloc(l->n, sizeof *v);

	*out = (struct relaxed){arena_array(a, l->n, sizeof *out->addr),
	    arena_array(a, l->n, sizeof *out->jump), arena_array(a, l->n, sizeof *out->end)};
	layout_primary(g, l, slot);
	for (k = 0; k < l->n; k++)
		v[k] = ending_of(g, l, k);
	for (k = 0; k < ROUNDS && relax_round(g, l, slot, v, out); k++)
		;
	free(slot);
	free(v);
}
