/*
 * cov >= 2200
 * Any text as a unit: read, laid out at random and as it was, and counted,
 * printed, and the print proven. A print of ours that does not pass the output check is a bug, and
 * so is another one where debug sections are not read. A listing has all that is code.
 */
#include "common/hash.h"
#include "editor/count/count.h"
#include "editor/listing/listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* probes: NULL, or what is counted. */
static void print(
    const struct unit *u, const struct unit_placement *placement, struct probes *const *probes)
{
	struct buf out = {0};
	struct err e;

	if (probes)
		unit_emit_counting(u, placement, probes, 1, &out);
	else
		unit_emit(u, placement, 1, &out);
	if (probes ? unit_check_counting(u, probes, 1, out.p, out.n, &e)
		   : unit_check(u, out.p, out.n, &e)) {
		fprintf(stderr, "%s\n", e.text);
		fwrite(out.p, 1, out.n, stderr);
		abort();
	}
	buf_free(&out);
}

static void count(struct unit *u, uint8_t how, struct arena *a)
{
	struct unit_counting counting = {.edges = how & 1, .kind = (how >> 1) % 3};
	struct unit_placement *placement = arena_array(a, u->nfunc, sizeof *placement);
	struct probes **probes = arena_array(a, u->nfunc, sizeof *probes);

	if (!unit_count(u, &counting, placement, probes, NULL))
		print(u, placement, probes);
}

static void list(const struct unit *u, uint32_t i)
{
	const struct cfg *g = &u->func[i].cfg;
	struct listing l;
	uint32_t b;

	listing_make(u, i, &l);
	for (b = 0; b < g->nblock; b++)
		if (!(g->block[b].flags & BLK_ONCE) && l.block[b].insn.n != g->block[b].insns &&
		    !u->func[i].opaque)
			abort();
	listing_free(&l);
}

static void print_without_debug(const struct unit *u, const uint8_t *p, size_t n, struct arena *a)
{
	struct buf all = {0}, code = {0};
	struct unit *unread;
	struct err e;

	unread = unit_parse_code(a, (const char *)p, n, &e);
	if (!unread)
		abort();
	unit_emit(u, NULL, 1, &all);
	unit_emit(unread, NULL, 1, &code);
	if (all.n != code.n || memcmp(all.p, code.p, all.n))
		abort();
	unit_free(unread);
	buf_free(&all);
	buf_free(&code);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct hash128 h = hash_bytes(p, n);
	struct layout_options o;
	struct unit_placement *placement;
	struct arena a = {0};
	struct unit *u;
	struct err e;
	uint32_t i;

	u = unit_parse(&a, (const char *)p, n, &e);
	if (u) {
		print(u, NULL, NULL);
		print_without_debug(u, p, n, &a);
		placement = arena_array(&a, u->nfunc, sizeof *placement);
		for (i = 0; i < u->nfunc; i++) {
			list(u, i);
			placement[i].edit = u->func[i].movable && (h.b[i % 16] & 7);
			placement[i].rank = i;
			o.split = !u->func[i].one_part;
			o.copies = h.b[15] & 1;
			layout_random(
			    &u->func[i].cfg, &o, hash_short(&h) + i, &placement[i].layout, &a);
		}
		print(u, placement, NULL);
		count(u, h.b[0], &a);
	}
	unit_free(u);
	arena_free(&a);
	return 0;
}
