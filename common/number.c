#include "common/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *number_text(double v, char out[NUMBER_TEXT])
{
	char plain[NUMBER_TEXT], *p = out;
	const char *s = plain;
	size_t digits;

	if (!(fabs(v) < 1e15)) {
		snprintf(out, NUMBER_TEXT, "%.3g", v);
		return out;
	}
	snprintf(plain, sizeof plain, "%.0f", v);
	if (*s == '-')
		*p++ = *s++;
	for (digits = strlen(s); digits > 0; digits--) {
		*p++ = *s++;
		if (digits > 1 && digits % 3 == 1)
			*p++ = ',';
	}
	*p = 0;
	return out;
}

static double percent(double share)
{
	return fabs(share) < 0.0005 ? 0 : 100 * share;
}

const char *number_range(double v, double low, double high, char out[NUMBER_RANGE])
{
	snprintf(
	    out, NUMBER_RANGE, "%.1f %% (%.1f … %.1f)", percent(v), percent(low), percent(high));
	return out;
}

const char *number_span(double s, char out[NUMBER_TEXT])
{
	static const struct {
		double s;
		const char *unit;
	} u[] = {{86400, "d"}, {3600, "h"}, {60, "min"}};
	size_t i;

	for (i = 0; i < 3 && s < 2 * u[i].s; i++)
		;
	snprintf(out, NUMBER_TEXT, "%.3g %s", i < 3 ? s / u[i].s : s, i < 3 ? u[i].unit : "s");
	return out;
}
