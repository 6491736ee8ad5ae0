#include "common/le.h"
#include "common/sort.h"
#include "editor-driver/proof/image.h"

#include <stdlib.h>
#include <string.h>

/* One FDE; addresses. */
struct fde {
	uint64_t at, pc, cie; /* of the record, of the code, of its CIE */
	uint64_t size, rest;  /* of the code, and bytes of the record after that */
	uint64_t rest_at;
};
typedef VEC(struct fde) fde_list;

enum { ABSPTR = 0, PCREL_SDATA4 = 0x1b, UNKNOWN = 0xff };

/* How the FDEs of a CIE encode addresses of code (DW_EH_PE_*). */
static uint8_t encoding(const uint8_t *p, uint64_t n)
{
	const uint8_t *end = p + n, *aug = p + 9, *a;
	uint64_t v;

	if (n < 10 || !memchr(aug, 0, (size_t)(end - aug)))
		return UNKNOWN;
	p = aug + strlen((const char *)aug) + 1;
	if (*aug != 'z')
		return *aug ? UNKNOWN : ABSPTR;
	/* Code and data alignment, return address register, length. */
	if (uleb_read(&p, end, &v) || uleb_read(&p, end, &v) || uleb_read(&p, end, &v) ||
	    uleb_read(&p, end, &v))
		return UNKNOWN;
	for (a = aug + 1; *a; a++) {
		if (p >= end)
			return UNKNOWN;
		if (*a == 'R')
			return *p;
		if (*a == 'P')
			p += 1 + ((*p & 7) == 3 ? 4 : 8); /* udata4, sdata4; else a pointer */
		else if (*a == 'L')
			p++;
		else if (*a != 'S' && *a != 'B')
			return UNKNOWN;
	}
	return ABSPTR;
}

static int read_fde(
    const struct elf_section *s, uint64_t at, uint64_t n, struct fde *f, uint8_t *how)
{
	const uint8_t *p = s->data + at + 4;
	uint64_t cie = at + 4 - get_le32(p), clen;
	unsigned k;

	if (cie >= at || cie + 8 > s->size)
		return -1;
	clen = get_le32(s->data + cie);
	if (clen < 4 || clen > s->size - cie - 4)
		return -1;
	*how = encoding(s->data + cie, clen + 4);
	k = *how == PCREL_SDATA4 ? 4 : 8;
	if ((*how != PCREL_SDATA4 && *how != ABSPTR) || n < 4 + 2 * k)
		return -1;
	*f = (struct fde){.at = s->addr + at, .cie = s->addr + cie};
	if (k == 4) {
		f->pc = s->addr + at + 8 + (uint64_t)(int32_t)get_le32(p + 4);
		f->size = get_le32(p + 8);
	} else {
		f->pc = get_le64(p + 4);
		f->size = get_le64(p + 12);
	}
	f->rest_at = f->at + 8 + 2 * k;
	f->rest = n - 4 - 2 * k;
	return 0;
}

static int by_pc(const void *a, const void *b)
{
	const struct fde *x = a, *y = b;

	return ORDER(x->pc, y->pc) ?: ORDER(x->at, y->at);
}

/* -1: it is not made of CIEs and FDEs of the usual form. */
static int read_fdes(const struct elf_section *s, fde_list *out)
{
	uint64_t at, n;
	struct fde f;
	uint8_t how;

	for (at = 0; at + 4 <= s->size; at += 4 + n) {
		n = get_le32(s->data + at);
		if (!n)
			continue; /* the terminator, from each crtend.o */
		if (n < 4 || n > s->size - at - 4)
			return -1;
		if (!get_le32(s->data + at + 4))
			continue;
		if (read_fde(s, at, n, &f, &how))
			return -1;
		vec_push(out, f);
	}
	vec_sort(out, by_pc);
	return 0;
}

/* Of stubs, whose number may change, and of edited units, whose text was proven. */
static bool derived(const struct bytes *b, const struct bytes_side *side, uint64_t pc)
{
	const struct elf_section *s = bytes_section(side, pc);
	const struct bm_block *k = blockmap_find(side->map, pc);

	return (s && bytes_kind(s) == BYTES_PLT) ||
	       (k && bytes_is_edited(b, side->map->frag.v[k->frag].tu));
}

static void drop_derived(const struct bytes *b, const struct bytes_side *side, fde_list *l)
{
	size_t i, n = 0;

	for (i = 0; i < l->n; i++)
		if (!derived(b, side, l->v[i].pc))
			l->v[n++] = l->v[i];
	l->n = n;
}

static const struct fde *of_pc(const fde_list *l, uint64_t pc)
{
	size_t at = partition_point(0, l->n, i, l->v[i].pc < pc);

	return at < l->n && l->v[at].pc == pc ? &l->v[at] : NULL;
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

static bool same_fde(const struct bytes *b, const struct fde *o, const struct fde *m)
{
	return o->size == m->size && same_cie(b, o->cie, m->cie) &&
	       same_padded(b, o->rest_at, o->rest, m->rest_at, m->rest);
}

/* The original's FDE for that of `pc`. Code may begin with no-operations, which are
 * taken for padding before it: the same ones must be there. */
static const struct fde *counterpart(const struct bytes *b, const fde_list *was, uint64_t pc)
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
	return of_pc(was, orig);
}

static int compare_fdes(struct bytes *b, fde_list *was, fde_list *is)
{
	const struct fde *o;
	size_t i;

	drop_derived(b, &b->orig, was);
	drop_derived(b, &b->made, is);
	if (was->n != is->n)
		return err_set(b->e,
		    "the new build has unwind information of %zu functions that "
		    "are not edited where there was that of %zu",
		    is->n, was->n);
	for (i = 0; i < is->n; i++) {
		o = counterpart(b, was, is->v[i].pc);
		if (!o || !same_fde(b, o, &is->v[i]))
			return bytes_differ(b, is->v[i].at, "unwind information changed");
	}
	return 0;
}

/* .eh_frame_hdr: the distance to .eh_frame, and a table of those from itself to code
 * and FDE, ascending, which ld leaves out where it cannot read .eh_frame. */
static int compare_index(struct bytes *b, const struct elf_section *s,
    const struct elf_section *frames, const fde_list *fde)
{
	uint64_t i, pc, at, n;
	bool table = s->size < 4 || memcmp(s->data, "\1\x1b\xff\xff", 4);

	if (s->size < (table ? 12 : 8) || (table && memcmp(s->data, "\1\x1b\3\x3b", 4)) ||
	    s->addr + 4 + (uint64_t)(int32_t)get_le32(s->data + 4) != frames->addr)
		return bytes_differ(b, s->addr, "not an index of the unwind information");
	if (!table)
		return 0;
	n = get_le32(s->data + 8);
	if (n > (s->size - 12) / 8 || n != fde->n)
		return bytes_differ(b, s->addr + 8, "not the index of the unwind information");
	for (i = 0; i < n; i++) {
		pc = s->addr + (uint64_t)(int32_t)get_le32(s->data + 12 + 8 * i);
		at = s->addr + (uint64_t)(int32_t)get_le32(s->data + 16 + 8 * i);
		if (pc != fde->v[i].pc || at != fde->v[i].at)
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
	fde_list was = {0}, is = {0};
	int rc = 0;

	if (!o || !m || !o->data || !m->data)
		return 0;
	if (read_fdes(o, &was) || read_fdes(m, &is))
		rc = bytes_differ(b, m->addr, "unwind information of another form than DWARF's");
	else if (index && index->data)
		rc = compare_index(b, index, m, &is);
	if (!rc)
		rc = compare_fdes(b, &was, &is);
	vec_free(&was);
	vec_free(&is);
	return rc;
}
