/*
 * What all parts of the manager work with: the policy, the parent, the store and the
 * modules, in one loop. There is one way to run a transaction:
 *
 *	rc = core_end(c, core_begin(c, &e) || store_…() || module_…(), &e);
 *
 * When it fails, everything that is in memory is what is in the store again. Pointers to
 * modules die with that: who goes on gets its module by the id, or the path.
 */
#ifndef MORPH_MANAGERD_CORE_H
#define MORPH_MANAGERD_CORE_H

#include "managerd/cycle/cycle.h"
#include "managerd/decide/turns.h"
#include "managerd/modules/modules.h"
#include "managerd/os/clock.h"
#include "managerd/priv/priv.h"

struct core {
	const struct conf *conf;
	struct priv *priv;
	const char *home;
	bool user;
	uid_t uid; /* it works as, and in user mode for */
	uv_loop_t *loop;
	uv_timer_t soon; /* the next turn, after what has arrived; data: the manager */
	uv_timer_cb turn;
	bool stopping;
	struct store *store;
	struct modules modules;
	int64_t trouble_until_ms; /* the store failed */
	bool checkpointing;       /* the store, in the pool */
};

/* Opens the store. Whatever comes of it, core_close(). */
int core_open(struct core *c, struct err *e);
void core_close(struct core *c);

int core_begin(struct core *c, struct err *e);
/* Commits when rc is 0; else e says why not, and is logged. 0 or -1. */
int core_end(struct core *c, int rc, struct err *e);

/* Whether the policy has a layout made of what is there, with its artifact. */
bool core_may_lay_out(const struct core *c, const struct store_module *row);
/* A turn after this one. */
void core_soon(struct core *c);
/* No work for this module before the next cycle. */
void core_later(const struct core *c, struct schedule *s);
/* Whether it is a's turn rather than b's: that of the user who was served longest
 * ago, and of theirs the busiest. */
bool core_sooner(const struct turns *t, const struct store_module *a, const struct store_module *b);

#endif
