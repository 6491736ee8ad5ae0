/*
 * What the parts of the room share.
 */
#ifndef MORPH_EDITOR_COUNTERS_H
#define MORPH_EDITOR_COUNTERS_H

#include "editor/asm/text.h"
#include "editor/count/count.h"

/* flags.c: per block, whether the arithmetic flags are live at its head. */
uint8_t *flags_live(const struct unit_impl *u, const struct func *f, struct arena *a);

/* threads.c: sets `entered` of the probes of every function that may be the first of the unit that
 * a thread executes. */
void entries_mark(const struct unit_impl *u, struct probes *const *probes);

/*
 * print.c: counters in the printed text of one function. Each counter is
 * printed once:
 *	incq .LMC<function>+<offset>(%rip)
 * perhaps with a lock prefix, or with %gs:, whose base is the distance of a
 * thread's own counters from there. Where flags are live, instructions around
 * it save them and keep the red zone. It is one instruction: signals lose no
 * counts. The first one of a function also refers to its record, which stays as long as the
 * function does (--gc-sections).
 */
#define COUNTER_BASE ".LMC%u"
#define COUNTED ".LMH%u"      /* the record of what is counted; function */
#define ENTRY_PASSED ".LMS%u" /* this thread was here before; function */
enum { COUNTER_BYTES = 8 };
struct probe_text {
	const struct unit_impl *u;
	const struct func *f;
	const struct probes *p; /* NULL: nothing is printed */
	uint8_t *live;
	/* Per block: number of its counter + 1 at its head, its end, its fallthrough (after a
	 * conditional jump that is not taken, or its only edge), and its taken jump. */
	uint32_t *head, *end, *on, *taken;
};
/* Where an opaque function's counter goes: the index in code[], NONE: nowhere. */
uint32_t probe_entry(const struct unit_impl *u, const struct func *f);
void probe_one(
    const struct probe_text *t, uint32_t counter, bool live, uint32_t cfi, struct buf *out);
/* Gives a thread that is new here its counters; `safe`: flags and the red zone may be live. */
void probe_enter(const struct probe_text *t, bool safe, uint32_t cfi, struct buf *out);
/* The counters themselves, and what they count (docs/FORMATS.md "Counter sections"). */
void probe_sections(
    const struct unit_impl *u, struct probes *const *probes, uint64_t tu, struct buf *out);

/* Is any function counted? */
bool any_probes(const struct unit *u, struct probes *const *probes);

#endif
