/* What the manager decided and what became of modules. */
#include "managerd/store/sql.h"

#include <stdio.h>

enum { DECISIONS_KEPT = 200, EVENTS_KEPT = 5000 }; /* of a module */

/* ---- decisions ---- */

static struct store_decision decision_of(sqlite3_stmt *st, struct arena *a)
{
	return (struct store_decision){.module = (uint64_t)sqlite3_column_int64(st, 1),
	    .path = sql_text_of(st, 2, a),
	    .first_ms = sqlite3_column_int64(st, 3),
	    .last_ms = sqlite3_column_int64(st, 4),
	    .times = (uint64_t)sqlite3_column_int64(st, 5),
	    .verdict = sqlite3_column_int(st, 6),
	    .rung = sqlite3_column_int(st, 7),
	    .text = sql_text_of(st, 8, a)};
}

/* An unchanged outcome of the ladder goes on in its row. */
static int put_decision_row(
    struct store *s, uint64_t module, int64_t at_ms, const struct decision *d, struct err *e)
{
	sqlite3_stmt *st = sql_bind(s, LAST_DECISION, e, "i", module);
	int64_t id;
	int rc = sql_run(s, st, e);
	bool same;

	if (rc < 0)
		return -1;
	if (rc == 1) {
		id = sqlite3_column_int64(st, 0);
		same = d->verdict == VERDICT_WAIT && sqlite3_column_int(st, 6) == (int)d->verdict &&
		       sqlite3_column_int(st, 7) == (int)d->rung;
		sqlite3_reset(st);
		if (same)
			return sql_run(
			    s, sql_bind(s, REPEAT_DECISION, e, "iti", at_ms, d->text, id), e);
	}
	if (sql_run(s,
		sql_bind(s, NEW_DECISION, e, "iiiit", module, at_ms, (int64_t)d->verdict,
		    (int64_t)d->rung, d->text),
		e))
		return -1;
	return sql_run(
	    s, sql_bind(s, PRUNE_DECISIONS, e, "ii", module, (int64_t)DECISIONS_KEPT), e);
}

int store_put_decision(
    struct store *s, uint64_t module, int64_t at_ms, const struct decision *d, struct err *e)
{
	const struct rung_step *p;
	int i;

	if (put_decision_row(s, module, at_ms, d, e))
		return -1;
	for (i = 1; i < RUNG_COUNT; i++) {
		p = &d->step[i];
		if (sql_run(s,
			sql_bind(s, PUT_RUNG, e, "iiiiddt", module, (int64_t)i, (int64_t)p->outcome,
			    (int64_t)p->numbers, p->value, p->limit, p->text),
			e))
			return -1;
	}
	return 0;
}

int store_decisions(struct store *s, uint64_t module, int64_t uid, size_t limit, struct arena *a,
    struct store_decision **out, size_t *n, struct err *e)
{
	sqlite3_stmt *st = sql_bind(s, GET_DECISIONS, e, "iii", module, uid, (int64_t)limit);
	VEC(struct store_decision) v = {0};
	int rc;

	while ((rc = sql_run(s, st, e)) == 1)
		vec_push(&v, decision_of(st, a));
	*n = v.n;
	*out = arena_copy(a, v.v, v.n, sizeof **out);
	vec_free(&v);
	return rc;
}

int store_last_decision(
    struct store *s, uint64_t module, struct arena *a, struct store_decision *out, struct err *e)
{
	sqlite3_stmt *st = sql_bind(s, LAST_DECISION, e, "i", module);
	struct rung_step *p;
	const char *text;
	int rc = sql_run(s, st, e), i;

	if (rc != 1)
		return rc;
	*out = decision_of(st, a);
	sqlite3_reset(st);
	out->step = arena_array(a, RUNG_COUNT, sizeof *out->step);
	st = sql_bind(s, GET_RUNGS, e, "i", module);
	while ((rc = sql_run(s, st, e)) == 1) {
		i = sqlite3_column_int(st, 0);
		if (i <= 0 || i >= RUNG_COUNT)
			continue;
		p = &out->step[i];
		p->outcome = (enum outcome)sqlite3_column_int(st, 1);
		p->numbers = sqlite3_column_int(st, 2);
		p->value = sqlite3_column_double(st, 3);
		p->limit = sqlite3_column_double(st, 4);
		text = (const char *)sqlite3_column_text(st, 5);
		snprintf(p->text, sizeof p->text, "%s", text ? text : "");
	}
	return rc ? -1 : 1;
}

/* ---- history ---- */

const char *event_name(enum event_kind k)
{
	static const char *const name[EVENT_KINDS] = {
	    "learned", "swapped", "rolled-back", "failed", "recovered", "replaced", "measured"};

	return (unsigned)k < EVENT_KINDS ? name[k] : "unknown";
}

int store_put_event(struct store *s, const struct store_event *v, struct err *e)
{
	if (sql_run(s,
		sql_bind(s, PUT_EVENT, e, "iiizzitdddii", v->module, v->at_ms, (int64_t)v->kind,
		    &v->from, &v->to, v->change, v->text ? v->text : "", v->samples, v->gain,
		    v->seconds, v->size_before, v->size_after),
		e))
		return -1;
	return sql_run(s, sql_bind(s, PRUNE_EVENTS, e, "ii", v->module, (int64_t)EVENTS_KEPT), e);
}

int store_events(struct store *s, uint64_t module, int64_t uid, size_t limit, struct arena *a,
    struct store_event **out, size_t *n, struct err *e)
{
	sqlite3_stmt *st = sql_bind(s, GET_EVENTS, e, "iii", module, uid, (int64_t)limit);
	VEC(struct store_event) v = {0};
	int rc;

	while ((rc = sql_run(s, st, e)) == 1)
		vec_push(&v, (struct store_event){.module = (uint64_t)sqlite3_column_int64(st, 0),
				 .path = sql_text_of(st, 1, a),
				 .at_ms = sqlite3_column_int64(st, 2),
				 .kind = sqlite3_column_int(st, 3),
				 .from = sql_id_of(st, 4),
				 .to = sql_id_of(st, 5),
				 .change = (uint64_t)sqlite3_column_int64(st, 6),
				 .text = sql_text_of(st, 7, a),
				 .samples = sql_real_of(st, 8),
				 .gain = sql_real_of(st, 9),
				 .seconds = sql_real_of(st, 10),
				 .size_before = (uint64_t)sqlite3_column_int64(st, 11),
				 .size_after = (uint64_t)sqlite3_column_int64(st, 12),
				 .uid = (uint32_t)sqlite3_column_int64(st, 13)});
	*n = v.n;
	*out = arena_copy(a, v.v, v.n, sizeof **out);
	vec_free(&v);
	return rc;
}

int store_count_events(struct store *s, uint64_t module, int64_t uid, enum event_kind kind,
    int64_t since_ms, uint64_t *n, struct err *e)
{
	sqlite3_stmt *st =
	    sql_bind(s, COUNT_EVENTS, e, "iiii", module, (int64_t)kind, since_ms, uid);
	int rc = sql_run(s, st, e);

	if (rc != 1)
		return -1;
	*n = (uint64_t)sqlite3_column_int64(st, 0);
	sqlite3_reset(st);
	return 0;
}
