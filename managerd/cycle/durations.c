#include "managerd/cycle/durations.h"
#include "common/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOADED = 1000 }; /* events of the store that are looked at */

static struct duration *find(const struct durations *d, uint64_t module, const char *step)
{
	size_t i;

	for (i = 0; i < d->of.n; i++)
		if (d->of.v[i].module == module && !strcmp(d->of.v[i].step, step))
			return &d->of.v[i];
	return NULL;
}

void durations_add(
    struct durations *d, uint64_t module, const char *step, double seconds, double bytes)
{
	struct duration *own = find(d, module, step), new = {module, step, seconds, bytes};

	if (own) {
		new.seconds = (own->seconds + seconds) / 2;
		memmove(own, own + 1, (size_t)(d->of.v + d->of.n - own - 1) * sizeof *own);
		d->of.n--;
	} else if (d->of.n == DURATIONS_KEPT) {
		memmove(d->of.v, d->of.v + 1, --d->of.n * sizeof *d->of.v);
	}
	vec_push(&d->of, new);
}

static int by_size(const void *a, const void *b)
{
	return ORDER(*(const double *)a, *(const double *)b);
}

double durations_expect(const struct durations *d, uint64_t module, const char *step, double bytes)
{
	const struct duration *own = find(d, module, step), *of;
	VEC(double) each = {0};
	double middle = NAN;
	size_t i;

	if (own)
		return own->seconds;
	for (i = 0; bytes > 0 && i < d->of.n; i++) {
		of = &d->of.v[i];
		if (of->bytes > 0 && !strcmp(of->step, step))
			vec_push(&each, of->seconds / of->bytes);
	}
	if (each.n) {
		qsort(each.v, each.n, sizeof *each.v, by_size);
		middle = each.v[each.n / 2] * bytes;
	}
	vec_free(&each);
	return middle;
}

double durations_bytes(struct store *s, const struct store_module *m)
{
	struct store_build *b;
	struct arena a = {0};
	double bytes = 0;
	struct err e;
	size_t i, n;

	if (!store_builds(s, m->id, NULL, &a, &b, &n, &e))
		for (i = 0; i < n; i++)
			if (build_id_equal(&b[i].id, &m->origin))
				bytes = (double)b[i].bytes;
	arena_free(&a);
	return bytes;
}

int durations_load(struct durations *d, struct store *s, const char *edit, struct err *e)
{
	struct store_event *ev;
	struct store_module *m;
	struct arena a = {0};
	size_t n, nm;
	int rc = store_events(s, 0, -1, LOADED, &a, &ev, &n, e);

	while (!rc && n--) { /* the oldest first */
		if (ev[n].kind != EVENT_SWAPPED || !isfinite(ev[n].seconds))
			continue;
		rc = store_modules(s, ev[n].module, &a, &m, &nm, e);
		if (!rc && nm)
			durations_add(d, ev[n].module, edit, ev[n].seconds, durations_bytes(s, m));
	}
	arena_free(&a);
	return rc;
}

void durations_free(struct durations *d)
{
	vec_free(&d->of);
}
