#include "common/le.h"
#include "common/sort.h"
#include "editor-driver/proof/image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { PADDING_MAX = 64, CODE_ALIGN = 16, NOP_MAX = 16, OPERAND_MAX = 8 };

/* ---- blocks ---- */

/* One block of one build. */
struct ref {
	uint64_t tu, addr;
	uint32_t func, id, size, frag, at; /* at: in block[] of its map */
};
typedef VEC(struct ref) ref_list;

static int same_ref(const struct ref *x, const struct ref *y)
{
	return ORDER(x->tu, y->tu) ?: ORDER(x->func, y->func) ?: ORDER(x->id, y->id);
}

static int by_ref(const void *a, const void *b)
{
	const struct ref *x = a, *y = b;
	int r = same_ref(x, y);

	return r ? r : (x->addr > y->addr) - (x->addr < y->addr);
}

static void list_refs(const struct blockmap *m, ref_list *out)
{
	const struct bm_block *k;
	const struct bm_frag *f;

	for (k = m->block.v; k < m->block.v + m->block.n; k++) {
		f = &m->frag.v[k->frag];
		vec_push(out, (struct ref){f->tu, k->addr, f->func, k->id, k->size, k->frag,
				  (uint32_t)(k - m->block.v)});
	}
	vec_sort(out, by_ref);
}

static size_t run_of(const ref_list *l, size_t i)
{
	size_t k = i;

	while (k < l->n && !same_ref(&l->v[i], &l->v[k]))
		k++;
	return k - i;
}

/* Does the block after this one, which it may run into, follow it as it did? */
static bool same_next(const struct blockmap *o, uint32_t i, const struct blockmap *m, uint32_t k)
{
	const struct bm_block *was = &o->block.v[i], *is = &m->block.v[k];
	bool more = i + 1 < o->block.n && was[1].frag == was->frag;

	if (more != (k + 1 < m->block.n && is[1].frag == is->frag))
		return false;
	return !more || (was[1].id == is[1].id && was[1].addr - was->addr == is[1].addr - is->addr);
}

/* Of a unit that was linked twice each block is there twice, and its copies
 * follow each of them. Returns a block that is not edited and out of its order, or
 * NULL. */
static const struct bm_block *block_pieces(struct bytes *b)
{
	const struct bm_block *moved = NULL;
	ref_list o = {0}, m = {0};
	size_t i = 0, k = 0, no, nm, j;
	const struct ref *was, *is;

	list_refs(b->orig.map, &o);
	list_refs(b->made.map, &m);
	for (; k < m.n; k += nm) {
		nm = run_of(&m, k);
		while (i < o.n && same_ref(&o.v[i], &m.v[k]) < 0)
			i++;
		no = i < o.n && !same_ref(&o.v[i], &m.v[k]) ? run_of(&o, i) : 0;
		for (j = 0; no && j < nm; j++) {
			is = &m.v[k + j];
			was = &o.v[i + j * no / nm];
			vec_push(&b->piece, (struct bytes_piece){is->addr, was->addr, is->size,
						was->size, is->frag, bytes_is_edited(b, is->tu)});
			if (!b->piece.v[b->piece.n - 1].edited &&
			    !same_next(b->orig.map, was->at, b->made.map, is->at))
				moved = &b->made.map->block.v[is->at];
		}
	}
	vec_free(&o);
	vec_free(&m);
	return moved;
}

/* ---- code in no block ---- */

struct gap {
	uint64_t begin, end;
};
typedef VEC(struct gap) gap_list;

/* The length of gold's jump over single no-operations at p, these included; 0 = none. */
static uint64_t jump_over_nops(const uint8_t *p, uint64_t n)
{
	enum { JUMP = 5 };
	uint64_t end, i;

	if (n < JUMP || *p != 0xe9)
		return 0;
	end = JUMP + (uint64_t)get_le32(p + 1);
	if (end > n)
		return 0;
	for (i = JUMP; i < end && p[i] == 0x90; i++)
		;
	return i == end ? end : 0;
}

/* The length of the piece of padding at p, 0 = none. */
static uint64_t filler(const struct bytes_side *side, const uint8_t *p, uint64_t n)
{
	if (n && side->own_padding && !*p)
		return 1;
	return bytes_nop(p, n) ?: side->own_padding ? jump_over_nops(p, n) : 0;
}

/* Where the padding begins that ends a gap. No instruction is longer than 15. */
static uint64_t without_padding(const struct bytes_side *side, const uint8_t *p, uint64_t n)
{
	uint64_t end = n, at = n, i, len;
	uint32_t good = 1; /* bit k: what is k after `at` is padding to the end */
	bool is;

	for (i = n; i-- > 0 && (good & 0xffff);) {
		at = i;
		len = filler(side, p + at, n - at);
		/* A jump leads into what was found to be padding, or to its end. */
		is = len > NOP_MAX ? at + len >= end : len && good >> (len - 1) & 1;
		good = good << 1 | is;
		if (is)
			end = at;
	}
	/* Zeros may be the end of the last operand. */
	for (i = 0; i < OPERAND_MAX - 1 && end < n && side->own_padding && !p[end]; i++)
		end++;
	return end;
}

uint64_t bytes_padding(const struct bytes_side *side, const uint8_t *p, uint64_t n)
{
	uint64_t i = 0, len;

	while (i < n && (len = filler(side, p + i, n - i)))
		i += len;
	return i;
}

static void add_function(const struct bytes_side *side, const struct elf_section *s, uint64_t begin,
    uint64_t end, gap_list *out)
{
	const uint8_t *p = s->data + (begin - s->addr);
	uint64_t n = end - begin, from = bytes_padding(side, p, n);

	n = from + without_padding(side, p + from, n - from);
	if (from < n)
		vec_push(out, (struct gap){begin + from, begin + n});
}

/* Where unwind information says that a function begins there may be padding before it, as much as
 * its address needs. */
static void add_gap(const struct bytes_side *side, const struct elf_section *s, uint64_t begin,
    uint64_t end, gap_list *out)
{
	size_t k = partition_point(0, side->fde.n, i, side->fde.v[i].pc <= begin);

	for (; k < side->fde.n && side->fde.v[k].pc < end; k++) {
		add_function(side, s, begin, side->fde.v[k].pc, out);
		begin = side->fde.v[k].pc;
	}
	add_function(side, s, begin, end, out);
}

/* What of a section lies in no block, without padding around it. */
static void gaps_of(const struct bytes_side *side, const struct elf_section *s, gap_list *out)
{
	const struct bm_block *k, *end = side->map->block.v + side->map->block.n;
	uint64_t at = s->addr;

	for (k = side->map->block.v; k < end && k->addr + k->size <= s->addr; k++)
		;
	for (; k < end && k->addr < s->addr + s->size; k++) {
		if (k->addr > at)
			add_gap(side, s, at, k->addr, out);
		if (k->addr + k->size > at)
			at = k->addr + k->size;
	}
	if (at < s->addr + s->size)
		add_gap(side, s, at, s->addr + s->size, out);
}

/* Does padding end on the compiler's boundary here, n bytes of it? */
static bool aligned_padding(
    const struct bytes_side *side, uint64_t addr, const uint8_t *p, uint64_t room, uint64_t *n)
{
	*n = bytes_padding(side, p, room);
	return !((addr + *n) % CODE_ALIGN);
}

/* How many of n bytes come before padding that differs in length: where what is
 * before it moved by less than the alignment of what follows. */
static uint64_t until_padding(const struct bytes *b, uint64_t orig, uint64_t made, uint64_t n)
{
	const uint8_t *o = bytes_at(&b->orig, orig, n), *m = bytes_at(&b->made, made, n);
	uint64_t i, s, was, is;

	if (!o || !m)
		return n;
	for (i = 0; i < n; i++) {
		if (o[i] == m[i])
			continue;
		for (s = i; s + NOP_MAX > i; s--) {
			if (aligned_padding(&b->orig, orig + s, o + s, n - s, &was) &&
			    aligned_padding(&b->made, made + s, m + s, n - s, &is) && was != is)
				return s;
			if (!s)
				break;
		}
	}
	return n;
}

/* Advances by n bytes, and past the padding there. Returns whether the gap continues. */
static bool advance(const struct bytes_side *side, struct gap *g, uint64_t n)
{
	g->begin += n;
	if (g->begin < g->end)
		g->begin += bytes_padding(
		    side, bytes_at(side, g->begin, g->end - g->begin), g->end - g->begin);
	return g->begin < g->end;
}

static int foreign_pieces(struct bytes *b, const struct elf_section *o, const struct elf_section *m)
{
	gap_list was = {0}, is = {0};
	uint64_t n, k;
	size_t i = 0, j = 0;
	int rc = 0;

	gaps_of(&b->orig, o, &was);
	gaps_of(&b->made, m, &is);
	while (i < was.n && j < is.n) {
		n = was.v[i].end - was.v[i].begin;
		k = is.v[j].end - is.v[j].begin;
		n = until_padding(b, was.v[i].begin, is.v[j].begin, n < k ? n : k);
		vec_push(&b->piece, (struct bytes_piece){is.v[j].begin, was.v[i].begin, (uint32_t)n,
					(uint32_t)n, BYTES_FOREIGN, false});
		i += !advance(&b->orig, &was.v[i], n);
		j += !advance(&b->made, &is.v[j], n);
	}
	if (j < is.n)
		rc = bytes_differ(b, is.v[j].begin, "code that the original does not have");
	else if (i < was.n)
		rc = err_set(b->e, "the new build lacks code of the original (%s, %#llx)", o->name,
		    (unsigned long long)was.v[i].begin);
	vec_free(&was);
	vec_free(&is);
	return rc;
}

static int by_made(const void *a, const void *b)
{
	const struct bytes_piece *x = a, *y = b;

	return ORDER(x->made, y->made) ?: ORDER(x->size, y->size);
}

int bytes_map(struct bytes *b)
{
	const struct bm_block *moved = block_pieces(b);
	const struct elf_section *o, *m;
	size_t i;

	for (i = 0; i < b->orig.section.n; i++) {
		o = &b->orig.section.v[i];
		m = bytes_named(&b->made, o->name);
		if (bytes_kind(o) == BYTES_CODE && m && o->data && m->data &&
		    foreign_pieces(b, o, m))
			return -1;
	}
	vec_sort(&b->piece, by_made);
	if (moved)
		return bytes_differ(b, moved->addr, "code that is not edited is in another order");
	return 0;
}

/* ---- addresses ---- */

bool bytes_is_edited(const struct bytes *b, uint64_t tu)
{
	size_t at = partition_point(0, b->nedited, i, b->edited[i] < tu);

	return at < b->nedited && b->edited[at] == tu;
}

/* The number of pieces that begin at addr or before it. */
static size_t pieces_before(const struct bytes *b, uint64_t addr)
{
	return partition_point(0, b->piece.n, i, b->piece.v[i].made <= addr);
}

const struct bytes_piece *bytes_piece(const struct bytes *b, uint64_t made)
{
	size_t i = pieces_before(b, made);
	const struct bytes_piece *p = i ? &b->piece.v[i - 1] : NULL;

	return p && made - p->made < p->size ? p : NULL;
}

/* Padding before a function belongs to it (-fpatchable-function-entry). */
bool bytes_was(const struct bytes *b, uint64_t made, uint64_t *orig)
{
	size_t i = pieces_before(b, made);
	const struct bytes_piece *p = bytes_piece(b, made);

	if (!p && i < b->piece.n && b->piece.v[i].made - made <= PADDING_MAX)
		p = &b->piece.v[i];
	if (p)
		*orig = p->orig + (made - p->made);
	return p != NULL;
}

bool bytes_same_code(const struct bytes *b, uint64_t orig, uint64_t made)
{
	size_t i = pieces_before(b, made);
	const struct bytes_piece *p;
	bool past = false;
	uint64_t was;

	/* Empty blocks begin where the next does; foreign code may be named by its end. */
	while (i-- > 0 && !past) {
		p = &b->piece.v[i];
		past = p->made < made;
		if (made - p->made < p->size + (uint64_t)(!past || p->frag == BYTES_FOREIGN) &&
		    p->orig + (made - p->made) == orig)
			return true;
	}
	return bytes_was(b, made, &was) && was == orig;
}

/* ---- what the loader binds ---- */

static int by_addr(const void *a, const void *b)
{
	const struct bytes_slot *x = a, *y = b;

	return ORDER(x->addr, y->addr);
}

static int by_name(const void *a, const void *b)
{
	const struct bytes_symbol *x = a, *y = b;
	int r = strcmp(x->name, y->name);

	if (!r)
		r = strcmp(x->version, y->version);
	return r ? r : (x->index > y->index) - (x->index < y->index);
}

static int keep_symbol(const struct elf_symbol *s, void *arg)
{
	struct bytes_side *side = arg;
	uint32_t index = (uint32_t)side->symbol.n + 1;

	vec_push(
	    &side->symbol, (struct bytes_symbol){s->name, s->version ? s->version : "", index});
	return 0;
}

static void read_slots(struct bytes_side *side, const uint32_t *place)
{
	const struct elf_section *s;
	const uint8_t *p;
	uint64_t info;
	uint32_t sym;

	for (s = side->section.v; s < side->section.v + side->section.n; s++) {
		if (s->type != SHT_RELA || !s->data)
			continue;
		for (p = s->data; p + sizeof(Elf64_Rela) <= s->data + s->size;
		     p += sizeof(Elf64_Rela)) {
			info = get_le64(p + 8);
			sym = (uint32_t)(info >> 32);
			sym = sym && sym <= side->symbol.n ? place[sym - 1] + 1 : 0;
			vec_push(&side->slot, (struct bytes_slot){get_le64(p),
						  (int64_t)get_le64(p + 16), sym, (uint32_t)info});
		}
	}
	vec_sort(&side->slot, by_addr);
}

static int read_side(struct bytes_side *side, struct err *e)
{
	uint32_t *place;
	size_t i;

	if (elf_file_symbols(side->f, true, keep_symbol, side))
		return err_set(e, "damaged dynamic symbols");
	place = xcalloc(side->symbol.n, sizeof *place);
	vec_sort(&side->symbol, by_name);
	for (i = 0; i < side->symbol.n; i++)
		place[side->symbol.v[i].index - 1] = (uint32_t)i;
	read_slots(side, place);
	free(place);
	return 0;
}

int bytes_bindings(struct bytes *b)
{
	const struct bytes_symbol *o, *m;
	size_t i;

	if (read_side(&b->made, b->e) || read_side(&b->orig, b->e))
		return -1;
	for (i = 0; i < b->orig.symbol.n; i++) {
		o = &b->orig.symbol.v[i];
		m = &b->made.symbol.v[i];
		if (i >= b->made.symbol.n || strcmp(o->name, m->name) ||
		    strcmp(o->version, m->version))
			return err_set(b->e, "the dynamic symbol %s is not there", o->name);
	}
	return b->made.symbol.n == b->orig.symbol.n
		   ? 0
		   : err_set(b->e, "there are new dynamic symbols");
}

const struct bytes_slot *bytes_slot(const struct bytes_side *s, uint64_t addr)
{
	struct bytes_slot key = {.addr = addr};

	return s->slot.n ? bsearch(&key, s->slot.v, s->slot.n, sizeof key, by_addr) : NULL;
}

uint64_t bytes_plt_slot(const struct bytes_side *s, uint64_t addr)
{
	const uint8_t *p = bytes_at(s, addr, 16);
	unsigned i;

	/* mold's: endbr64, and the stub's number to r11d. */
	if (p && !memcmp(p, "\xf3\x0f\x1e\xfa\x41\xbb", 6) && p[10] == 0xff && p[11] == 0x25)
		return addr + 16 + (uint64_t)(int32_t)get_le32(p + 12);
	p = bytes_at(s, addr, 8);
	for (i = 0; p && i <= 5; i++) { /* after endbr64 and bnd */
		if (p[i] == 0xff && p[i + 1] == 0x25)
			return bytes_at(s, addr, i + 6)
				   ? addr + i + 6 + (uint64_t)(int32_t)get_le32(p + i + 2)
				   : 0;
		if (!bytes_at(s, addr, i + 9))
			return 0;
	}
	return 0;
}

/* Slots of the GOT are known by what is bound there. */
static bool same_slot(const struct bytes *b, uint64_t orig, uint64_t made)
{
	const struct bytes_slot *o = bytes_slot(&b->orig, orig), *m = bytes_slot(&b->made, made);

	if (!o || !m || o->sym != m->sym)
		return false;
	if (o->sym)
		return o->addend == m->addend;
	return o->type == m->type &&
	       (o->addend == m->addend ||
		   (o->type != R_X86_64_TPOFF64 && o->type != R_X86_64_DTPMOD64 &&
		       bytes_correspond(b, (uint64_t)o->addend, (uint64_t)m->addend)));
}

/* Moved like the section that holds it, or of which it is the end; where there is no section
 * (headers, alignment after the last), like any. */
static bool same_shift(const struct bytes *b, uint64_t orig, uint64_t made)
{
	const struct elf_section *o, *m;
	bool held = false;
	size_t i;

	for (o = b->orig.section.v; o < b->orig.section.v + b->orig.section.n; o++) {
		if (bytes_kind(o) == BYTES_CODE || !bytes_has_address(o) ||
		    orig - o->addr > o->size || !(m = bytes_named(&b->made, o->name)))
			continue;
		if (made - orig == m->addr - o->addr ||
		    (orig == o->addr + o->size && made == m->addr + m->size))
			return true;
		held = true;
	}
	for (i = 0; !held && i < b->shift.n; i++)
		if (b->shift.v[i] == made - orig)
			return true;
	return false;
}

/* etext and the like. */
static bool same_end(const struct bytes *b, uint64_t orig, uint64_t made)
{
	const struct elf_section *o, *m;

	for (o = b->orig.section.v; o < b->orig.section.v + b->orig.section.n; o++) {
		if (bytes_kind(o) != BYTES_CODE || (orig != o->addr && orig != o->addr + o->size))
			continue;
		m = bytes_named(&b->made, o->name);
		if (m && made == (orig == o->addr ? m->addr : m->addr + m->size))
			return true;
	}
	return false;
}

bool bytes_correspond(const struct bytes *b, uint64_t orig, uint64_t made)
{
	const struct elf_section *o = bytes_section(&b->orig, orig);
	const struct elf_section *m = bytes_section(&b->made, made);
	uint64_t was, is;

	if (o && m && bytes_kind(o) == BYTES_PLT && bytes_kind(m) == BYTES_PLT) {
		was = bytes_plt_slot(&b->orig, orig);
		is = bytes_plt_slot(&b->made, made);
		return was && is ? bytes_correspond(b, was, is)
				 : !strcmp(o->name, m->name) && orig - o->addr == made - m->addr;
	}
	if (o && m && bytes_kind(o) == BYTES_GOT && bytes_kind(m) == BYTES_GOT &&
	    (bytes_slot(&b->orig, orig) || bytes_slot(&b->made, made)))
		return same_slot(b, orig, made);
	if (bytes_same_code(b, orig, made) || same_end(b, orig, made))
		return true;
	/* Code does not move as data does, and padding may stay where it is. */
	if (o && bytes_kind(o) == BYTES_CODE)
		return orig == made && !bytes_piece(b, made);
	return same_shift(b, orig, made);
}
