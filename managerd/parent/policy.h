/*
 * The policy in force: read at the start, and again on SIGHUP or when somebody who may asks for it
 * (morphctl reload). A file that is wrong changes nothing. The manager reads the text that was
 * taken from a memory file, PRIV_FD_POLICY, and follows it after this process.
 */
#ifndef MORPH_PARENT_POLICY_H
#define MORPH_PARENT_POLICY_H

#include "common/err.h"
#include "managerd/conf/conf.h"

#include <stdbool.h>

struct parent;

struct policy {
	const char *path; /* of the file */
	bool given;       /* by an option: it has to be there, else there are defaults without it */
	int text;         /* for the manager; -1 = there is none yet */
	unsigned reads; /* how often it was read again: what was judged before is of another one */
};

/* Where it is to be read from now; NULL = defaults. */
const char *policy_path(const struct policy *p);
/* The users and programs of ours that this policy needs besides those that every one does. */
int policy_needs(struct parent *p, const struct conf *c, struct err *e);
/* The text in force, n = 0: defaults. */
int policy_publish(struct policy *p, const void *text, size_t n, struct err *e);
/* Reads the file again, and puts it in force: *p->conf, and the memory file. On an error all is as
 * it was. */
int policy_reload(struct parent *p, struct err *e);

/* A user of ours, who cannot log in; NULL and why. */
const struct passwd *policy_user(const char *name, const char *home, struct err *e);

#endif
