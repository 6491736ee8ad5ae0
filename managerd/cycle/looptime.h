/* How long the loop works at a time; only what is out of the ordinary is said. */
#ifndef MORPH_MANAGERD_LOOPTIME_H
#define MORPH_MANAGERD_LOOPTIME_H

#include <stdint.h>
#include <uv.h>

struct looptime {
	uv_prepare_t turn;
	uint64_t at_ns, idle_ns, cpu_ns, longest_ns, longest_cpu_ns;
};

void looptime_start(struct looptime *t, uv_loop_t *loop);
void looptime_stop(struct looptime *t);

#endif
