/* What came of a simulation, for people and as JSON. */
#ifndef MORPH_MANAGERD_REPORT_SIM_H
#define MORPH_MANAGERD_REPORT_SIM_H

#include "managerd/simulate/simulate.h"

#include <jansson.h>

void report_text(const struct trace *t, const struct simulated *s, bool decisions);
json_t *report_json(const struct trace *t, const struct simulated *s);

#endif
