/* A program that a compiler makes of a text, in a folder of its own, for the tests of proofs. */
#ifndef MORPH_TEST_PROGRAM_H
#define MORPH_TEST_PROGRAM_H

#include "common/publish.h"
#include "common/spawn.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static char dir[64];
static struct buf program;

/* command: what compiles p.<suffix> to p, without these two. */
static void program_make(const char *source, const char *suffix, const char *command)
{
	struct err e;
	char *c, *out, *line;

	strcpy(dir, "/tmp/morph-program-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	c = xasprintf("%s/p.%s", dir, suffix);
	out = xasprintf("%s/p", dir);
	ck_assert_int_eq(publish_bytes(c, source, strlen(source), 0600, &e), 0);
	line = xasprintf("%s -o %s %s", command, out, c);
	ck_assert_int_eq(
	    spawn_run(&(struct spawn){.argv = (const char *const[]){"sh", "-ec", line, NULL}}, &e),
	    0);
	program.n = 0;
	ck_assert_int_eq(file_read(out, 0, &program, &e), 0);
	free(c);
	free(out);
	free(line);
}

static void program_remove(void)
{
	struct err e;

	buf_free(&program);
	dir_remove(dir, &e);
}

#endif
