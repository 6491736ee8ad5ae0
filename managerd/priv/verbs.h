/*
 * The verbs: what the manager may ask its privileged parent for. Each is one row of one
 * table, by which both sides encode, decode and check; so is each end of a task. A form
 * has a letter for each field of a message, in their order:
 *
 *	p  path, plain and absolute		t  task
 *	l  path, which may be ""		n  number
 *	w  why, "" = for no reason		f  flag
 *	a  path of an artifact			b  bytes, or microseconds
 *	r  why it must not be swapped		u  uid
 *	i  build-id				s  stamp of a file
 *	o  build-id of the origin,		m  where in the blob that comes with it a
 *	   or of what comes of it		   function table and a block map lie
 *	k  kept builds				h  hash of a list of functions, 0 = none
 */
#ifndef MORPH_MANAGERD_VERBS_H
#define MORPH_MANAGERD_VERBS_H

#include "managerd/priv/frame.h"
#include "managerd/priv/priv.h"

/* V(verb, handler do_… of the parent, request, answer, descriptors at most) */
#define VERBS(V) \
	/* answered at once; status 1: a task that does not run, no more of them */ \
	V(STAMP, stamp, "p", "s", 0) \
	V(CPU, cpu, "t", "b", 0) \
	V(SIGNAL, signal, "tn", "", 0) \
	V(DROP, drop, "t", "", 0) \
	V(DONE, done, "p", "", 0) \
	V(RECOVERED, recovered, "n", "piofn", 0) \
	V(KEPT, kept, "p", "k", 0) \
	V(HOLD, hold, "pf", "", 0) \
	V(HELD, held, "p", "f", 0) \
	/* begin a task; job: kind, module, edit, what it is; output, errors, samples, shapes */ \
	V(INSPECT, inspect, "pion", "t", 0) \
	V(JOB, job, "nltio", "t", FRAME_FDS) \
	V(SWAP, swap, "t", "t", 0) \
	V(ROLLBACK, rollback, "pi", "t", 0) \
	V(FETCH, fetch, "p", "t", 0) \
	/* begins one that nobody asks about: enum priv_event; text */ \
	V(NOTIFY, notify, "pnw", "", 0) \
	/* at once: the policy; path of its file */ \
	V(RELOAD, reload, "", "l", 0)

enum frame_verb {
	FRAME_NONE,
#define V(verb, handler, request, answer, fds) FRAME_##verb,
	VERBS(V)
#undef V
	    FRAME_VERBS
};

/* Ends of tasks, with 0 or 1 descriptor: of the blob. */
enum frame_event {
	FRAME_INSPECTED = FRAME_VERBS, /* number: enum priv_inspect */
	FRAME_ENDED,                   /* flag: later; number: as of waitpid(2); amount: CPU time */
	FRAME_SWAPPED                  /* number: enum swap_status */
};

enum { MESSAGE_TABLE, MESSAGE_MAP, MESSAGE_PARTS };
struct message {
	const char *path, *why, *artifact, *refused; /* read: never NULL */
	uint64_t task, amount, list;
	uint32_t number, uid;
	bool flag;
	struct build_id id, origin;
	struct priv_stamp stamp;
	struct part {
		uint64_t at, n;
	} part[MESSAGE_PARTS];
	const struct swap_kept *kept; /* at most KEPT_MAX */
	size_t nkept;
};
enum { KEPT_MAX = 500 };

struct verb {
	const char *request, *answer; /* forms */
	unsigned fds;                 /* descriptors of a request, at most */
};
/* NULL = no such verb. */
const struct verb *verb_row(uint32_t verb);
const char *event_form(enum frame_event event);

void message_put(struct buf *b, const char *form, const struct message *m);
/* All that is left of in, which has to be of this form: else false. Strings and lists go to
 * in->mem. What a field says is not checked. */
bool message_get(struct frame_in *in, const char *form, struct message *m);

#endif
