/*
 * The command line of as, read as far as the hook must know it. Pure.
 *
 * Known are the options that common/command/asopt.h has. At anything else the
 * real assembler runs unmodified.
 */
#ifndef MORPH_ASCMD_H
#define MORPH_ASCMD_H

#include "hooks/args.h"

#include <stdbool.h>

struct ascmd {
	const char *why;     /* why not to touch this command, NULL = may be hooked */
	const char *because; /* what is wrong with the option in why, NULL = why says it */
	bool silent;         /* the reason is of no interest (--version) */
	bool debug;          /* as itself was asked for line numbers (--gdwarf-5) */
	bool verbose;        /* -v */
	const char *input;   /* NULL = standard input */
	const char *output;  /* never NULL when why is NULL */
	struct args kept;    /* what shapes the object: no files, -o, -I, -v */
	struct args search;  /* -I DIR, two elements each */
};

/* arg: expanded, without argv[0]; must outlive c. */
void ascmd_read(struct ascmd *c, const struct args *arg);
void ascmd_free(struct ascmd *c);

#endif
