/*
 * The privileged parent of a simulation, in place of managerd/priv/priv.c: files are the trace's
 * programs, a job is what subject_ask() says, after its CPU time has passed, and a swap makes its
 * layout the present one.
 */
#ifndef MORPH_MANAGERD_PARENT_SIM_H
#define MORPH_MANAGERD_PARENT_SIM_H

#include "managerd/priv/priv.h"
#include "managerd/simulate/subject.h"

struct parent_file { /* at subject->path */
	struct subject *subject;
	struct layout *present;
	uint64_t ino; /* grows with each other file */
	bool held;
};

struct parent_ops { /* what others want to know */
	void (*worked)(size_t file, double cpu_s, void *arg);
	void (*swapped)(size_t file, struct layout *l, void *arg);
	void *arg;
};

struct priv *parent_new(const struct parent_ops *ops);
struct parent_file *parent_add(struct priv *p, struct subject *s);
struct parent_file *parent_file(struct priv *p, size_t file);
/* Another program lies there now. */
void parent_rebuilt(struct priv *p, size_t file);
/* Seconds until a job that runs is done; INFINITY: none runs. */
double parent_next(const struct priv *p);
/* Jobs run for so long, each on a processor; the CPU seconds that they took. */
double parent_pass(struct priv *p, double seconds);

#endif
