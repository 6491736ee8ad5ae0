#include "monitor-client/maps/share.h"
#include "common/mem.h"
#include "common/sort.h"

#include <stdlib.h>

/* What one user holds. */
struct user {
	const struct holding *next; /* those before it are taken */
	size_t cost;                /* of the rest */
};

static int holding_compare(const void *pa, const void *pb)
{
	const struct holding *a = pa, *b = pb;

	return ORDER(a->uid, b->uid) ?: ORDER(a->used, b->used);
}

static struct user *who_holds_most(struct user *u, size_t n)
{
	struct user *most = u;
	size_t i;

	for (i = 1; i < n; i++)
		if (u[i].cost > most->cost)
			most = &u[i];
	return most;
}

void share_out(
    struct holding *h, size_t n, bool (*take)(const struct holding *h, void *arg), void *arg)
{
	struct user *user = xcalloc(n + 1, sizeof *user), *u;
	size_t nuser = 0, i, half;
	bool more = true;

	qsort(h, n, sizeof *h, holding_compare);
	for (i = 0; i < n; i++) {
		if (!i || h[i].uid != h[i - 1].uid)
			user[nuser++].next = &h[i];
		user[nuser - 1].cost += h[i].cost;
	}
	while (more && (u = who_holds_most(user, nuser))->cost)
		for (half = u->cost / 2; more && u->cost > half; u->next++) {
			u->cost -= u->next->cost;
			more = take(u->next, arg);
		}
	free(user);
}
