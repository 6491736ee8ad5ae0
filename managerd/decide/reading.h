/*
 * What the kernel says of the machine: /proc/stat, /proc/pressure/cpu, /sys/class/power_supply. A
 * file that cannot be read counts as "the kernel does not say".
 */
#ifndef MORPH_MANAGERD_READING_H
#define MORPH_MANAGERD_READING_H

#include "managerd/decide/idle.h"

struct reading { /* zero-filled at first */
	bool battery;
	double battery_at; /* when it was asked */
};

/* A reading as of now, but for what is ours of it. */
void reading_take(struct reading *m, struct idle_reading *r);

/* ---- parsers, for tests ---- */
/* The "cpu" line of /proc/stat, in seconds. 0 or -1. */
int reading_parse_stat(const char *text, double ticks_per_s, double *total, double *idle);
/* avg10 of the "some" line of a PSI file, as a share 0…1. 0 or -1. */
int reading_parse_psi(const char *text, double *share);
/* On battery: a battery discharges and no mains is on line. Reads the folder
 * (/sys/class/power_supply). */
bool reading_battery(const char *folder);

#endif
