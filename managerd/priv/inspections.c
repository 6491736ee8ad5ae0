#include "managerd/priv/inspections.h"
#include "common/log.h"
#include "managerd/decide/turns.h"

#include <stdlib.h>
#include <uv.h>

struct entry {
	struct inspection q; /* its path is the entry's own */
	struct inspections *of;
	uint64_t task; /* 0 = it waits … */
	bool refused;  /* … for inspections_turn() */
};

struct inspections {
	struct priv *priv;
	inspections_fn *fn;
	void *arg;
	VEC(struct entry *) entry; /* in the order they were asked for */
	struct htab by_path;       /* -> entry, 0 = none any more */
	struct htab all, busy;     /* uid -> how many there are, and are under way */
	struct turns turns;
	size_t running; /* or what they said is worked on */
};

static void start(struct inspections *l);

struct inspections *inspections_new(struct priv *p, inspections_fn *fn, void *arg)
{
	struct inspections *l = xcalloc(1, sizeof *l);

	*l = (struct inspections){.priv = p, .fn = fn, .arg = arg};
	return l;
}

static void entry_free(struct entry *x)
{
	free((char *)x->q.path);
	free(x);
}

void inspections_free(struct inspections *l)
{
	size_t i;

	if (!l)
		return;
	for (i = 0; i < l->entry.n; i++) {
		if (l->entry.v[i]->task)
			priv_drop(l->priv, l->entry.v[i]->task);
		entry_free(l->entry.v[i]);
	}
	vec_free(&l->entry);
	htab_free(&l->by_path);
	htab_free(&l->all);
	htab_free(&l->busy);
	turns_free(&l->turns);
	free(l);
}

static uint64_t *of_user(struct htab *t, uint32_t uid)
{
	return htab_put(t, &uid, sizeof uid, NULL);
}

/* Takes it out of the lists. */
static void take_out(struct inspections *l, struct entry *x)
{
	size_t i, n = 0;

	for (i = 0; i < l->entry.n; i++)
		if (l->entry.v[i] != x)
			l->entry.v[n++] = l->entry.v[i];
	l->entry.n = n;
	--*of_user(&l->all, x->q.uid);
	*htab_put_str(&l->by_path, x->q.path, NULL) = 0;
	if (!n || l->by_path.n > 2 * INSPECTIONS_MAX) { /* it has many of which there are none */
		htab_free(&l->by_path);
		for (i = 0; i < n; i++)
			*htab_put_str(&l->by_path, l->entry.v[i]->q.path, NULL) =
			    (uintptr_t)l->entry.v[i];
	}
	if (!n)
		htab_free(&l->all);
}

static void inspected(const struct priv_inspected *r, void *arg)
{
	struct entry *x = arg;
	struct inspections *l = x->of;

	take_out(l, x);
	if (!l->fn(l->arg, &x->q, r))
		inspections_done(l, x->q.uid);
	entry_free(x);
}

void inspections_done(struct inspections *l, uint32_t uid)
{
	--*of_user(&l->busy, uid);
	if (!--l->running)
		htab_free(&l->busy);
	start(l);
}

/* The first one of the user who was served longest ago and has room. */
static struct entry *next(struct inspections *l)
{
	struct entry *x, *best = NULL;
	uint64_t last, at = 0;
	size_t i;

	for (i = 0; i < l->entry.n; i++) {
		x = l->entry.v[i];
		last = x->task ? 0 : turns_last(&l->turns, x->q.uid);
		if (x->task || x->refused || (best && last >= at) ||
		    *of_user(&l->busy, x->q.uid) >= INSPECTIONS_AT_ONCE_OF_USER)
			continue;
		best = x;
		at = last;
	}
	return best;
}

static void start(struct inspections *l)
{
	struct entry *x;
	struct err e;

	while (l->running < INSPECTIONS_AT_ONCE && (x = next(l))) {
		turns_serve(&l->turns, x->q.uid);
		x->q.begun_ns = uv_hrtime();
		x->task = priv_inspect(l->priv, x->q.path, x->q.hint,
		    (x->q.shallow ? PRIV_SHALLOW : 0) | (x->q.judge ? PRIV_JUDGE : 0), inspected, x,
		    &e);
		if (x->task) {
			l->running++;
			++*of_user(&l->busy, x->q.uid);
			continue;
		}
		log_warn("%s: not inspected: %s", x->q.path, e.text);
		x->refused = true;
	}
}

static struct entry *first_refused(const struct inspections *l)
{
	size_t i;

	for (i = 0; i < l->entry.n; i++)
		if (l->entry.v[i]->refused)
			return l->entry.v[i];
	return NULL;
}

void inspections_turn(struct inspections *l)
{
	static const struct priv_inspected later = {.status = PRIV_LATER,
	    .why = "the privileged parent has too much to do",
	    .artifact = "",
	    .refused = ""};
	struct entry *x;

	while ((x = first_refused(l))) {
		take_out(l, x);
		x->q.nasked = 0; /* nothing is known of those */
		l->fn(l->arg, &x->q, &later);
		entry_free(x);
	}
}

static void add_asked(struct inspection *to, const struct inspection *q)
{
	size_t i, k;

	for (i = 0; i < q->nasked; i++) {
		for (k = 0; k < to->nasked; k++)
			if (build_id_equal(&to->asked[k], &q->asked[i]))
				break;
		if (k == to->nasked && k < INSPECTIONS_ASKED_MAX)
			to->asked[to->nasked++] = q->asked[i];
	}
	to->awaited |= q->awaited;
}

bool inspections_ask(struct inspections *l, const struct inspection *q)
{
	uint64_t *at = htab_get_str(&l->by_path, q->path);
	struct entry *x;

	if (at && *at) {
		x = (struct entry *)(uintptr_t)*at;
		add_asked(&x->q, q);
		/* A full one with a judgement, where it is not too late for that. */
		x->q.shallow &= x->task || q->shallow;
		x->q.judge |= !x->task && q->judge;
		x->refused = false;
		start(l);
		return true;
	}
	if (l->entry.n >= INSPECTIONS_MAX || *of_user(&l->all, q->uid) >= INSPECTIONS_MAX_OF_USER)
		return false;
	x = xcalloc(1, sizeof *x);
	*x = (struct entry){.q = *q, .of = l};
	x->q.path = xstrdup(q->path);
	vec_push(&l->entry, x);
	++*of_user(&l->all, q->uid);
	*htab_put_str(&l->by_path, q->path, NULL) = (uintptr_t)x;
	start(l);
	return true;
}

size_t inspections_awaited(const struct inspections *l)
{
	size_t i, n = 0;

	for (i = 0; i < l->entry.n; i++)
		n += l->entry.v[i]->q.awaited && !l->entry.v[i]->refused;
	return n;
}
