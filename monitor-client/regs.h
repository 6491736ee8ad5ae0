/*
 * Registers on their way to the manager: of samples of wanted builds only, with
 * the first WIRE_STACK words of their stack, and of the words after those only
 * which point into code of the same build, as file offsets. Bounded: of more
 * than REGS_MAX samples in a batch a random subset is kept and the others are
 * counted. Wiped when sent or dropped.
 */
#ifndef MORPH_REGS_H
#define MORPH_REGS_H

#include "monitor-client/maps/maps.h"

enum { REGS_MAX = 8192 }; /* at most 3 MiB of a frame */

struct regs {
	struct wire_regs *v; /* REGS_MAX of them once there is one */
	uint32_t n;
	uint64_t seen; /* samples that had registers */
	uint64_t lost; /* of earlier batches, that were not sent */
};

/* What goes to the manager of a sample with registers that fell there;
 * r->module stays to be filled. */
void regs_of_sample(
    struct wire_regs *r, struct maps *m, const struct event *sample, const struct place *at);
void regs_add(struct regs *g, const struct wire_regs *r);
/* Module i is called rename[i] from now on; those of REGS_NOWHERE are dropped. */
#define REGS_NOWHERE UINT32_MAX
void regs_rename(struct regs *g, const uint32_t *rename);
/* How many are missing from what is sent now. */
uint64_t regs_unsent(const struct regs *g);
/* Wipes and empties it; sent: what was there went to the manager. */
void regs_clear(struct regs *g, bool sent);
void regs_free(struct regs *g);

#endif
