#include "morphctl/report/top/live.h"

static struct live_entry *entry_of(struct live *l, const struct recording_sample *s)
{
	uint32_t key[3] = {s->event, s->task, s->stack};
	bool fresh;
	uint64_t *at = htab_put(&l->index, key, sizeof key, &fresh);

	if (fresh) {
		*at = l->entry.n;
		vec_push(&l->entry, (struct live_entry){.last = *s});
		l->entry.v[*at].last.n = l->entry.v[*at].last.period = 0;
	}
	return &l->entry.v[*at];
}

static void add(struct live *l, const struct recording_sample *s)
{
	struct live_entry *e = entry_of(l, s);

	if (l->begun && s->n > e->last.n) {
		e->n += s->n - e->last.n;
		e->period += s->period > e->last.period ? s->period - e->last.period : 0;
	}
	e->last = *s;
}

void live_take(struct live *l, struct recording *r)
{
	struct recording_sample s;
	size_t i;

	recording_sum(r);
	for (i = 0; i < r->sample.n; i++)
		add(l, &r->sample.v[i]);
	l->begun = true;
	r->sample.n = 0;
	for (i = 0; i < l->entry.n; i++) {
		if (!l->entry.v[i].n)
			continue;
		s = l->entry.v[i].last;
		s.n = l->entry.v[i].n;
		s.period = l->entry.v[i].period;
		recording_sample(r, &s);
	}
}

void live_free(struct live *l)
{
	vec_free(&l->entry);
	htab_free(&l->index);
}
