#include "common/le.h"
#include "common/sort.h"
#include "common/unwind/ehframe.h"
#include "editor-driver/proof/image.h"

#include <stdlib.h>
#include <string.h>

/* Reads its exception table. */
static void read_table(const struct bytes_side *side, struct bytes_fde *f, uint64_t lsda)
{
	const struct elf_section *in = bytes_section(side, lsda);
	const uint8_t *table;

	f->has_table = lsda != 0;
	table = f->has_table ? bytes_at(side, lsda, 1) : NULL;
	f->odd = f->has_table &&
		 (!table || eh_table_read(table, in->data + in->size, lsda, f->pc, &f->table));
}

static int by_pc(const void *a, const void *b)
{
	const struct bytes_fde *x = a, *y = b;

	return ORDER(x->pc, y->pc) ?: ORDER(x->at, y->at);
}

/* Of stubs, whose number may change, and of edited units, whose text was proven. A function may
 * begin with padding, which is in no block, where its first one is empty. */
static bool derived(
    const struct bytes *b, const struct bytes_side *side, uint64_t pc, uint64_t size)
{
	const struct elf_section *s = bytes_section(side, pc);
	const struct blockmap *m = side->map;
	size_t at =
	    partition_point(0, m->block.n, i, m->block.v[i].addr + m->block.v[i].size <= pc);
	const struct bm_block *k = at < m->block.n ? &m->block.v[at] : NULL;

	return (s && bytes_kind(s) == BYTES_PLT) || (k && (k->addr <= pc || k->addr - pc < size) &&
							bytes_is_edited(b, m->frag.v[k->frag].tu));
}

/* -1: it is not made of CIEs and FDEs of the usual form. */
static int read_fdes(const struct bytes *b, struct bytes_side *side)
{
	const struct elf_section *s = bytes_named(side, ".eh_frame");
	struct eh_frames frames = {0};
	struct bytes_fde f;
	struct eh_fde r;
	int rc;

	if (s && s->data)
		frames = (struct eh_frames){.p = s->data, .size = s->size, .addr = s->addr};
	while ((rc = eh_frames_next(&frames, &r)) > 0) {
		f = (struct bytes_fde){.at = r.at,
		    .pc = r.pc,
		    .cie = r.cie.at,
		    .size = r.size,
		    .rest = r.rest,
		    .rest_at = r.rest_at,
		    .lsda_at = r.lsda_at,
		    .lsda_size = r.lsda_size,
		    .personality = r.cie.personality,
		    .derived = derived(b, side, r.pc, r.size)};
		read_table(side, &f, r.lsda);
		vec_push(&side->fde, f);
	}
	vec_sort(&side->fde, by_pc);
	return rc;
}

int bytes_frames(struct bytes *b)
{
	const struct elf_section *m = bytes_named(&b->made, ".eh_frame");

	if (read_fdes(b, &b->orig) || read_fdes(b, &b->made))
		return bytes_differ(
		    b, m ? m->addr : 0, "unwind information of another form than DWARF's");
	return 0;
}

void bytes_frames_free(struct bytes_side *s)
{
	size_t i;

	for (i = 0; i < s->fde.n; i++)
		eh_table_free(&s->fde.v[i].table);
	vec_free(&s->fde);
}

const struct bytes_fde *bytes_frame(const struct bytes_side *s, uint64_t addr)
{
	size_t at = partition_point(0, s->fde.n, i, s->fde.v[i].pc <= addr);
	const struct bytes_fde *f = at ? &s->fde.v[at - 1] : NULL;

	return f && addr - f->pc < f->size ? f : NULL;
}

static const struct bytes_fde *of_pc(const struct bytes_side *s, uint64_t pc)
{
	size_t at = partition_point(0, s->fde.n, i, s->fde.v[i].pc < pc);

	return at < s->fde.n && s->fde.v[at].pc == pc ? &s->fde.v[at] : NULL;
}

static bool all_nops(const struct bytes_side *side, uint64_t at, uint64_t n)
{
	const uint8_t *p = bytes_at(side, at, n);

	while (n && p && !p[n - 1]) /* DW_CFA_nop */
		n--;
	return !n;
}

/* Instructions may end with no-operations, as many as the place needs. */
static bool same_padded(
    const struct bytes *b, uint64_t orig, uint64_t o_n, uint64_t made, uint64_t m_n)
{
	uint64_t n = o_n < m_n ? o_n : m_n, where;

	return bytes_same_run(b, orig, made, n, true, &where) &&
	       all_nops(&b->orig, orig + n, o_n - n) && all_nops(&b->made, made + n, m_n - n);
}

static bool same_cie(const struct bytes *b, uint64_t orig, uint64_t made)
{
	const uint8_t *o = bytes_at(&b->orig, orig, 4), *m = bytes_at(&b->made, made, 4);

	return o && m && same_padded(b, orig + 4, get_le32(o), made + 4, get_le32(m));
}

/* The instructions, and all else but the address of the exception table. */
static bool same_rest(const struct bytes *b, const struct bytes_fde *o, const struct bytes_fde *m)
{
	uint64_t n = o->lsda_at + o->lsda_size - o->rest_at, where;

	if (o->lsda_size != m->lsda_size)
		return false;
	if (!o->lsda_size)
		return same_padded(b, o->rest_at, o->rest, m->rest_at, m->rest);
	return o->lsda_at - o->rest_at == m->lsda_at - m->rest_at &&
	       bytes_same_run(b, o->rest_at, m->rest_at, n - o->lsda_size, true, &where) &&
	       same_padded(b, o->rest_at + n, o->rest - n, m->rest_at + n, m->rest - n);
}

static bool same_fde(const struct bytes *b, const struct bytes_fde *o, const struct bytes_fde *m)
{
	return o->size == m->size && same_cie(b, o->cie, m->cie) && same_rest(b, o, m) &&
	       bytes_same_handlers(b, o, m);
}

/* The original's FDE for that of `pc`. Code may begin with no-operations, which are
 * taken for padding before it: the same ones must be there. */
static const struct bytes_fde *counterpart(const struct bytes *b, uint64_t pc)
{
	enum { NOPS_MAX = 64 };
	const struct bytes_piece *p = NULL;
	const uint8_t *o, *m;
	uint64_t n, orig;

	for (n = 0; n < NOPS_MAX && !p; n++)
		p = bytes_piece(b, pc + n);
	if (!p)
		return NULL;
	orig = p->orig + (pc - p->made); /* pc may be below: modulo 2^64 */
	if (pc < p->made) {
		n = p->made - pc;
		o = bytes_at(&b->orig, orig, n);
		m = bytes_at(&b->made, pc, n);
		if (!o || !m || memcmp(o, m, n))
			return NULL;
	}
	return of_pc(&b->orig, orig);
}

static size_t count_kept(const struct bytes_side *s)
{
	size_t i, n = 0;

	for (i = 0; i < s->fde.n; i++)
		n += !s->fde.v[i].derived;
	return n;
}

static int compare_fdes(struct bytes *b)
{
	size_t i, was = count_kept(&b->orig), is = count_kept(&b->made);
	const struct bytes_fde *o, *m;

	if (was != is)
		return err_set(b->e,
		    "the new build has unwind information of %zu functions that "
		    "are not edited where there was that of %zu",
		    is, was);
	for (i = 0; i < b->made.fde.n; i++) {
		m = &b->made.fde.v[i];
		if (m->derived)
			continue;
		o = counterpart(b, m->pc);
		if (!o || o->derived || !same_fde(b, o, m))
			return bytes_differ(b, m->at, "unwind information changed");
	}
	return 0;
}

/* .eh_frame_hdr: the distance to .eh_frame, and a table of those from itself to code
 * and FDE, ascending, which ld leaves out where it cannot read .eh_frame. */
static int compare_index(
    struct bytes *b, const struct elf_section *s, const struct elf_section *frames)
{
	uint64_t i, pc, at, n;
	bool table = s->size < 4 || memcmp(s->data, "\1\x1b\xff\xff", 4);

	if (s->size < (table ? 12 : 8) || (table && memcmp(s->data, "\1\x1b\3\x3b", 4)) ||
	    s->addr + 4 + (uint64_t)(int32_t)get_le32(s->data + 4) != frames->addr)
		return bytes_differ(b, s->addr, "not an index of the unwind information");
	if (!table)
		return 0;
	n = get_le32(s->data + 8);
	if (n > (s->size - 12) / 8 || n != b->made.fde.n)
		return bytes_differ(b, s->addr + 8, "not the index of the unwind information");
	for (i = 0; i < n; i++) {
		pc = s->addr + (uint64_t)(int32_t)get_le32(s->data + 12 + 8 * i);
		at = s->addr + (uint64_t)(int32_t)get_le32(s->data + 16 + 8 * i);
		if (pc != b->made.fde.v[i].pc || at != b->made.fde.v[i].at)
			return bytes_differ(
			    b, s->addr + 12 + 8 * i, "not the index of the unwind information");
	}
	return 0;
}

int bytes_eh_frame(struct bytes *b)
{
	const struct elf_section *o = bytes_named(&b->orig, ".eh_frame");
	const struct elf_section *m = bytes_named(&b->made, ".eh_frame");
	const struct elf_section *index = bytes_named(&b->made, ".eh_frame_hdr");

	if (!o || !m || !o->data || !m->data)
		return 0;
	if (index && index->data && compare_index(b, index, m))
		return -1;
	return compare_fdes(b);
}
