#include "common/le.h"
#include "editor-driver/proof/image.h"

#include <string.h>

enum { WORD = 8, HALF = 4, TABLE_MAX = 64 << 10 };

/* A table of distances from its beginning: where, in both builds. */
struct table {
	uint64_t orig, made, next; /* next: the original's address after its last entry */
};

static bool same_word(const struct bytes *b, const uint8_t *o, const uint8_t *m)
{
	return bytes_correspond(b, get_le64(o), get_le64(m));
}

/* Is the 4-byte distance at orig and made one from the table's begin `back` bytes
 * before to the same code? */
static bool same_entry(
    const struct bytes *b, uint64_t orig, uint64_t made, uint64_t back, uint64_t v, uint64_t w)
{
	return bytes_same_code(b, orig - back + v, made - back + w);
}

/* Searches the base of a jump table by its first entry that differs; the entries after it share it.
 * */
static bool same_distance(const struct bytes *b, uint64_t orig, uint64_t made, const uint8_t *o,
    const uint8_t *m, uint64_t room, struct table *t)
{
	uint64_t v = (uint64_t)(int32_t)get_le32(o), w = (uint64_t)(int32_t)get_le32(m), back;

	if (t->next && orig - t->next < TABLE_MAX &&
	    same_entry(b, orig, made, orig - t->orig, v, w)) {
		t->next = orig + HALF;
		return true;
	}
	if (bytes_correspond(b, orig + v, made + w)) {
		*t = (struct table){orig, made, orig + HALF};
		return true;
	}
	for (back = HALF; back <= room && back <= TABLE_MAX; back += HALF)
		if (same_entry(b, orig, made, back, v, w)) {
			*t = (struct table){orig - back, made - back, orig + HALF};
			return true;
		}
	return b->absolute && bytes_correspond(b, get_le32(o), get_le32(m));
}

/* The relocated bytes at i, the first that differ: how many are explained, from
 * *from on. */
static unsigned explained(const struct bytes *b, const struct elf_section *o,
    const struct elf_section *m, uint64_t i, uint64_t last, uint64_t *from, struct table *t)
{
	uint64_t n = o->size, at;
	unsigned back;

	at = i - (o->addr + i) % WORD; /* as nearly all words lie */
	if (at <= i && at >= last && at + WORD <= n && same_word(b, o->data + at, m->data + at))
		return *from = at, WORD;
	at = i - (o->addr + i) % HALF;
	if (at <= i && at >= last && at + HALF <= n &&
	    same_distance(b, o->addr + at, m->addr + at, o->data + at, m->data + at, at, t))
		return *from = at, HALF;
	for (back = 0; back < WORD && back + last <= i; back++) {
		at = i - back;
		if (at + WORD <= n && same_word(b, o->data + at, m->data + at))
			return *from = at, WORD;
		if (back < HALF && at + HALF <= n &&
		    bytes_correspond(b, o->addr + at + (uint64_t)(int32_t)get_le32(o->data + at),
			m->addr + at + (uint64_t)(int32_t)get_le32(m->data + at)))
			return *from = at, HALF;
	}
	return 0;
}

int bytes_data(struct bytes *b, const struct elf_section *o, const struct elf_section *m)
{
	uint64_t i = 0, last = 0, from;
	struct table t = {0};
	unsigned n;

	if (!memcmp(o->data, m->data, o->size))
		return 0;
	while (i < o->size) {
		if (o->data[i] == m->data[i]) {
			i++;
			continue;
		}
		n = explained(b, o, m, i, last, &from, &t);
		if (!n)
			return bytes_differ(b, m->addr + i, "data changed");
		i = last = from + n;
	}
	return 0;
}
