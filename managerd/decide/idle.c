#include "managerd/decide/idle.h"

#include <stddef.h>

static double grown(double now, double before)
{
	return now > before ? now - before : 0;
}

static double share_of_others(const struct idle_reading *a, const struct idle_reading *b)
{
	double total = grown(b->total_s, a->total_s);
	double used = total - grown(b->idle_s, a->idle_s) - grown(b->own_s, a->own_s);

	if (total <= 0 || used <= 0)
		return 0;
	return used < total ? used / total : 1;
}

/* Why the machine is busy, or NULL. */
static const char *busy(
    const struct idle *i, const struct idle_policy *p, const struct idle_reading *r)
{
	double allowed = 1 - p->cpu;

	if (r->battery && !p->battery_ok)
		return "running on battery";
	if (r->total_s <= 0)
		return "the kernel does not say how busy the processors are";
	if (i->busy_share > allowed)
		return "the processors are in use";
	/* Our own job's waiting is pressure, too. */
	if (r->psi > p->psi && (!r->own || i->busy_share > allowed / 2))
		return "programs wait for processors";
	return NULL;
}

enum idle_state idle_step(struct idle *i, const struct idle_policy *p, const struct idle_reading *r)
{
	const char *why;

	if (i->primed)
		i->busy_share = share_of_others(&i->last, r);
	why = busy(i, p, r);
	if (why || !i->primed)
		i->quiet_since = r->time_s;
	i->last = *r;
	i->primed = true;
	if (why) {
		i->state = IDLE_BUSY;
		i->reason = why;
	} else if (r->time_s - i->quiet_since < p->after_s) {
		i->state = IDLE_QUIET;
		i->reason = "not quiet for long enough yet";
	} else {
		i->state = IDLE_YES;
		i->reason = "idle";
	}
	return i->state;
}

double idle_wait(const struct idle *i, double after_s)
{
	return i->state == IDLE_QUIET ? after_s - (i->last.time_s - i->quiet_since) : 0;
}
