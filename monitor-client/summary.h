/*
 * What the monitor says at its end of a command, or of processes that it was attached to: how many
 * samples there were and of what, where they went, and what to do next.
 */
#ifndef MORPH_SUMMARY_H
#define MORPH_SUMMARY_H

#include "monitor-client/batch.h"

struct summary_module {
	struct build_id id;
	char *path;
	uint64_t samples;
};

struct summary { /* zero-filled = empty */
	VEC(struct summary_module) module;
	struct htab index; /* index + 1, by path and build-id */
	uint64_t taken, kernel, outside, dropped;
};

/* A sample that has found its place in the batch. */
void summary_place(struct summary *s, const struct place *at);
/* What a batch holds, before it is sent off. */
void summary_batch(struct summary *s, const struct batch *b);

struct summary_end {
	uint64_t period; /* CPU time of a sample, ns */
	bool parses;     /* files may be read: they are of programs that this user ran */
	const char *socket;
	const char *spool;  /* NULL = there is none */
	const char *record; /* NULL = to the manager */
};

/* arrived: the manager took all, or the file. */
void summary_say(const struct summary *s, const struct summary_end *end, bool arrived);
void summary_free(struct summary *s);

#endif
