/* How code is called in tables. Strings come from the arena, fit for a terminal. */
#ifndef MORPH_REPORT_ROWS_H
#define MORPH_REPORT_ROWS_H

#include "common/mem.h"
#include "morphctl/report/recording/recording.h"

/* "[unknown]" where it is. */
const char *rows_function(struct arena *a, const struct recording *r, uint32_t function);
/* The path of a file, "[JIT] of 1234", "-". */
const char *rows_file(struct arena *a, const struct recording *r, uint32_t file);
/* A sum of periods: "1.25 s" of ns, else a number. */
const char *rows_amount(struct arena *a, const char *unit, double v);

#endif
