/*
 * Fair turns between users: whoever was served longest ago comes first. Pure.
 */
#ifndef MORPH_MANAGERD_TURNS_H
#define MORPH_MANAGERD_TURNS_H

#include "common/hash.h"

#include <stdbool.h>
#include <stdint.h>

struct turns {
	struct htab served; /* uid -> when, by the clock of turns */
	uint64_t clock;
};

/* When this user was served last: the smaller, the sooner it is their turn. */
uint64_t turns_last(const struct turns *t, uint32_t uid);
void turns_serve(struct turns *t, uint32_t uid);
void turns_free(struct turns *t);

#endif
