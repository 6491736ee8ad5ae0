/*
 * Values of the policy as people write them: durations, shares, sizes. Pure.
 */
#ifndef MORPH_MANAGERD_CONF_VALUE_H
#define MORPH_MANAGERD_CONF_VALUE_H

#include <stddef.h>

enum conf_kind {
	CONF_DURATION, /* seconds */
	CONF_SHARE,    /* 0…1 */
	CONF_NUMBER,
	CONF_COUNT,   /* whole */
	CONF_BYTES,   /* whole */
	CONF_BOOLEAN, /* 0 or 1 */
	CONF_LEVEL    /* off, observe, optimize: 0, 1, 2 */
};

/* "a duration such as 10s, 5min, 12h or 7d": what to write, for messages. */
const char *conf_value_form(enum conf_kind kind);
/* 0 and *v, or -1: not of that form. */
int conf_value_parse(enum conf_kind kind, const char *s, double *v);
/* In a form that parses to the same value; cut off at n bytes. */
void conf_value_print(enum conf_kind kind, double v, char *out, size_t n);

#endif
