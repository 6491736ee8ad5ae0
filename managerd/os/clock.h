/* The time of day, as the store and the API have it. */
#ifndef MORPH_MANAGERD_CLOCK_H
#define MORPH_MANAGERD_CLOCK_H

#include <stdint.h>

/* Milliseconds of CLOCK_REALTIME. */
int64_t clock_now_ms(void);

#endif
