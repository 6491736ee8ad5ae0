#include "morphctl/report/show/rows.h"
#include "morphctl/text/words.h"

#include <string.h>

const char *rows_function(struct arena *a, const struct recording *r, uint32_t function)
{
	return function == RECORDING_NONE ? "[unknown]"
					  : words_clean(a, r->function.v[function].name);
}

const char *rows_file(struct arena *a, const struct recording *r, uint32_t file)
{
	const struct recording_file *f;

	if (file == RECORDING_NONE)
		return "-";
	f = &r->file.v[file];
	if (f->kind == RECORDING_ANON)
		return arena_printf(
		    a, "%s of process %u", *f->path ? words_clean(a, f->path) : "[memory]", f->pid);
	return words_clean(a, f->path);
}

const char *rows_amount(struct arena *a, const char *unit, double v)
{
	return strcmp(unit, "ns") == 0 ? arena_printf(a, "%.2f s", v / 1e9) : words_number(a, v);
}
