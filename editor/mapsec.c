/*
 * Prints the block map sections (docs/FORMATS.md, "Block map sections"):
 * .llvm_bb_addr_map version 2, one entry per fragment, and .morph.fn.
 */
#include "editor/text.h"

enum { MAP_RETURN = 1, MAP_TAIL_CALL = 2, MAP_FALL_THROUGH = 8, MAP_INDIRECT = 16 };

static unsigned metadata(const struct func *f, uint32_t id)
{
	const struct blk *k;
	unsigned m = 0;

	if (!f->blk)
		return MAP_RETURN;
	k = &f->blk[id];
	if (k->returns)
		m |= MAP_RETURN;
	if (k->tail_call)
		m |= MAP_TAIL_CALL;
	if (k->term == TERM_FALL || k->term == TERM_COND)
		m |= MAP_FALL_THROUGH;
	if (k->term == TERM_INDIRECT)
		m |= MAP_INDIRECT;
	return m;
}

static void section(
    struct buf *out, const char *name, const char *type, const struct map_fragment *f)
{
	if (f->group)
		buf_printf(out, "\t.section\t%s,\"oG\",%s,%s,%s,comdat\n", name, type, f->section,
		    f->group);
	else
		buf_printf(out, "\t.section\t%s,\"o\",%s,%s\n", name, type, f->section);
}

static void entry(const struct unit_impl *u, const struct map_fragment *f,
    const struct map_block *block, struct buf *out)
{
	const struct func *fn = &u->func.v[f->func];
	uint32_t i, id;

	section(out, ".llvm_bb_addr_map", "@0x6fff4c0a", f);
	buf_printf(out, "\t.byte\t2, 0\n\t.quad\t" BLOCK_LABEL "\n\t.uleb128 %u\n", f->func,
	    block[0].id, f->n);
	for (i = 0; i < f->n; i++) {
		id = block[i].id;
		if (i && block[i - 1].ended)
			buf_printf(out, "\t.uleb128 %u\n\t.uleb128 " BLOCK_LABEL "-" BLOCK_END "\n",
			    id, f->func, id, f->func, block[i - 1].id);
		else
			buf_printf(out, "\t.uleb128 %u\n\t.byte\t0\n", id);
		if (block[i].ended)
			buf_printf(out, "\t.uleb128 " BLOCK_END "-" BLOCK_LABEL "\n", f->func, id,
			    f->func, id);
		else
			buf_printf(out, "\t.uleb128 " BLOCK_LABEL "-" BLOCK_LABEL "\n", f->func,
			    block[i + 1].id, f->func, id);
		buf_printf(out, "\t.byte\t%u\n", metadata(fn, id));
	}
}

void mapsec_emit(const struct unit_impl *u, uint64_t tu, const struct map_order *m, struct buf *out)
{
	const struct map_fragment *f;
	size_t i;

	for (i = 0; i < m->frag.n; i++)
		entry(u, &m->frag.v[i], &m->block.v[m->frag.v[i].first], out);
	for (i = 0; i < m->frag.n; i++) {
		f = &m->frag.v[i];
		section(out, ".morph.fn", "@progbits", f);
		buf_printf(out, "\t.quad\t" BLOCK_LABEL ", %llu\n\t.long\t%u, %u\n", f->func,
		    m->block.v[f->first].id, (unsigned long long)tu, f->func, f->fragment);
	}
}
