/*
 * morph-inspect: reads one file of one user and says what it is, in a bounded
 * form. The privileged parent starts it for each file that somebody else wrote,
 * as that file's owner; before it reads the first byte it can make no file, no
 * process and no connection (seccomp), and its memory, CPU time and answer are
 * bounded. Neither the parent nor the manager's event loop reads such a file.
 *
 *	morph-inspect OPERATION
 *
 *	0, 2  /dev/null        3  the file that is asked about
 *	1     the answer       4  a second one, where the operation takes one
 *
 * 1 is an empty file (a memfd); the others are open for reading. The exit status
 * is 0 where there is an answer, and a refusal is one; 2 is a wrong OPERATION.
 * The answer begins with struct inspect_head, which is written last: an answer
 * without the magic is none (a crash, or a bound that was reached). What comes
 * from there is as hostile as the file: whoever reads it checks every number.
 */
#ifndef MORPH_MANAGERD_INSPECT_H
#define MORPH_MANAGERD_INSPECT_H

#include "common/elf/buildid.h"

#include <stdint.h>

enum {
	INSPECT_ANSWER = 1, /* descriptors */
	INSPECT_FILE = 3,
	INSPECT_SECOND = 4,
	INSPECT_MAX = 256 << 20,  /* bytes of an answer, at most */
	INSPECT_MEMORY_MB = 1024, /* address space */
	INSPECT_CPU_S = 20,
	INSPECT_LIST_MAX = 16 << 20, /* bytes of a list */
	INSPECT_TEXT = 512
};

static const char INSPECT_MAGIC[8] = "MORPHI1\n";

/* The operations, by their names on the command line. */
#define INSPECT_MODULE "module" /* 3: an ELF file. Head alone */
#define INSPECT_ARTIFACT \
	"artifact"          /* 3: an artifact, 4: the module it should belong to (the \
			       original or a layout of it). Head, table, map */
#define INSPECT_PAIR "pair" /* the same, head alone */
#define INSPECT_OUTPUT \
	"output" /* 3: an artifact, 4: a build that the editor made from it. Head, map */
#define INSPECT_TABLE "table" /* 3: a replay table. Head, table */
#define INSPECT_BYTES "bytes" /* 3: a file. Head; table: its bytes as they are */
#define INSPECT_LIST "list"   /* 3: a list of functions (funclist.h). Head alone */

struct inspect_head {
	char magic[8];
	uint32_t refused;       /* 1: text says why, and nothing else is set */
	uint32_t kind;          /* of the module or output: ELF_EXEC, ELF_PIE or ELF_SHARED; others
				   are refused (common/elf/elf.h) */
	struct build_id id;     /* of the module or output, which is refused without one */
	struct build_id origin; /* from its note; = id for an original */
	struct build_id artifact; /* whose original build an artifact is for */
	/* Bytes from the start of the answer, and how many; 0, 0 = none. */
	uint64_t table_at, table_n; /* map_table_encode(), or uops_encode() for "table" */
	uint64_t map_at, map_n;     /* blockmap_encode() */
	uint64_t list;           /* hash of the names of a list, in their order; 0 = it has none */
	char text[INSPECT_TEXT]; /* "module: …" (or output), "artifact: …", "replay table: …",
				    "list: …"; ends with a NUL, and may have anything else in it */
};

#endif
