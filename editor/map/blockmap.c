/*
 * Prints the block map sections (docs/FORMATS.md, "Block map sections"):
 * .llvm_bb_addr_map version 2, one entry per fragment, and .morph.fn.
 */
#include "editor/map/blockmap.h"

enum {
	MAP_RETURN = 1,
	MAP_TAIL_CALL = 2,
	MAP_LANDING_PAD = 4,
	MAP_FALL_THROUGH = 8,
	MAP_INDIRECT = 16
};

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
	if (k->landing)
		m |= MAP_LANDING_PAD;
	if (k->term == TERM_FALL || k->term == TERM_COND)
		m |= MAP_FALL_THROUGH;
	if (k->term == TERM_INDIRECT)
		m |= MAP_INDIRECT;
	return m;
}

static void label(struct buf *out, const char *prefix, uint32_t func, const struct map_block *k)
{
	buf_add(out, prefix, 4);
	buf_decimal(out, func);
	buf_char(out, '.');
	buf_decimal(out, k->id);
	if (k->copy) {
		buf_char(out, '.');
		buf_decimal(out, k->copy);
	}
}

void block_label(struct buf *out, uint32_t func, const struct map_block *k)
{
	label(out, ".LMB", func, k);
}

void block_end(struct buf *out, uint32_t func, const struct map_block *k)
{
	label(out, ".LME", func, k);
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

/* The offset of block k from the end of the one before, 0 = none, and its size. */
static void extent(
    struct buf *out, uint32_t func, const struct map_block *before, const struct map_block *k)
{
	if (before && before->ended) {
		buf_str(out, "\t.uleb128 ");
		block_label(out, func, k);
		buf_char(out, '-');
		block_end(out, func, before);
		buf_str(out, "\n\t.uleb128 ");
	} else {
		buf_str(out, "\t.byte\t0\n\t.uleb128 ");
	}
	if (k->ended)
		block_end(out, func, k);
	else
		block_label(out, func, k + 1);
	buf_char(out, '-');
	block_label(out, func, k);
}

static void entry(const struct unit_impl *u, const struct map_fragment *f,
    const struct map_block *block, struct buf *out)
{
	uint32_t i;

	section(out, ".llvm_bb_addr_map", "@0x6fff4c0a", f);
	buf_str(out, "\t.byte\t2, 0\n\t.quad\t");
	block_label(out, f->func, &block[0]);
	buf_str(out, "\n\t.uleb128 ");
	buf_decimal(out, f->n);
	buf_char(out, '\n');
	for (i = 0; i < f->n; i++) {
		buf_str(out, "\t.uleb128 ");
		buf_decimal(out, block[i].id);
		buf_char(out, '\n');
		extent(out, f->func, i ? &block[i - 1] : NULL, &block[i]);
		buf_str(out, "\n\t.byte\t");
		buf_decimal(out, metadata(&u->func.v[f->func], block[i].id));
		buf_char(out, '\n');
	}
}

bool own_section(struct str name)
{
	return str_is(name, ".llvm_bb_addr_map") || str_is(name, ".morph.fn");
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
		buf_str(out, "\t.quad\t");
		block_label(out, f->func, &m->block.v[f->first]);
		buf_printf(
		    out, ", %llu\n\t.long\t%u, %u\n", (unsigned long long)tu, f->func, f->fragment);
	}
}
