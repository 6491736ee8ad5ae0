#include "common/le.h"
#include "common/sort.h"
#include "editor-driver/proof/image.h"

#include <stdlib.h>
#include <string.h>

enum { ABSPTR = 0, PCREL_SDATA4 = 0x1b, OMIT = 0xff };

/* What a CIE says of its FDEs (DW_EH_PE_*), and its personality routine. */
struct cie {
	uint8_t code, lsda;
	bool augmented; /* FDEs have a length of such data */
	uint64_t personality;
};

/* n bytes at p, address addr. */
static int read_cie(const uint8_t *p, uint64_t n, uint64_t addr, struct cie *c)
{
	const uint8_t *begin = p, *end = p + n, *aug = p + 9, *a;
	uint8_t how;
	uint64_t v;

	*c = (struct cie){.code = ABSPTR, .lsda = OMIT};
	if (n < 10 || !memchr(aug, 0, (size_t)(end - aug)))
		return -1;
	p = aug + strlen((const char *)aug) + 1;
	if (*aug != 'z')
		return *aug ? -1 : 0;
	c->augmented = true;
	/* Code and data alignment, return address register, length. */
	if (uleb_read(&p, end, &v) || uleb_read(&p, end, &v) || uleb_read(&p, end, &v) ||
	    uleb_read(&p, end, &v))
		return -1;
	for (a = aug + 1; *a; a++) {
		if (*a == 'S' || *a == 'B')
			continue;
		if (p == end)
			return -1;
		how = *p++;
		if (*a == 'R')
			c->code = how;
		else if (*a == 'L')
			c->lsda = how;
		else if (*a != 'P' ||
			 eh_value_read(&p, end, how, addr + (uint64_t)(p - begin), &c->personality))
			return -1;
	}
	return 0;
}

static int read_lsda(const struct bytes_side *side, const struct elf_section *s,
    const struct cie *c, struct bytes_fde *f)
{
	const uint8_t *p = s->data + (f->rest_at - s->addr), *end = p + f->rest, *field, *table;
	const struct elf_section *in;
	uint64_t n, addr;

	f->personality = c->personality;
	if (!c->augmented || uleb_read(&p, end, &n))
		return c->augmented ? -1 : 0;
	if (n > (uint64_t)(end - p))
		return -1;
	if (c->lsda == OMIT)
		return 0;
	field = p;
	f->lsda_at = s->addr + (uint64_t)(p - s->data);
	if (eh_value_read(&p, p + n, c->lsda, f->lsda_at, &addr))
		return -1;
	f->lsda_size = (uint64_t)(p - field);
	f->has_table = addr != 0;
	in = bytes_section(side, addr);
	table = f->has_table ? bytes_at(side, addr, 1) : NULL;
	f->odd = f->has_table &&
		 (!table || eh_table_read(table, in->data + in->size, addr, f->pc, &f->table));
	return 0;
}

static int read_fde(const struct bytes_side *side, const struct elf_section *s, uint64_t at,
    uint64_t n, struct bytes_fde *f)
{
	const uint8_t *p = s->data + at + 4;
	uint64_t cie = at + 4 - get_le32(p), clen;
	struct cie c;
	unsigned k;

	if (cie >= at || cie + 8 > s->size)
		return -1;
	clen = get_le32(s->data + cie);
	if (clen < 4 || clen > s->size - cie - 4 ||
	    read_cie(s->data + cie, clen + 4, s->addr + cie, &c))
		return -1;
	k = c.code == PCREL_SDATA4 ? 4 : 8;
	if ((c.code != PCREL_SDATA4 && c.code != ABSPTR) || n < 4 + 2 * k)
		return -1;
	*f = (struct bytes_fde){.at = s->addr + at, .cie = s->addr + cie};
	if (k == 4) {
		f->pc = s->addr + at + 8 + (uint64_t)(int32_t)get_le32(p + 4);
		f->size = get_le32(p + 8);
	} else {
		f->pc = get_le64(p + 4);
		f->size = get_le64(p + 12);
	}
	f->rest_at = f->at + 8 + 2 * k;
	f->rest = n - 4 - 2 * k;
	return read_lsda(side, s, &c, f);
}

static int by_pc(const void *a, const void *b)
{
	const struct bytes_fde *x = a, *y = b;

	return ORDER(x->pc, y->pc) ?: ORDER(x->at, y->at);
}

/* Of stubs, whose number may change, and of edited units, whose text was proven. */
static bool derived(const struct bytes *b, const struct bytes_side *side, uint64_t pc)
{
	const struct elf_section *s = bytes_section(side, pc);
	const struct bm_block *k = blockmap_find(side->map, pc);

	return (s && bytes_kind(s) == BYTES_PLT) ||
	       (k && bytes_is_edited(b, side->map->frag.v[k->frag].tu));
}

/* -1: it is not made of CIEs and FDEs of the usual form. */
static int read_fdes(const struct bytes *b, struct bytes_side *side)
{
	const struct elf_section *s = bytes_named(side, ".eh_frame");
	uint64_t at, n;
	struct bytes_fde f;

	for (at = 0; s && s->data && at + 4 <= s->size; at += 4 + n) {
		n = get_le32(s->data + at);
		if (!n)
			continue; /* the terminator, from each crtend.o */
		if (n < 4 || n > s->size - at - 4)
			return -1;
		if (!get_le32(s->data + at + 4))
			continue;
		if (read_fde(side, s, at, n, &f)) {
			eh_table_free(&f.table);
			return -1;
		}
		f.derived = derived(b, side, f.pc);
		vec_push(&side->fde, f);
	}
	vec_sort(&side->fde, by_pc);
	return 0;
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
