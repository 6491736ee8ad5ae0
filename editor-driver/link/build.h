/*
 * From a plan to a file: objects, the proof that the link can be repeated, the
 * link. The job's folder holds
 *
 *	same/N.o     TU N, nothing moved       repeat/   inputs of the repeated link
 *	edited/N.o   TU N as planned           link/     inputs of the new link
 *	unchanged    the original, repeated    again/    and of another one, where the
 *	out          the new build                       first did not keep places
 */
#ifndef MORPH_BUILD_H
#define MORPH_BUILD_H

#include "editor-driver/link/cache.h"
#include "editor-driver/link/objects.h"
#include "editor-driver/plan/plan.h"
#include "editor-driver/link/relink.h"

/* The new build, in the job's folder. */
#define BUILD_OUT "out"

struct build {
	struct plan *plan;
	const char *dir;
	struct cache *cache;
	struct objects objects;
	struct relinker relinker;
	const char *original;     /* the build that is replaced, NULL = not given */
	char *module;             /* without it: where it lies if it is still there */
	char *unchanged, *out;    /* paths */
	struct cache_key proof;   /* of the link of this very artifact by these tools */
	bool proven;              /* unchanged is there */
	char **same, **final;     /* by TU: the objects of both links */
	size_t assembled, cached; /* objects of the new link */
};

/* Where the module of an artifact NAME.morph lies, links followed: NAME; to free.
 * NULL for any other name. */
char *build_module(const char *artifact);
/*
 * Bound of each file that the artifact refers to, and of all texts and objects of it together: 64
 * MiB, 64 times the packed artifact, and twice the original (NULL or absent: none), whose data may
 * be of any size. Of sparse files the allocated bytes count.
 */
uint64_t build_room(const char *artifact, const char *original);

/* Reads the original, and looks up the proof of an earlier edit. Close in both cases. */
int build_open(struct build *b, struct plan *plan, const char *artifact, const char *original,
    const char *dir, struct cache *cache, struct err *e);
void build_close(struct build *b);

/* Makes or fetches every object that the links will need. */
int build_objects(struct build *b, struct err *e);
/* The first edit of an artifact: links unchanged objects, and fails when the result differs from
 * the original. Where the original is given it is compared each time: a change after the link must
 * not get lost. */
int build_prove(struct build *b, struct err *e);
/* Links the new build, and again where code that is not edited lost its offset
 * (editor-driver/plan/shift.h). */
int build_link(struct build *b, struct err *e);

#endif
