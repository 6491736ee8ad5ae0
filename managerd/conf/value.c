#include "managerd/conf/value.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	double s;
} unit[] = {{"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}, {"ms", 0.001}};
enum { NUNIT = sizeof unit / sizeof *unit };

static const struct {
	const char *name;
	double bytes;
} size_unit[] = {{"T", 1099511627776.}, {"G", 1073741824}, {"M", 1048576}, {"K", 1024}, {"", 1}};
enum { NSIZE_UNIT = sizeof size_unit / sizeof *size_unit };

static const char *const level[] = {"off", "observe", "optimize"};
enum { NLEVEL = sizeof level / sizeof *level };

const char *conf_value_form(enum conf_kind kind)
{
	static const char *const form[] = {
	    [CONF_DURATION] = "a duration such as 10s, 5min, 12h or 7d",
	    [CONF_SHARE] = "a share such as 0.1 or 10%",
	    [CONF_NUMBER] = "a number",
	    [CONF_COUNT] = "a whole number",
	    [CONF_BYTES] = "a size such as 512M or 2G, or 0 for no limit",
	    [CONF_BOOLEAN] = "yes or no",
	    [CONF_LEVEL] = "off, observe or optimize",
	};

	return form[kind];
}

static int parse_number(const char *s, const char **rest, double *v)
{
	char *end;

	if (!isdigit((unsigned char)*s))
		return -1;
	for (*rest = s; isdigit((unsigned char)**rest) || **rest == '.' || **rest == 'e'; ++*rest)
		;
	*v = strtod(s, &end);
	if (end > *rest || !isfinite(*v))
		return -1;
	*rest = end;
	return 0;
}

int conf_value_parse(enum conf_kind kind, const char *s, double *v)
{
	const char *rest;
	size_t i;

	if (kind == CONF_BOOLEAN) {
		*v = !strcmp(s, "yes") || !strcmp(s, "true");
		return *v || !strcmp(s, "no") || !strcmp(s, "false") ? 0 : -1;
	}
	if (kind == CONF_LEVEL) {
		for (i = 0; i < NLEVEL && strcmp(s, level[i]); i++)
			;
		*v = (double)i;
		return i < NLEVEL ? 0 : -1;
	}
	if (parse_number(s, &rest, v))
		return -1;
	while (*rest == ' ')
		rest++;
	if (kind == CONF_SHARE && !strcmp(rest, "%")) {
		*v /= 100;
		return 0;
	}
	if (kind == CONF_DURATION) {
		for (i = 0; i < NUNIT; i++)
			if (!strcmp(rest, unit[i].name)) {
				/* To the ns: 2.2h is 132min, not a part of a ms more. */
				*v = round(*v * unit[i].s * 1e9) / 1e9;
				return 0;
			}
		return *v == 0 && !*rest ? 0 : -1;
	}
	if (kind == CONF_BYTES) {
		for (i = 0; i < NSIZE_UNIT; i++)
			if (!strcmp(rest, size_unit[i].name)) {
				*v = floor(*v * size_unit[i].bytes);
				return 0;
			}
		return -1;
	}
	return *rest || (kind == CONF_COUNT && *v != floor(*v)) ? -1 : 0;
}

void conf_value_print(enum conf_kind kind, double v, char *out, size_t n)
{
	size_t i;

	switch (kind) {
	case CONF_BOOLEAN:
		snprintf(out, n, "%s", v ? "yes" : "no");
		return;
	case CONF_LEVEL:
		snprintf(out, n, "%s", level[(size_t)v]);
		return;
	case CONF_SHARE:
		snprintf(out, n, "%.15g%%", 100 * v);
		if (strtod(out, NULL) / 100 != v)
			snprintf(out, n, "%.17g", v);
		return;
	case CONF_NUMBER:
	case CONF_COUNT:
		snprintf(out, n, "%.15g", v);
		return;
	case CONF_BYTES:
		for (i = 0; i < NSIZE_UNIT - 1 &&
			    (v == 0 || v / size_unit[i].bytes != floor(v / size_unit[i].bytes));
		     i++)
			;
		snprintf(out, n, "%.15g%s", v / size_unit[i].bytes, size_unit[i].name);
		return;
	case CONF_DURATION:
		break;
	}
	for (i = 0; i < NUNIT - 1 && (v == 0 ? i < 3 : v / unit[i].s != floor(v / unit[i].s)); i++)
		;
	snprintf(
	    out, n, "%.15g%s", i == NUNIT - 1 ? v / unit[i].s : floor(v / unit[i].s), unit[i].name);
}
