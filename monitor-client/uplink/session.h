/*
 * One run of the monitor: its greeting and its number.
 */
#ifndef MORPH_SESSION_H
#define MORPH_SESSION_H

#include "common/wire/wire.h"

/* With a fresh random session. */
struct wire_hello session_hello(enum wire_source source, uint64_t period_ns);

#endif
