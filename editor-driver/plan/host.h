/*
 * The CPU of this machine, for which programs are laid out: what some passes gain and cost differs
 * between CPUs (docs/DESIGN.md, "Layout").
 */
#ifndef MORPH_HOST_H
#define MORPH_HOST_H

#include "editor/layout/layout.h"

/* Of an unknown CPU: nothing. Never NULL, static. */
const struct layout_cpu *host_cpu(void);

#endif
