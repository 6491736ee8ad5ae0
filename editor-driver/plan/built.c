#include "editor-driver/plan/built.h"
#include "common/le.h"
#include "common/sort.h"

#include <stdlib.h>

uint32_t built_func(const struct mapindex *build, uint64_t tu, const struct unit_func *f,
    struct arena *a, struct layout *l, struct fe_slot **slot)
{
	uint32_t nblock = f->cfg.nblock, present, i;
	uint8_t *seen = arena_array(a, nblock, 1);
	const struct bm_block *at;
	struct func_blocks b;

	*l = (struct layout){0};
	mapindex_blocks(build, tu, f->ord, nblock, &b);
	l->order = arena_array(a, b.block.n + nblock, sizeof *l->order);
	*slot = arena_array(a, b.block.n + nblock, sizeof **slot);
	for (i = 0; i < b.block.n; i++) {
		at = b.block.v[i];
		seen[at->id] = 1;
		(*slot)[l->n] = (struct fe_slot){.addr = at->addr, .bytes = at->size};
		l->order[l->n++] = at->id;
	}
	present = l->n;
	for (i = 0; i < nblock; i++)
		if (!seen[i]) {
			(*slot)[l->n].bytes = f->cfg.block[i].bytes;
			l->order[l->n++] = i;
		}
	l->nhot = b.nhot ? b.nhot : l->n;
	mapindex_blocks_free(&b);
	return present;
}

/* ---- what the code tells ---- */

struct reader {
	const struct built_code *code;
	struct layout *l;
	const struct fe_slot *slot;
	uint32_t n;
	uint32_t *primary;
};

static const uint8_t *code_at(const struct built_code *c, uint64_t addr, uint32_t n)
{
	uint64_t off;

	if (!blockmap_offset(c->map, addr, n, &off) || off > c->file.n || c->file.n - off < n)
		return NULL;
	return (const uint8_t *)c->file.p + off;
}

/* Is there a jump of n bytes before address `end`? Then *target is where it leads. */
static bool jump_before(
    const struct built_code *c, uint64_t end, uint32_t n, bool cond, uint64_t *target)
{
	const uint8_t *p = code_at(c, end - n, n);
	bool is;

	if (!p)
		return false;
	if (n == 2)
		is = cond ? (*p & 0xf0) == 0x70 : *p == 0xeb;
	else
		is = cond ? *p == 0x0f && (p[1] & 0xf0) == 0x80 : *p == 0xe9;
	*target = end + (n == 2 ? (uint64_t)(int8_t)p[1] : (uint64_t)(int32_t)get_le32(p + n - 4));
	return is;
}

/* The slot of a block at an address, among slots [from, to) of one fragment; `to` when there is
 * none. */
static uint32_t slot_at(
    const struct reader *r, uint32_t from, uint32_t to, uint64_t addr, uint32_t block)
{
	uint32_t k = (uint32_t)partition_point(from, to, i, r->slot[i].addr < addr);

	while (k < to && r->slot[k].addr == addr && r->l->order[k] != block)
		k++;
	return k < to && r->slot[k].addr == addr ? k : to;
}

/* The bytes of the jump to a block that ends at `end`, 0 where there is none; *slot it leads to. */
static uint32_t read_jump(
    const struct reader *r, uint64_t end, uint32_t block, bool cond, uint32_t *slot)
{
	const uint32_t bytes[] = {2, cond ? 6 : 5}, nhot = r->l->nhot < r->n ? r->l->nhot : r->n;
	uint64_t target;
	uint32_t i;

	for (i = 0; i < 2; i++) {
		if (!jump_before(r->code, end, bytes[i], cond, &target))
			continue;
		*slot = slot_at(r, 0, nhot, target, block);
		if (*slot == nhot)
			*slot = slot_at(r, nhot, r->n, target, block);
		if (*slot < r->n)
			return bytes[i];
	}
	return 0;
}

/* Slots that jump although what they jump to follows. */
static void read_hops(const struct reader *r, const struct cfg *g, uint8_t *hop)
{
	const struct cfg_block *b;
	struct layout_jumps to;
	uint32_t k, next, slot;

	for (k = 0; k + 1 < r->n; k++) {
		if (!layout_adjoins(r->l, k))
			continue;
		b = &g->block[r->l->order[k]];
		next = r->l->order[k + 1];
		hop[k] = 1;
		to = layout_slot_jumps(g, r->l, k);
		hop[k] = to.jump != UINT32_MAX && (to.jump == next || to.cond == next) &&
			 r->slot[k].bytes > b->bytes - b->jump &&
			 read_jump(r, r->slot[k].addr + r->slot[k].bytes, to.jump, false, &slot);
	}
}

static void read_primary(struct reader *r, const struct cfg *g, const uint8_t *copied)
{
	struct layout_jumps to;
	uint64_t end;
	uint32_t k, n, slot;

	for (k = 0; k < r->n; k++) {
		to = layout_slot_jumps(g, r->l, k);
		end = r->slot[k].addr + r->slot[k].bytes;
		if ((to.jump == UINT32_MAX || !copied[to.jump]) &&
		    (to.cond == UINT32_MAX || !copied[to.cond]))
			continue;
		n = to.jump != UINT32_MAX ? read_jump(r, end, to.jump, false, &slot) : 0;
		if (n)
			r->primary[to.jump] = slot;
		if (to.cond != UINT32_MAX && (n || to.jump == UINT32_MAX) &&
		    read_jump(r, end - n, to.cond, true, &slot))
			r->primary[to.cond] = slot;
	}
}

void built_jumps(const struct cfg *g, struct layout *l, const struct fe_slot *slot, uint32_t n,
    const struct built_code *code, uint32_t *primary, struct arena *a)
{
	struct reader r = {code, l, slot, n, primary};
	uint8_t *seen, *copied;
	uint32_t k;

	if (code->file.n) {
		l->hop = arena_array(a, l->n, 1);
		read_hops(&r, g, l->hop);
	}
	layout_primary(g, l, primary);
	if (l->n == g->nblock || !code->file.n)
		return;
	copied = xcalloc(g->nblock, 1);
	seen = xcalloc(g->nblock, 1);
	for (k = 0; k < l->n; k++) {
		copied[l->order[k]] |= seen[l->order[k]];
		seen[l->order[k]] = 1;
	}
	read_primary(&r, g, copied);
	free(copied);
	free(seen);
}
