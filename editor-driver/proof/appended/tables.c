#include "editor-driver/proof/appended/comparison.h"
#include "common/le.h"
#include "common/sort.h"

/*
 * Jump tables that were made again (docs/notes/legacy.md, "Jump tables"). A use must find the
 * corresponding address in each entry that its index can have: as many as comparisons before it
 * allow (bound.c), or else up to the next address of a constant that the original's code takes; and
 * no more than lead to code, one after the other.
 */

uint64_t table_target(struct loaded *im, uint64_t table, unsigned size, uint64_t k)
{
	const uint8_t *p = loaded_at(im, table + size * k, size);

	return size == 8 ? get_le64(p) : table + (uint64_t)(int32_t)get_le32(p);
}

int table_spend(struct comparison *c, uint64_t n)
{
	if (n > c->work)
		return err_set(c->e, "too many jump tables, or too large ones");
	c->work -= n;
	return 0;
}

struct table_use *table_add_use(struct comparison *c, const struct table_use *u)
{
	uint64_t key[] = {u->load, u->made, u->orig};
	bool fresh;
	uint64_t *number = htab_put(&c->use_numbers, key, sizeof key, &fresh);

	if (fresh) {
		*number = c->use.n;
		vec_push(&c->use, *u);
	}
	return &c->use.v[*number];
}

/* One entry of both. 1: the original's leads to no code, so that the table ended before. */
static int add_entry(struct comparison *c, const struct table_use *u, uint64_t k)
{
	uint64_t to;

	if (!loaded_at(&c->orig, u->orig + u->size * k, u->size) ||
	    !loaded_is_constant(&c->orig, u->orig + u->size * k))
		return 1;
	to = table_target(&c->orig, u->orig, u->size, k);
	if (!loaded_is_code(&c->orig, to))
		return 1;
	if (table_spend(c, 1))
		return -1;
	if (!loaded_at(&c->made, u->made + u->size * k, u->size))
		return differ(c, u->jump, to, "its jump table is too short");
	walk_add(c, table_target(&c->made, u->made, u->size, k), to, SPOT_UNKNOWN);
	return 0;
}

/* Entries up to the next address that code takes. */
static uint64_t room_of(const struct comparison *c, const struct table_use *u)
{
	size_t n = partition_point(0, c->taken.n, i, c->taken.v[i] <= u->orig);

	return n < c->taken.n ? (c->taken.v[n] - u->orig) / u->size : UINT64_MAX;
}

/* All entries that can be used, as far as is known by now. */
static int compare_use(struct comparison *c, struct table_use *u)
{
	bool compared;
	uint64_t n = bound_of(c, u->load, &compared), room = room_of(c, u);
	int rc = 0;

	if (!compared && room < n)
		n = room;

	if (loaded_segment(&c->orig, u->made) || loaded_is_code(&c->orig, u->orig) ||
	    (u->size == 8 && c->orig.eh.e_type != ET_EXEC))
		return differ(c, u->jump, u->orig, "it jumps through another table");
	for (; u->entries < n && !rc; u->entries += !rc)
		rc = add_entry(c, u, u->entries);
	if (rc > 0 && !u->entries)
		return differ(c, u->jump, u->orig, "the original has no jump table there");
	return rc < 0 ? -1 : 0;
}

/* The walk finds tables, and their entries more to walk, which may lead past the comparison that
 * bounded a table. */
int tables_compare(struct comparison *c)
{
	size_t i;

	do {
		if (walk(c))
			return -1;
		for (i = 0; i < c->base.n; i++)
			if (address_follow(c, &c->base.v[i]))
				return -1;
		for (i = 0; i < c->use.n; i++)
			if (compare_use(c, &c->use.v[i]))
				return -1;
	} while (c->todo.n);
	return 0;
}
