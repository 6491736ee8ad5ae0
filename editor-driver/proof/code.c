#include "common/le.h"
#include "editor-driver/proof/image.h"

#include <string.h>

enum { FIELD = 4, JUMP_MAX = 7, TAIL_MAX = 96 };

/* ---- no-operations ---- */

/* The bytes of a ModRM operand, 0 = not all there. */
static unsigned operand(const uint8_t *p, uint64_t n)
{
	unsigned mod, rm, len = 1;

	if (!n)
		return 0;
	mod = p[0] >> 6;
	rm = p[0] & 7;
	if (mod == 3)
		return 1;
	if (rm == 4)
		len++;
	if (mod == 1)
		len++;
	if (mod == 2 || (!mod && rm == 5))
		len += 4;
	return len <= n ? len : 0;
}

unsigned bytes_nop(const uint8_t *p, uint64_t n)
{
	unsigned i = 0, k;

	if (n && p[0] == 0xcc)
		return 1;
	while (i < n && i < 12 && (p[i] == 0x66 || p[i] == 0x2e))
		i++;
	if (i < n && p[i] == 0x90)
		return i + 1;
	if (i + 2 >= n || p[i] != 0x0f || p[i + 1] != 0x1f)
		return 0;
	k = operand(p + i + 2, n - i - 2);
	return k ? i + 2 + k : 0;
}

/* The length of the run of them at p. */
static uint64_t nops(const uint8_t *p, uint64_t n)
{
	uint64_t i = 0;
	unsigned len;

	while (i < n && (len = bytes_nop(p + i, n - i)))
		i += len;
	return i;
}

/* ---- operands ---- */

struct run {
	const uint8_t *o, *m; /* bytes of both */
	uint64_t orig, made;  /* addresses */
	uint64_t no, nm;
	bool data;
};

/* The target of a pc-relative operand: code is where its own piece went. */
static bool same_target(const struct bytes *b, uint64_t orig, uint64_t made)
{
	const struct elf_section *o = bytes_section(&b->orig, orig);

	if (o && bytes_kind(o) == BYTES_CODE && orig != o->addr)
		return bytes_same_code(b, orig, made);
	return bytes_correspond(b, orig, made);
}

/* Are 4 bytes at i of the original and at k of the new build operands with corresponding targets?
 * */
static bool same_field(const struct bytes *b, const struct run *r, uint64_t i, uint64_t k)
{
	static const unsigned trailing[] = {0, 1, 2, 4}; /* bytes of an immediate after it */
	uint64_t v = get_le32(r->o + i), w = get_le32(r->m + k), from, to;
	size_t t;

	from = r->orig + i + (r->data ? 0 : FIELD) + (uint64_t)(int32_t)v;
	to = r->made + k + (r->data ? 0 : FIELD) + (uint64_t)(int32_t)w;
	for (t = 0; t < (r->data ? 1 : sizeof trailing / sizeof *trailing); t++)
		if (same_target(b, from + trailing[t], to + trailing[t]))
			return true;
	/* The offset of a thread-local symbol that is weak and nobody defines. */
	if (!r->data && b->tls && (uint32_t)(v - w) == (uint32_t)b->tls && (int32_t)w < 0)
		return true;
	return b->absolute && (bytes_correspond(b, v, w) ||
				  bytes_correspond(b, (uint64_t)(int32_t)v, (uint64_t)(int32_t)w));
}

/* Padding of one length may be filled in different ways, where the linker first fills it and then
 * moves what is around it (gold). */
static bool same_padding(const struct bytes *b, const struct run *r, uint64_t *i, uint64_t *k)
{
	enum { ALIGN = 16 };
	uint64_t back, n, at, to;

	for (back = 0; back < ALIGN && back <= *i && back <= *k; back++) {
		at = *i - back;
		to = *k - back;
		n = bytes_padding(&b->orig, r->o + at, r->no - at);
		if (n <= back || (r->orig + at + n) % ALIGN ||
		    bytes_padding(&b->made, r->m + to, r->nm - to) != n)
			continue;
		*i = at + n;
		*k = to + n;
		return true;
	}
	return false;
}

/* Advances *i and *k while both runs are equal. */
static void match(const struct bytes *b, const struct run *r, uint64_t *i, uint64_t *k)
{
	uint64_t back, free = 0; /* bytes after the last operand */

	while (*i < r->no && *k < r->nm) {
		if (r->o[*i] == r->m[*k]) {
			++*i, ++*k, ++free;
			continue;
		}
		for (back = 0; back < FIELD && back <= free; back++)
			if (*i - back + FIELD <= r->no && *k - back + FIELD <= r->nm &&
			    same_field(b, r, *i - back, *k - back))
				break;
		if (back == FIELD || back > free) {
			if (r->data || !b->orig.own_padding || !same_padding(b, r, i, k))
				return;
			free = 0;
			continue;
		}
		*i += FIELD - back;
		*k += FIELD - back;
		free = 0;
	}
}

bool bytes_same_run(
    const struct bytes *b, uint64_t orig, uint64_t made, uint64_t n, bool data, uint64_t *where)
{
	struct run r = {
	    bytes_at(&b->orig, orig, n), bytes_at(&b->made, made, n), orig, made, n, n, data};
	uint64_t i = 0, k = 0;

	*where = made;
	if (!r.o || !r.m)
		return !n;
	if (memcmp(r.o, r.m, n)) {
		match(b, &r, &i, &k);
		*where = made + k;
		return i == n;
	}
	return true;
}

/* ---- blocks of edited units ---- */

/* The direct jump of this length that ends the n bytes at p? */
static bool ends_in_jump(const uint8_t *p, uint64_t n, unsigned len)
{
	const uint8_t *j = p + n - len;

	if (n < len)
		return false;
	switch (len) {
	case 0:
		return true;
	case 2:
		return j[0] == 0xeb || (j[0] & 0xf0) == 0x70 || (j[0] & 0xfc) == 0xe0;
	case 3:
		return j[0] == 0xf2 && ends_in_jump(p, n, 2);
	case 5:
		return j[0] == 0xe9;
	case 6:
		return (j[0] == 0x0f && (j[1] & 0xf0) == 0x80) || (j[0] == 0xf2 && j[1] == 0xe9) ||
		       (j[0] == 0xff && j[1] == 0x25);
	default:
		return j[0] == 0xf2 && ends_in_jump(p, n, 6);
	}
}

/* Only direct jumps, jumps through the GOT and padding? */
static bool jumps_alone(const uint8_t *p, uint64_t n)
{
	uint64_t i = 0;
	unsigned len, nop;

	while (i < n) {
		nop = bytes_nop(p + i, n - i);
		for (len = 2; !nop && len <= JUMP_MAX; len++)
			if (len != 4 && i + len <= n && ends_in_jump(p + i, len, len))
				nop = len;
		if (!nop)
			return false;
		i += nop;
	}
	return true;
}

/* call f@PLT, and call *f@GOTPCREL(%rip) instead, of which the linker makes addr32
 * call f, or mold nop; call f, where f is in the module? */
static bool same_got_call(const struct bytes *b, const struct run *r, uint64_t *i, uint64_t *k)
{
	const uint8_t *o = r->o + *i, *m = r->m + *k;
	uint64_t stub, slot;

	if (*i + 5 > r->no || *k + 6 > r->nm || o[0] != 0xe8)
		return false;
	stub = r->orig + *i + 5 + (uint64_t)(int32_t)get_le32(o + 1);
	slot = r->made + *k + 6 + (uint64_t)(int32_t)get_le32(m + 2);
	if (m[0] == 0xff && m[1] == 0x15) {
		stub = bytes_plt_slot(&b->orig, stub);
		if (!stub || !bytes_correspond(b, stub, slot))
			return false;
	} else if ((m[0] != 0x67 && m[0] != 0x90) || m[1] != 0xe8 || !same_target(b, stub, slot)) {
		return false;
	}
	*i += 5;
	*k += 6;
	return true;
}

/* A direct jump: its length, condition (0…15, or JMP), and where it goes. */
struct jump {
	unsigned len, cond;
	uint64_t to;
};
enum { JMP = 16 };

static bool read_jump(const uint8_t *p, uint64_t n, uint64_t addr, struct jump *j)
{
	if (n >= 2 && (p[0] == 0xeb || (p[0] & 0xf0) == 0x70))
		*j = (struct jump){2, p[0] == 0xeb ? JMP : p[0] & 15u, (uint64_t)(int8_t)p[1]};
	else if (n >= 5 && p[0] == 0xe9)
		*j = (struct jump){5, JMP, (uint64_t)(int32_t)get_le32(p + 1)};
	else if (n >= 6 && p[0] == 0x0f && (p[1] & 0xf0) == 0x80)
		*j = (struct jump){6, p[1] & 15u, (uint64_t)(int32_t)get_le32(p + 2)};
	else
		return false;
	j->to += addr + j->len;
	return true;
}

/* A jump in the middle of a block (inline assembly): as long as it has to be. */
static bool same_jump(const struct bytes *b, const struct run *r, uint64_t *i, uint64_t *k)
{
	const struct bytes_piece *p;
	struct jump was, is;
	unsigned back;

	for (back = 0; back < 2 && back <= *i && back <= *k; back++) {
		if (!read_jump(r->o + *i - back, r->no - *i + back, r->orig + *i - back, &was) ||
		    !read_jump(r->m + *k - back, r->nm - *k + back, r->made + *k - back, &is) ||
		    was.cond != is.cond)
			continue;
		p = bytes_piece(b, is.to); /* the text may let it pass a block that only jumps */
		if (!bytes_same_code(b, was.to, is.to) && !(p && p->edited))
			continue;
		*i += was.len - back;
		*k += is.len - back;
		return true;
	}
	return false;
}

/* Advances as match() does; false where exceptions are handled otherwise. */
static bool match_handled(
    const struct bytes *b, const struct run *r, uint64_t *i, uint64_t *k, uint64_t *where)
{
	uint64_t from = *i, n;

	match(b, r, i, k);
	n = *i - from;
	return bytes_same_catches(b, r->orig + from, r->made + *k - n, n, where);
}

/* A call or jump that is longer now: its first byte, and the last, are handled as they were. */
static bool same_longer(
    const struct bytes *b, const struct run *r, uint64_t *i, uint64_t *k, uint64_t *where)
{
	uint64_t from = *i, to = *k;

	if (!same_got_call(b, r, i, k) && !same_jump(b, r, i, k))
		return false;
	return bytes_same_catches(b, r->orig + from, r->made + to, 1, where) &&
	       bytes_same_catches(b, r->orig + *i - 1, r->made + *k - 1, 1, where);
}

static bool same_edited(const struct bytes *b, const struct bytes_piece *p, uint64_t *where)
{
	struct run r = {bytes_at(&b->orig, p->orig, p->was), bytes_at(&b->made, p->made, p->size),
	    p->orig, p->made, p->was, p->size, false};
	uint64_t i = 0, k = 0, at;
	unsigned len;

	*where = p->made;
	if ((p->was && !r.o) || (p->size && !r.m))
		return false;
	if (!match_handled(b, &r, &i, &k, where))
		return false;
	while (i < r.no && same_longer(b, &r, &i, &k, where))
		if (!match_handled(b, &r, &i, &k, where))
			return false;
	*where = p->made + k;
	for (len = 0; len <= JUMP_MAX; len++) {
		if (len == 1 || len == 4 || !ends_in_jump(r.o, r.no, len) || r.no - len > i)
			continue;
		at = i - (r.no - len); /* bytes of the jump that were found equal */
		if (at <= k && r.nm - (k - at) <= TAIL_MAX &&
		    jumps_alone(r.m + (k - at), r.nm - (k - at)))
			return true;
	}
	/* The block's own padding, which another alignment takes or adds. */
	return nops(r.o + i, r.no - i) == r.no - i && jumps_alone(r.m + k, r.nm - k);
}

/* ---- all code ---- */

static int compare_piece(struct bytes *b, const struct bytes_piece *p)
{
	uint64_t where = p->made;
	bool same;

	if (p->edited)
		same = same_edited(b, p, &where);
	else
		same = p->size == p->was &&
		       bytes_same_run(b, p->orig, p->made, p->size, false, &where);
	if (same)
		return 0;
	return bytes_differ(b, where,
	    p->edited ? "a block's instructions changed" : "code that is not edited changed");
}

int bytes_code(struct bytes *b)
{
	size_t i;

	for (i = 0; i < b->piece.n; i++)
		if (compare_piece(b, &b->piece.v[i]))
			return -1;
	return 0;
}

/* ---- stubs that the linker made again, since their number changed ---- */

/* The length of the PLT stub at addr, 0 = another instruction. */
static uint64_t stub(const struct bytes *b, uint64_t addr, const uint8_t *p, uint64_t n)
{
	uint64_t i = 0, slot = bytes_plt_slot(&b->made, addr);
	const struct elf_section *s = bytes_section(&b->made, slot);

	if (n >= 4 && !memcmp(p, "\xf3\x0f\x1e\xfa", 4))
		i = 4;
	if (i < n && p[i] == 0xf2)
		i++;
	if (i + 6 <= n && p[i] == 0x41 && p[i + 1] == 0xbb) /* for the resolver: mold's */
		i += 6;
	if (i + 6 <= n && p[i] == 0xff && p[i + 1] == 0x25 && s && bytes_kind(s) == BYTES_GOT)
		i += 6;
	if (i + 5 <= n && p[i] == 0x68) { /* for the resolver */
		i += 5;
		if (i < n && p[i] == 0xf2)
			i++;
		i = i + 5 <= n && p[i] == 0xe9 ? i + 5 : 0;
	}
	return i > 4 ? i : 0;
}

int bytes_plt(struct bytes *b, const struct elf_section *s)
{
	uint64_t i = 0, len;

	/* The first of a lazy table pushes the module's own name; mold's the stub's number before.
	 */
	if (!strcmp(s->name, ".plt") && s->size >= 16 && s->data[0] == 0xff && s->data[1] == 0x35)
		i = 16;
	else if (!strcmp(s->name, ".plt") && s->size >= 18 &&
		 !memcmp(s->data, "\xf3\x0f\x1e\xfa\x41\x53\xff\x35", 8) &&
		 !memcmp(s->data + 12, "\xff\x25", 2))
		i = 18;
	for (; i < s->size; i += len) {
		len = bytes_nop(s->data + i, s->size - i);
		if (!len)
			len = stub(b, s->addr + i, s->data + i, s->size - i);
		if (!len)
			return bytes_differ(b, s->addr + i, "an instruction that is no PLT stub");
	}
	return 0;
}
