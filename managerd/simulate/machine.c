#include "managerd/simulate/machine.h"
#include "managerd/decide/reading.h"
#include "managerd/simulate/simtime.h"

#include <math.h>
#include <stddef.h>

struct machine machine;
struct simtime simtime;

static double own_s; /* of all jobs so far */

void reading_take(struct reading *m, struct idle_reading *r)
{
	*r = (struct idle_reading){.time_s = (double)simtime.mono_ns / 1e9,
	    .total_s = machine.total_s,
	    .idle_s = machine.idle_s,
	    .psi = machine.psi,
	    .battery = machine.battery};
}

void machine_pass(double seconds, double own)
{
	double used = machine.busy * machine.processors * seconds + own;

	machine.total_s += machine.processors * seconds;
	machine.idle_s += fmax(0, machine.processors * seconds - used);
	own_s += own;
}

void machine_look(const struct idle_policy *p)
{
	struct idle_reading r;

	reading_take(NULL, &r);
	r.own_s = own_s;
	idle_step(&machine.idle, p, &r);
}
