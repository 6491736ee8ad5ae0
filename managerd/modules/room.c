#include "common/log.h"
#include "managerd/modules/module.h"

#include <stdlib.h>

/* Who has so many times what another has gives up layouts and holds to make room for
 * that one: a user may have an edit of each module made, or fail. */
enum { GO_AT_ONCE = 32, USERS_TOLD = 1024, GREEDY = 4 };

struct share {
	uint32_t uid;
	size_t n;
};

static int by_uid(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Who has most modules, and how many `mine` has. */
static struct share largest(const struct modules *ms, uint32_t mine, size_t *nmine)
{
	uint32_t *uid = xcalloc(ms->module.n, sizeof *uid);
	struct share most = {0};
	size_t i, from = 0;

	for (i = 0; i < ms->module.n; i++)
		uid[i] = ms->module.v[i]->row.uid;
	qsort(uid, ms->module.n, sizeof *uid, by_uid);
	*nmine = 0;
	for (i = 0; i < ms->module.n; i++) {
		if (uid[i] != uid[from])
			from = i;
		if (i - from + 1 > most.n)
			most = (struct share){uid[i], i - from + 1};
		*nmine += uid[i] == mine;
	}
	free(uid);
	return most;
}

static bool has_past(const struct module *m)
{
	return m->row.layout_ms || m->row.held_why;
}

/* What would be missed least comes first. */
static int least_missed(const void *a, const void *b)
{
	const struct module *x = *(struct module *const *)a, *y = *(struct module *const *)b;

	if (has_past(x) != has_past(y))
		return has_past(x) ? 1 : -1;
	if (!x->row.layout_ms != !y->row.layout_ms)
		return x->row.layout_ms ? 1 : -1;
	if (!x->row.artifact != !y->row.artifact)
		return x->row.artifact ? 1 : -1;
	return x->row.last_ms < y->row.last_ms ? -1 : x->row.last_ms > y->row.last_ms;
}

/* Forgets some modules of a user; all: also such as have a layout or are held. */
static int forget_some(struct modules *ms, uint32_t uid, bool all, struct err *e)
{
	VEC(struct module *) v = {0};
	struct module *m;
	size_t i;
	int rc = 0;

	for (i = 0; i < ms->module.n; i++) {
		m = ms->module.v[i];
		if (m->row.uid == uid && (all || !has_past(m)) && !m->memory.touched &&
		    m->row.id != ms->working)
			vec_push(&v, m);
	}
	if (v.n)
		qsort(v.v, v.n, sizeof *v.v, least_missed);
	for (i = 0; rc == 0 && i < v.n && i < GO_AT_ONCE; i++) {
		rc = store_drop_module(ms->store, v.v[i]->row.id, e);
		if (rc == 0)
			v.v[i]->row.id = 0;
	}
	vec_free(&v);
	modules_pack(ms);
	return rc;
}

static void say_crowded(struct modules *ms, uint32_t uid)
{
	bool fresh;

	if (ms->crowded.n >= USERS_TOLD)
		htab_free(&ms->crowded);
	htab_put(&ms->crowded, &uid, sizeof uid, &fresh);
	if (fresh)
		log_warn("uid %u: more modules than the %d there is room for; samples of further"
			 " ones count as outside",
		    (unsigned)uid, MODULES_MAX);
}

int modules_room(struct modules *ms, uint32_t uid, struct err *e)
{
	struct share most;
	size_t mine;

	if (ms->module.n < MODULES_MAX)
		return 1;
	most = largest(ms, uid, &mine);
	/* Nobody makes room for a user who has as many. */
	if (forget_some(ms, mine + 1 < most.n ? most.uid : uid, GREEDY * (mine + 1) < most.n, e))
		return -1;
	if (ms->module.n < MODULES_MAX)
		return 1;
	say_crowded(ms, uid);
	return 0;
}
