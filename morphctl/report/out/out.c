#include "morphctl/report/out/out.h"

const char *out_format_name(unsigned i, const char **summary)
{
	return NULL;
}

bool out_needs_symbols(const char *format)
{
	return false;
}

int out_write(const struct recording *r, const char *format, const struct out_options *o,
    struct buf *out, struct err *e)
{
	return err_set(e, "%s: no such format", format);
}
