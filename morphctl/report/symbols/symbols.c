#include "morphctl/report/symbols/symbols.h"

void symbols_resolve(struct recording *r, const struct symbols_options *o)
{
}
