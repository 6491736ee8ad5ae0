/* What people asked for: changes that wait, are made, or were made lately. */
#ifndef MORPH_MANAGERD_CHANGES_H
#define MORPH_MANAGERD_CHANGES_H

#include "managerd/cycle/cycle.h"
#include "managerd/decide/turns.h"
#include "managerd/modules/modules.h"

struct change_entry {
	struct change c; /* path and text on the heap */
	bool force;
	VEC(uint64_t) todo;             /* modules still to come */
	unsigned done, refused, failed; /* of those that were many */
	uint64_t lifted;                /* the last module that was to be lifted for it */
	struct changes *of;
};

struct changes {
	VEC(struct change_entry *) entry;
	uint64_t last; /* id */
	struct turns turns;
	void (*ready)(void *arg, uint64_t id); /* the listener, or NULL */
	void *arg;
};

struct change_entry *change_add(struct changes *cs, enum change_kind kind, uint64_t module,
    const char *path, uint32_t uid, bool force);
/* NULL = there is none of this id. */
const struct change_entry *change_get(const struct changes *cs, uint64_t id);
/* The one whose turn it is of those that are not ready and do not wait for an
 * inspection or a lift; NULL = none. */
struct change_entry *change_next(struct changes *cs, const struct modules *ms);
/* How many that were asked for before this one are not ready. */
unsigned change_ahead(const struct changes *cs, uint64_t id);
/* The module that it comes to next, 0 = none. */
uint64_t change_module(const struct change_entry *c);
/* The one whose next module this is, or NULL. */
struct change_entry *change_waits_for(struct changes *cs, uint64_t module);
/* One that is not ready and concerns this module (0: all of this user's), or NULL. */
struct change_entry *change_of_module(struct changes *cs, uint64_t module, uint32_t uid);
/* c may be NULL, here and below: nobody asked. */
void change_step(struct change_entry *c, const char *step);
/* Between two steps, while another module is worked on. */
void change_waits(struct change_entry *c);
/* The end of one module of a change; the last one makes it ready. */
void change_ended(struct change_entry *c, enum change_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
uint64_t change_id(const struct change_entry *c);
void changes_free(struct changes *cs);

#endif
