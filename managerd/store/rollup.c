/* What becomes of addresses after their batches. */
#include "managerd/store/periods.h"

enum {
	DAY_S = 86400,
	BATCHES_DUE = 8,
	BATCH_BYTES_DUE = 64 << 10,
	BATCHES_DUE_MS = 30000,
	IDLE_MS = 60000,
	/* In a turn: */
	FILES_AT_ONCE = 16,
	ROWS_AT_ONCE = 64,
	THINNED_AT_ONCE = 16
};

static bool batches_due(const struct store *s, int64_t now_ms)
{
	const struct addresses_known *k = &s->addresses;

	return k->batches &&
	       (k->settling || k->batches >= BATCHES_DUE || k->batch_bytes >= BATCH_BYTES_DUE ||
		   now_ms - k->since_ms >= BATCHES_DUE_MS || now_ms < k->since_ms);
}

bool store_addresses_due(struct store *s, const struct address_policy *p, int64_t now_ms)
{
	const struct addresses_known *k = &s->addresses;

	/* Files of batches have no periods yet: while there are batches none is dropped. */
	return !k->loaded || batches_due(s, now_ms) ||
	       (!k->batches && (now_ms >= k->idle_ms || k->idle_ms - now_ms > IDLE_MS));
}

static int64_t oldest_s(const struct address_policy *p, int64_t now_ms)
{
	return p->days ? now_ms / 1000 - (int64_t)p->days * DAY_S : INT64_MAX;
}

typedef VEC(struct period) period_list;

/* Rows of a span that begin before a time, oldest first. */
static int oldest(
    struct store *s, size_t span, int64_t before_s, int64_t limit, period_list *out, struct err *e)
{
	const int64_t span_s = period_span[span].span_s;
	sqlite3_stmt *st = sql_bind(s, OLDEST_ADDRESSES, e, "iii", span_s, before_s, limit);
	int rc;

	while ((rc = sql_run(s, st, e)) == 1)
		vec_push(out, (struct period){.span_s = span_s,
				  .begin_s = sqlite3_column_int64(st, 0),
				  .file = (uint64_t)sqlite3_column_int64(st, 1),
				  .id = sqlite3_column_int64(st, 2),
				  .bytes = (uint64_t)sqlite3_column_int64(st, 3)});
	return rc;
}

/* Drops periods that are over for longer than the policy says. 1: some were, … */
static int age_out(struct store *s, const struct address_policy *p, int64_t now_ms, struct err *e)
{
	int64_t until = oldest_s(p, now_ms);
	period_list old = {0};
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < PERIOD_SPANS; i++)
		rc = oldest(s, i, p->days ? until - period_span[i].span_s + 1 : until, ROWS_AT_ONCE,
		    &old, e);
	for (i = 0; rc == 0 && i < old.n; i++)
		rc = period_drop(s, &old.v[i], e);
	rc = rc ? -1 : old.n > 0;
	vec_free(&old);
	return rc;
}

/* A file's periods within a longer one become that. */
static int join(struct store *s, size_t span, int64_t begin_s, uint64_t file, struct err *e)
{
	const int64_t span_s = period_span[span].span_s, parent_s = period_span[span + 1].span_s;
	struct period to = {
	    .span_s = parent_s, .begin_s = period_begin(begin_s, parent_s), .file = file};
	struct period one = {.span_s = span_s, .begin_s = to.begin_s, .file = file};
	struct arena mem = {0};
	period_list from = {0};
	size_t i;
	int rc = 0;

	for (; rc >= 0 && one.begin_s < to.begin_s + parent_s; one.begin_s += span_s) {
		struct period p = one;

		rc = period_get(s, &p, &mem, e);
		if (rc == 1)
			vec_push(&from, p);
	}
	rc = rc < 0 ? -1 : from.n ? period_add(s, &to, from.v, from.n, e) : 0;
	for (i = 0; rc == 0 && i < from.n; i++)
		rc = period_drop(s, &from.v[i], e);
	vec_free(&from);
	arena_free(&mem);
	return rc;
}

/* Makes longer periods of those that are old enough. */
static int roll_up(struct store *s, size_t span, int64_t now_ms, struct err *e)
{
	int64_t before =
	    period_begin(now_ms / 1000 - period_span[span].keep_s, period_span[span + 1].span_s);
	period_list old = {0};
	size_t i;
	int rc = oldest(s, span, before, FILES_AT_ONCE, &old, e);

	for (i = 0; rc == 0 && i < old.n; i++)
		rc = join(s, span, old.v[i].begin_s, old.v[i].file, e);
	rc = rc ? -1 : old.n > 0;
	vec_free(&old);
	return rc;
}

/* ---- room ---- */

static uint32_t greatest_user(const struct store *s)
{
	const struct addresses_known *k = &s->addresses;
	struct addresses_used most = {0};
	size_t i;

	for (i = 0; i < k->used.n; i++)
		if (k->used.v[i].bytes > most.bytes)
			most = k->used.v[i];
	return most.uid;
}

/* Of the oldest period of a user, those that take most. */
static int rows_of(struct store *s, uint32_t uid, period_list *out, struct err *e)
{
	sqlite3_stmt *st;
	size_t i;
	int rc = 0;

	for (i = PERIOD_SPANS; rc == 0 && i && !out->n; i--) {
		st = sql_bind(s, USERS_ADDRESSES, e, "iii", period_span[i - 1].span_s, (int64_t)uid,
		    (int64_t)THINNED_AT_ONCE);
		while ((rc = sql_run(s, st, e)) == 1)
			vec_push(out, (struct period){.span_s = period_span[i - 1].span_s,
					  .id = sqlite3_column_int64(st, 0),
					  .begin_s = sqlite3_column_int64(st, 1),
					  .file = (uint64_t)sqlite3_column_int64(st, 2),
					  .bytes = (uint64_t)sqlite3_column_int64(st, 3)});
	}
	return rc;
}

static int give_way(struct store *s, const struct address_policy *p, struct err *e)
{
	period_list rows = {0};
	size_t i;
	int rc;

	if (s->addresses.bytes <= p->bytes)
		return 0;
	rc = rows_of(s, greatest_user(s), &rows, e);
	for (i = 0; rc == 0 && i < rows.n && s->addresses.bytes > p->bytes; i++)
		rc = period_thin(s, &rows.v[i], e);
	rc = rc ? -1 : rows.n > 0;
	vec_free(&rows);
	return rc;
}

int store_addresses_turn(
    struct store *s, const struct address_policy *p, int64_t now_ms, struct err *e)
{
	size_t i;
	int rc;

	if (addresses_load(s, e))
		return -1;
	s->addresses.settling = batches_due(s, now_ms);
	if (s->addresses.settling)
		return batches_settle(s, oldest_s(p, now_ms), e) ? -1 : 1;
	if (s->addresses.batches)
		return 0;
	rc = age_out(s, p, now_ms, e);
	for (i = 0; rc == 0 && i + 1 < PERIOD_SPANS; i++)
		rc = roll_up(s, i, now_ms, e);
	if (rc == 0)
		rc = give_way(s, p, e);
	if (rc == 0)
		s->addresses.idle_ms = now_ms + IDLE_MS;
	return rc;
}
