#include "managerd/replay/memory.h"
#include "common/le.h"

#include <string.h>

enum { SIZE = MEMORY_LINES * MEMORY_LINE };

void memory_begin(struct memory *m, const uint8_t *stack, size_t n, uint64_t sp)
{
	m->stack = stack;
	m->n = !stack ? 0 : n < MEMORY_STACK ? n : MEMORY_STACK;
	m->low = sp - MEMORY_BELOW;
	m->own = m->touched = 0;
}

static uint64_t ones(unsigned n)
{
	return n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX;
}

static void own_line(struct memory *m, unsigned i)
{
	size_t from = (size_t)i * MEMORY_LINE - MEMORY_BELOW, n = 0;

	if (i >= MEMORY_BELOW / MEMORY_LINE && from < m->n)
		n = m->n - from < MEMORY_LINE ? m->n - from : MEMORY_LINE;
	if (n)
		memcpy(m->byte + (size_t)i * MEMORY_LINE, m->stack + from, n);
	m->known[i] = ones((unsigned)n);
	m->own |= 1u << i;
	m->touched |= 1u << i;
}

/* The lines of n bytes, at most MEMORY_LINE, at byte `at`. */
static uint32_t lines(uint64_t at, unsigned n)
{
	return 1u << at / MEMORY_LINE | 1u << (at + n - 1) / MEMORY_LINE;
}

static void own_lines(struct memory *m, uint32_t set)
{
	for (set &= ~m->own; set; set &= set - 1)
		own_line(m, (unsigned)__builtin_ctz(set));
}

/* Of n bytes, at most 8, from byte at on, which are known. */
static uint64_t known_bytes(const struct memory *m, uint64_t at, unsigned n)
{
	unsigned shift = at % 64;
	uint64_t bits = m->known[at / 64] >> shift;

	if (shift + n > 64)
		bits |= m->known[at / 64 + 1] << (64 - shift);
	return bits & ones(n);
}

static void set_known_bytes(struct memory *m, uint64_t at, unsigned n, uint64_t bits)
{
	unsigned shift = at % 64;
	uint64_t *word = &m->known[at / 64];

	word[0] = (word[0] & ~(ones(n) << shift)) | bits << shift;
	if (shift + n > 64)
		word[1] = (word[1] & ~(ones(n) >> (64 - shift))) | bits >> (64 - shift);
}

struct tnum memory_load(struct memory *m, uint64_t address, unsigned size)
{
	uint64_t at = address - m->low;
	unsigned n = 1u << size;

	if (at >= SIZE || SIZE - at < n)
		return unknown(size);
	if (m->own & lines(at, n)) {
		own_lines(m, lines(at, n));
		return known_bytes(m, at, n) == ones(n) ? known(get_le(m->byte + at, size))
							: unknown(size);
	}
	if (at < MEMORY_BELOW || at - MEMORY_BELOW + n > m->n)
		return unknown(size);
	return known(get_le(m->stack + (at - MEMORY_BELOW), size));
}

static void put_bytes(uint8_t *p, unsigned size, uint64_t v)
{
	switch (size) {
	case 0:
		*p = (uint8_t)v;
		break;
	case 1:
		put_le16(p, (uint16_t)v);
		break;
	case 2:
		put_le32(p, (uint32_t)v);
		break;
	default:
		put_le64(p, v);
	}
}

/* The bytes of which all bits are known. */
static uint64_t sure_bytes(struct tnum v, unsigned n)
{
	uint64_t sure = 0;
	unsigned i;

	for (i = 0; i < n; i++)
		sure |= (uint64_t) !(v.m >> 8 * i & 0xff) << i;
	return sure;
}

void memory_store(struct memory *m, uint64_t address, unsigned size, struct tnum v)
{
	uint64_t at = address - m->low;
	unsigned n = 1u << size;

	if (at >= SIZE || SIZE - at < n) {
		memory_lose(m, address, n);
		return;
	}
	own_lines(m, lines(at, n));
	set_known_bytes(m, at, n, v.m ? sure_bytes(v, n) : ones(n));
	put_bytes(m->byte + at, size, v.v);
}

/* Some of the bytes may lie beyond. */
void memory_lose(struct memory *m, uint64_t address, unsigned n)
{
	uint64_t at = address - m->low;

	for (; n; at++, n--)
		if (at < SIZE) {
			own_lines(m, lines(at, 1));
			set_known_bytes(m, at, 1, 0);
		}
}

void memory_forget(struct memory *m)
{
	m->n = 0;
	m->own = 0;
}

void memory_wipe(struct memory *m)
{
	for (; m->touched; m->touched &= m->touched - 1)
		explicit_bzero(m->byte + __builtin_ctz(m->touched) * MEMORY_LINE, MEMORY_LINE);
}
