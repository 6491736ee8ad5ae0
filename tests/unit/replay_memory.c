/* The stack's top against every byte of it kept apart. */
#include "managerd/replay/memory.h"
#include "tests/unit/unit.h"

#include <string.h>

enum { SP = 0x7000, LOW = SP - MEMORY_BELOW, BYTES = MEMORY_BELOW + MEMORY_STACK };

static struct memory m;
static uint8_t stack[MEMORY_STACK];
static struct { /* at LOW and above */
	uint8_t byte;
	bool known;
} all[BYTES];
static uint64_t state = 88172645463325252;

static uint64_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static void begin(size_t n)
{
	size_t i;

	for (i = 0; i < sizeof stack; i++)
		stack[i] = (uint8_t)rnd();
	memset(all, 0, sizeof all);
	for (i = 0; i < n; i++) {
		all[MEMORY_BELOW + i].byte = stack[i];
		all[MEMORY_BELOW + i].known = true;
	}
	memory_begin(&m, stack, n, SP);
}

static void same_load(uint64_t address, unsigned size)
{
	struct tnum r = memory_load(&m, address, size);
	uint64_t v = 0, i, at = address - LOW;
	bool sure = true;

	for (i = 0; i < 1u << size; i++) {
		sure &= at + i < BYTES && all[at + i].known;
		v |= sure ? (uint64_t)all[at + i].byte << 8 * i : 0;
	}
	ck_assert_uint_eq(r.m, sure ? 0 : mask(size));
	ck_assert_uint_eq(r.v, sure ? v : 0);
}

static void store(uint64_t address, unsigned size)
{
	uint64_t at = address - LOW, i, unsure = rnd() % 3 ? 0 : rnd() & rnd() & rnd() & rnd();
	struct tnum v = cut((struct tnum){rnd() & ~unsure, unsure}, size);
	bool whole = at < BYTES && BYTES - at >= 1u << size;

	memory_store(&m, address, size, v);
	for (i = 0; i < 1u << size; i++)
		if (at + i < BYTES) {
			all[at + i].byte = (uint8_t)(v.v >> 8 * i);
			all[at + i].known = whole && !(v.m >> 8 * i & 0xff);
		}
}

static void lose(uint64_t address, unsigned n)
{
	uint64_t at = address - LOW, i;

	memory_lose(&m, address, n);
	for (i = 0; i < n; i++)
		if (at + i < BYTES)
			all[at + i].known = false;
}

START_TEST(every_byte_by_itself)
{
	unsigned k, size;
	uint64_t address;

	for (k = 0; k < 20000; k++) {
		if (k % 100 == 0)
			begin(rnd() % 3 ? rnd() % (MEMORY_STACK + 1) : MEMORY_STACK);
		address = LOW - 16 + rnd() % (rnd() & 1 ? 200 : BYTES + 32);
		size = rnd() % 4;
		if (rnd() % 3 == 0)
			store(address, size);
		else if (rnd() % 40 == 0)
			lose(address, 64);
		else
			same_load(address, size);
	}
}
END_TEST

START_TEST(what_is_forgotten_may_be_written_again)
{
	begin(MEMORY_STACK);
	store(SP, 3);
	memory_forget(&m);
	memset(all, 0, sizeof all);
	same_load(SP, 3);
	same_load(SP + 256, 3);
	store(SP + 8, 2);
	same_load(SP + 8, 2);
	same_load(SP + 8, 3);
}
END_TEST

START_TEST(no_copy_is_left)
{
	static const uint8_t zero[sizeof m.byte];

	memset(m.byte, 0, sizeof m.byte);
	begin(MEMORY_STACK);
	store(SP, 3);
	store(SP + 300, 3);
	memory_forget(&m);
	store(SP - 8, 3);
	ck_assert_mem_ne(m.byte, zero, sizeof zero);
	memory_wipe(&m);
	ck_assert_mem_eq(m.byte, zero, sizeof zero);
}
END_TEST

UNIT_MAIN("replay_memory", 0, NULL, NULL, every_byte_by_itself,
    what_is_forgotten_may_be_written_again, no_copy_is_left)
