/*
 * The link of an artifact done again with other objects for its TUs.
 */
#ifndef MORPH_RELINK_H
#define MORPH_RELINK_H

#include "common/artifact/artifact.h"
#include "common/command/linker.h"
#include "editor-driver/proof/verify.h"

#include <stdbool.h>

struct relinker {
	char *ld, *ar;
	enum linker linker;
	struct verify_linker proof; /* what proofs have to know of it */
	struct hash128 tools;       /* of the linker and this program */
	const char *sysroot;        /* of the original, "" = the root; lives in the artifact */
	bool unnamed;               /* without build-id, as the original was */
	bool strip;                 /* link without symbols, as the module is that is replaced */
	const char *entry; /* of a bare program: entered at RUNTIME_ENTRY, and continue there */
};

/* Finds the linker that the artifact names, which must be that one whatever links say, and ar. Free
 * in both cases. */
int relink_open(struct relinker *r, struct artifact *a, struct err *e);
void relink_close(struct relinker *r);

/*
 * Where an executable begins that the C library's start files do not begin: it
 * may run no .init_array. NULL for all other modules.
 */
const char *relink_bare_entry(struct artifact *a);

/* Objects that are linked before and after all others; NULL = none. */
struct relink_added {
	const char *first, *last;
};

/*
 * Links to out. dir (absent, made) takes the inputs; object[tu] are the objects; build_id is the
 * argument of --build-id, for what has one. Neither dir nor any other path of the job gets into
 * out.
 */
int relink_run(const struct relinker *r, struct artifact *a, const char *dir, char *const *object,
    const struct relink_added *added, const char *build_id, const char *out, struct err *e);

/*
 * What the assembly text of an added object begins with: a copy of the program's own
 * .note.gnu.property (n bytes, may be 0), without which ld would take the
 * object for one that cannot do what the others can.
 */
void relink_property(const void *property, size_t n, struct buf *out);
/* The note that names the origin (docs/FORMATS.md ".note.morph"; counting: of a counting build). */
void relink_note(const struct build_id *origin, bool counting, struct buf *out);

/* Whether code that moves goes to an order of its own, before the rest: mold has no means to, and
 * keeps it in the order that its object has. */
bool relink_sorts(const struct relinker *r);
/* Whether what is copied out of libraries lies in the order in which code refers to it first. */
bool relink_orders_copies(const struct relinker *r);

/*
 * The text of a filler in it that comes after all hot code: what follows begins
 * at `at` modulo `line`, a power of two.
 */
void relink_filler(uint32_t at, uint32_t line, struct buf *out);

#endif
