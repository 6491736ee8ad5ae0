#include "monitor-client/elsewhere.h"
#include "common/sort.h"

#include <stdlib.h>
#include <string.h>

enum { PLACE_BYTES = 64 }; /* of one, beside its name */

/* The place's index, or -1 when there is no room for it. */
static int64_t place_index(struct elsewheres *g, const struct elsewhere *at)
{
	uint32_t head[] = {at->kind, at->uid, at->pid};
	struct build_id id = at->id ? *at->id : (struct build_id){0};
	struct buf key = {0};
	uint64_t *slot;
	int64_t index = -1;

	buf_add(&key, head, sizeof head);
	buf_str(&key, at->name);
	buf_char(&key, '\0');
	buf_add(&key, id.b, id.n);
	if ((slot = htab_get(&g->places, key.p, key.n))) {
		index = (int64_t)*slot;
	} else if (room_take(&g->names, ELSEWHERE_NAMES, at->uid, PLACE_BYTES + key.n)) {
		index = (int64_t)g->place.n;
		*htab_put(&g->places, key.p, key.n, NULL) = g->place.n;
		vec_push(&g->place, (struct wire_elsewhere){.kind = at->kind,
					.uid = at->uid,
					.pid = at->pid,
					.id = id,
					.name = xstrdup(at->name)});
	}
	buf_free(&key);
	return index;
}

int64_t elsewheres_add(struct elsewheres *g, const struct elsewhere *at)
{
	int64_t place = place_index(g, at);
	uint64_t key[] = {(uint64_t)place, at->address}, *slot;

	if (place < 0)
		return -1;
	if ((slot = htab_get(&g->entries, key, sizeof key))) {
		g->entry.v[*slot].count++;
	} else if (room_take(&g->samples, ELSEWHERE_SAMPLES, at->uid, 1)) {
		*htab_put(&g->entries, key, sizeof key, NULL) = g->entry.n;
		vec_push(&g->entry, (struct elsewhere_entry){at->address, 1, (uint32_t)place});
	} else {
		return -1;
	}
	return place;
}

static int entry_compare(const void *pa, const void *pb)
{
	const struct elsewhere_entry *a = pa, *b = pb;

	return ORDER(a->place, b->place) ?: ORDER(a->address, b->address);
}

struct wire_sample *elsewheres_fill(struct elsewheres *g)
{
	struct wire_sample *sample = xcalloc(g->entry.n, sizeof *sample);
	struct wire_elsewhere *w;
	size_t i;

	htab_free(&g->entries); /* their order changes */
	vec_sort(&g->entry, entry_compare);
	for (i = 0; i < g->entry.n; i++) {
		sample[i] = (struct wire_sample){g->entry.v[i].address, g->entry.v[i].count};
		w = &g->place.v[g->entry.v[i].place];
		if (!w->nsample++)
			w->sample = &sample[i];
	}
	return sample;
}

void elsewheres_clear(struct elsewheres *g)
{
	size_t i;

	for (i = 0; i < g->place.n; i++)
		free(g->place.v[i].name);
	g->place.n = g->entry.n = 0;
	htab_free(&g->places);
	htab_free(&g->entries);
	room_free(&g->names);
	room_free(&g->samples);
}

void elsewheres_free(struct elsewheres *g)
{
	elsewheres_clear(g);
	vec_free(&g->place);
	vec_free(&g->entry);
}
