/*
 * A profile as text, one line per fact:
 *
 *	function block value            executions or samples of a block
 *	function block > block2 value   of the replayed executions of block, so many
 *	                                went on to block2 (a branch outcome); with
 *	                                executions, all that did
 *	function block < block2 value   of the replayed executions of block, so many
 *	                                came from block2; not with executions
 *	function block @ callee value   so many of the calls from block that were
 *	                                sampled, or counted, went to the function
 *	                                callee
 *
 * `function` and `callee` are a name, or name#KEY with KEY the first 8…32 hex
 * digits of the function key; a name alone will do where all functions of that
 * name in the artifact have one key. `block` is the block id. `value` is a
 * whole number with executions, and may have up to 3 fraction digits with
 * samples. Lines of one fact add up. Empty lines and lines that begin with "# "
 * say nothing.
 */
#ifndef MORPH_PROFILETEXT_H
#define MORPH_PROFILETEXT_H

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum counts_form {
	COUNTS_EXECUTIONS, /* whole numbers */
	COUNTS_SAMPLES     /* in thousandths */
};

/* The greatest number of executions or samples in a line. */
#define PROFILETEXT_VALUE_MAX ((uint64_t)1 << 44)
/* Bytes of a line, at most, without names and without a callee's key. */
enum { PROFILETEXT_REST_MAX = 80 };

struct profiletext_name {
	const char *p, *key; /* key = NULL: none given */
	size_t n, nkey;
};

enum profiletext_kind {
	PROFILETEXT_BLOCK = 0,
	PROFILETEXT_EDGE = '>',
	PROFILETEXT_PREDECESSOR = '<',
	PROFILETEXT_CALL = '@'
};

struct profiletext_line {
	enum profiletext_kind kind;
	struct profiletext_name func, callee; /* callee: of a call */
	uint32_t block, block2;               /* block2: of edges */
	uint64_t value;
};

/* name#KEY, with all of the key; hex must live as long as the result. */
struct profiletext_name profiletext_name(
    const char *name, const struct hash128 *key, char hex[HASH_HEX]);
/* Reads name#KEY up to a blank, and returns what follows; a '#' that no key follows belongs to the
 * name. */
const char *profiletext_read_name(const char *p, const char *end, struct profiletext_name *name);
void profiletext_write(struct buf *out, enum counts_form form, const struct profiletext_line *l);

struct profiletext_reader {
	enum counts_form form;
	const char *p, *end; /* what is left; names of lines read point into it */
	size_t line;         /* number of the last one */
};

/* The next line that says something: 1; 0 at the end; -1 and what is wrong with the line. */
int profiletext_read(struct profiletext_reader *r, struct profiletext_line *l, struct err *e);

#endif
