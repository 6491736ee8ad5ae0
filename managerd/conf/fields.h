/*
 * What conf.c (reading) and print.c share.
 */
#ifndef MORPH_MANAGERD_CONF_PARTS_H
#define MORPH_MANAGERD_CONF_PARTS_H

#include "managerd/conf/conf.h"
#include "managerd/conf/value.h"

struct conf_field {
	enum conf_key id;
	const char *section, *key; /* section NULL: at the top */
	enum conf_kind kind;
	size_t at; /* in struct conf */
	double standard, min, max;
};

/* All scalar keys, one each, in the order of conf_print(). */
enum { NFIELD = CONF_FETCH_SERVERS };
extern const struct conf_field conf_field[NFIELD];
/* By enum conf_action. */
extern const char *const conf_action_name[3];

#endif
