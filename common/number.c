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
