/*
 * A trace lived through, with time as fast as it goes. The manager is the real one, from the
 * socket of its monitors to the store; injected are the clock (managerd/simulate/simtime.h), the
 * machine (machine.h) and the privileged parent with the editor behind it (parent.h).
 */
#ifndef MORPH_MANAGERD_SIMULATE_H
#define MORPH_MANAGERD_SIMULATE_H

#include "managerd/conf/conf.h"
#include "managerd/simulate/contest.h"
#include "managerd/simulate/trace.h"

struct simulated_decision { /* of the manager, when it is another one than before */
	int64_t at_ms;
	const char *program;
	char rung[16], text[256]; /* "climbed": to be laid out */
};

struct simulated {
	struct contest *contest; /* to free */
	double days;
	uint64_t samples;
	VEC(struct simulated_decision) decision;
};

/* conf: the policy, of which it takes what a simulation can go by. editor: path of morph-edit. */
int simulate(
    struct trace *t, struct conf *conf, const char *editor, struct simulated *out, struct err *e);
void simulated_free(struct simulated *s);

#endif
