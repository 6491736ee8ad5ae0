#include "common/le.h"
#include "common/sort.h"
#include "editor-driver/proof/image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* ---- symbols ---- */

static bool same_symbol(const struct bytes *b, const uint8_t *o, const uint8_t *m)
{
	uint16_t was = get_le16(o + 6), is = get_le16(m + 6);
	uint8_t type = ELF64_ST_TYPE(o[4]);
	uint64_t from = get_le64(o + 8), to = get_le64(m + 8);

	if (memcmp(o + 4, m + 4, 2)) /* type, visibility */
		return false;
	if ((!was) != (!is) || (was >= SHN_LORESERVE) != (is >= SHN_LORESERVE))
		return false;
	if (type != STT_FUNC && type != STT_GNU_IFUNC && get_le64(o + 16) != get_le64(m + 16))
		return false;
	if (type == STT_TLS || was >= SHN_LORESERVE || !from)
		return from == to;
	return bytes_correspond(b, from, to);
}

int bytes_dynsym(struct bytes *b, const struct elf_section *o, const struct elf_section *m)
{
	uint64_t was, is;
	size_t i;

	for (i = 0; i < b->orig.symbol.n; i++) {
		was = b->orig.symbol.v[i].index * sizeof(Elf64_Sym);
		is = b->made.symbol.v[i].index * sizeof(Elf64_Sym);
		if (was + sizeof(Elf64_Sym) > o->size || is + sizeof(Elf64_Sym) > m->size ||
		    !same_symbol(b, o->data + was, m->data + is))
			return bytes_differ(b, m->addr + is, "a dynamic symbol changed");
	}
	return 0;
}

/* ---- .dynamic ---- */

static bool is_string(uint64_t tag)
{
	return tag == DT_NEEDED || tag == DT_SONAME || tag == DT_RPATH || tag == DT_RUNPATH ||
	       tag == DT_AUDIT || tag == DT_DEPAUDIT || tag == DT_CONFIG || tag == DT_AUXILIARY ||
	       tag == DT_FILTER;
}

/* Where a text lies in .dynstr follows the order of symbols. */
static bool same_string(const struct bytes *b, uint64_t was, uint64_t is)
{
	const struct elf_section *o = bytes_named(&b->orig, ".dynstr");
	const struct elf_section *m = bytes_named(&b->made, ".dynstr");
	uint64_t n;

	if (!o || !m || !o->data || !m->data || was >= o->size || is >= m->size)
		return false;
	n = strnlen((const char *)o->data + was, o->size - was) + 1;
	return n <= o->size - was && n <= m->size - is && !memcmp(o->data + was, m->data + is, n);
}

static bool is_size(uint64_t tag)
{
	return tag == DT_RELASZ || tag == DT_PLTRELSZ || tag == DT_RELACOUNT || tag == DT_RELRSZ;
}

int bytes_dynamic(struct bytes *b, const struct elf_section *o, const struct elf_section *m)
{
	const uint8_t *p = o->data, *q = m->data;
	uint64_t i = 0, k = 0, tag, v, w;

	while (i + 16 <= o->size && k + 16 <= m->size) {
		tag = get_le64(p + i);
		if (tag != get_le64(q + k)) {
			/* The PLT may have lost its last entry. */
			if (tag != DT_JMPREL && tag != DT_PLTRELSZ && tag != DT_PLTREL)
				return bytes_differ(b, m->addr + k, "a dynamic tag changed");
			i += 16;
			continue;
		}
		v = get_le64(p + i + 8);
		w = get_le64(q + k + 8);
		/* How many relocations there are, bytes_rela() has seen. */
		if (is_string(tag) ? !same_string(b, v, w)
				   : v != w && !is_size(tag) && !bytes_correspond(b, v, w))
			return bytes_differ(b, m->addr + k, "a dynamic tag changed");
		i += 16;
		k += 16;
	}
	return 0;
}

/* ---- relocations ---- */

static bool in_got(const struct bytes_side *s, uint64_t addr)
{
	const struct elf_section *in = bytes_section(s, addr);

	return in && bytes_kind(in) == BYTES_GOT;
}

/* Addends that are addresses. */
static bool is_address(const struct bytes_slot *s)
{
	return s->type == R_X86_64_RELATIVE || s->type == R_X86_64_IRELATIVE;
}

static bool same_slot(const struct bytes *b, const struct bytes_slot *o, const struct bytes_slot *m)
{
	const struct elf_section *s = bytes_section(&b->made, m->addr);

	if (s && s->flags & SHF_LINK_ORDER) /* bytes_list() has seen them */
		return bytes_correspond(b, o->addr, m->addr) && o->type == m->type && !o->sym &&
		       !m->sym;
	return bytes_correspond(b, o->addr, m->addr) && o->type == m->type && o->sym == m->sym &&
	       (is_address(o) ? bytes_correspond(b, (uint64_t)o->addend, (uint64_t)m->addend)
			      : o->addend == m->addend);
}

struct got_key {
	uint32_t sym, type;
	uint64_t addend;
};

static int by_key(const void *a, const void *b)
{
	const struct got_key *x = a, *y = b;

	return ORDER(x->sym, y->sym) ?: ORDER(x->type, y->type) ?: ORDER(x->addend, y->addend);
}

/* What is bound to a symbol is the same, lazily or not. */
static struct got_key key_of(const struct bytes_slot *s)
{
	bool lazy = s->type == R_X86_64_JUMP_SLOT;

	return (struct got_key){s->sym, lazy ? R_X86_64_GLOB_DAT : s->type, (uint64_t)s->addend};
}

/* Is there a slot of the GOT in the original like this one of the new build? The
 * keys of addresses are apart by their type. */
static bool known_slot(
    const struct bytes *b, const struct got_key *key, size_t n, const struct bytes_slot *m)
{
	struct got_key k = key_of(m);
	size_t i;

	if (!is_address(m))
		return n && bsearch(&k, key, n, sizeof k, by_key);
	for (i = 0; i < n; i++)
		if (key[i].type == k.type && bytes_correspond(b, key[i].addend, k.addend))
			return true;
	return false;
}

static size_t next_outside(const struct bytes_side *s, size_t i)
{
	while (i < s->slot.n && in_got(s, s->slot.v[i].addr))
		i++;
	return i;
}

int bytes_rela(struct bytes *b)
{
	const struct bytes_slot *o = b->orig.slot.v, *m = b->made.slot.v;
	struct got_key *key = xcalloc(b->orig.slot.n, sizeof *key);
	size_t i, k, n = 0;
	int rc = 0;

	for (i = 0; i < b->orig.slot.n; i++)
		if (in_got(&b->orig, o[i].addr))
			key[n++] = key_of(&o[i]);
	if (n)
		qsort(key, n, sizeof *key, by_key);
	for (k = 0; k < b->made.slot.n && !rc; k++)
		if (in_got(&b->made, m[k].addr) && !known_slot(b, key, n, &m[k]))
			rc = bytes_differ(b, m[k].addr, "a slot of the GOT that is new");
	for (i = k = 0; !rc; i++, k++) {
		i = next_outside(&b->orig, i);
		k = next_outside(&b->made, k);
		if (i == b->orig.slot.n || k == b->made.slot.n)
			break;
		if (!same_slot(b, &o[i], &m[k]))
			rc = bytes_differ(b, m[k].addr, "a relocation changed");
	}
	if (!rc && (i < b->orig.slot.n) != (k < b->made.slot.n))
		rc = err_set(b->e, "the new build has other relocations than the original");
	free(key);
	return rc;
}

/* Slots that the loader does not set hold what some slot of the original holds. */
int bytes_got(struct bytes *b, const struct elf_section *o, const struct elf_section *m)
{
	uint64_t i, k, w;

	for (k = 0; k + 8 <= m->size; k += 8) {
		w = get_le64(m->data + k);
		if (!w || bytes_slot(&b->made, m->addr + k))
			continue;
		for (i = 0; i + 8 <= o->size; i += 8)
			if (get_le64(o->data + i) == w ||
			    bytes_correspond(b, get_le64(o->data + i), w))
				break;
		if (i + 8 > o->size)
			return bytes_differ(b, m->addr + k, "a slot of the GOT changed");
	}
	return 0;
}

/* ---- lists of addresses ---- */

typedef VEC(uint64_t) address_list;

/* The words of a section, as the loader leaves them, ascending. */
static void read_list(const struct bytes_side *side, const struct elf_section *s, address_list *out)
{
	const struct bytes_slot *slot;
	uint64_t i;

	for (i = 0; i + 8 <= s->size; i += 8) {
		slot = bytes_slot(side, s->addr + i);
		vec_push(out, slot ? (uint64_t)slot->addend : get_le64(s->data + i));
	}
}

int bytes_list(struct bytes *b, const struct elf_section *o, const struct elf_section *m)
{
	address_list was = {0}, is = {0};
	size_t i;
	int rc = 0;

	read_list(&b->orig, o, &was);
	read_list(&b->made, m, &is);
	for (i = 0; i < is.n && !rc; i++)
		if (!bytes_was(b, is.v[i], &is.v[i]))
			rc = bytes_differ(b, m->addr + 8 * i, "data changed");
	vec_sort(&was, order_u64);
	vec_sort(&is, order_u64);
	if (!rc && (was.n != is.n || memcmp(was.v, is.v, was.n * sizeof *was.v)))
		rc = bytes_differ(b, m->addr, "data changed");
	vec_free(&was);
	vec_free(&is);
	return rc;
}

/* ---- .relr.dyn ---- */

/* An even entry is an address; an odd one a bitmap of the 63 words after. */
static void read_relr(const struct elf_section *s, address_list *out)
{
	uint64_t i, v, at = 0;
	unsigned bit;

	for (i = 0; i + 8 <= s->size; i += 8) {
		v = get_le64(s->data + i);
		if (!(v & 1)) {
			vec_push(out, v);
			at = v + 8;
			continue;
		}
		for (bit = 1; bit < 64; bit++)
			if (v >> bit & 1)
				vec_push(out, at + 8 * (bit - 1));
		at += 8 * 63;
	}
}

int bytes_relr(struct bytes *b, const struct elf_section *o, const struct elf_section *m)
{
	address_list was = {0}, is = {0};
	const uint8_t *p, *q;
	size_t i, bad = 0;

	read_relr(o, &was);
	read_relr(m, &is);
	for (i = 0; i < was.n && i < is.n && !bad; i++) {
		p = bytes_at(&b->orig, was.v[i], 8);
		q = bytes_at(&b->made, is.v[i], 8);
		if (!p || !q || !bytes_correspond(b, was.v[i], is.v[i]) ||
		    !bytes_correspond(b, get_le64(p), get_le64(q)))
			bad = i + 1;
	}
	if (!bad && was.n != is.n)
		bad = is.n + 1;
	i = bad && bad <= is.n ? is.v[bad - 1] : m->addr;
	vec_free(&was);
	vec_free(&is);
	return bad ? bytes_differ(b, i, "a relocation changed") : 0;
}
