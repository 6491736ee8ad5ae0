/*
 * Lists of CPUs as sysfs writes them: "0-3,8,10-11".
 */
#ifndef MORPH_CPUS_H
#define MORPH_CPUS_H

#include "common/err.h"
#include "common/mem.h"

#include <stdbool.h>
#include <stddef.h>

enum { CPUS_MAX = 8192 }; /* the kernel's own bound */

typedef VEC(unsigned) cpu_list;

/* Parses into an empty list, ascending. -1 when it is not of that form. */
int cpus_parse(const char *text, cpu_list *list);
/* A file of /sys/devices/system/cpu ("online", "nohz_full"); an absent one is
 * an empty list. */
int cpus_read(const char *name, cpu_list *list, struct err *e);
bool cpus_has(const cpu_list *list, unsigned cpu);

#endif
