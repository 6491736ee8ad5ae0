/*
 * The command line of morph-monitor, and where things are by default.
 */
#ifndef MORPH_OPTIONS_H
#define MORPH_OPTIONS_H

#include "common/mem.h"
#include "monitor-client/kernel/source.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_REFUSED = 77, /* the kernel denies perf events (EX_NOPERM) */
};

struct options {
	struct source_options source;
	char *socket, *spool;
	uint64_t spool_max;          /* bytes */
	uint64_t flush;              /* ns */
	const char *record, *replay; /* NULL = not asked for */
	char **command;              /* NULL-terminated, or NULL */
	VEC(pid_t) pid;              /* processes that run already */
	bool no_registers;           /* whatever the manager wants */
	bool verbose;
};

/* Exits with status 0 after --help and --version, EXIT_USAGE when the line
 * makes no sense. */
void options_read(struct options *o, int argc, char **argv);
void options_free(struct options *o);

#endif
