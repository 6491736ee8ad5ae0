/*
 * The room's own: the writers of its table (out.c). Each appends the whole file, and leaves *out
 * as it was where it fails.
 */
#ifndef MORPH_REPORT_OUT_FORMATS_H
#define MORPH_REPORT_OUT_FORMATS_H

#include "morphctl/report/out/out.h"

typedef int out_writer(
    const struct recording *r, const struct out_options *o, struct buf *out, struct err *e);

out_writer write_pprof, write_folded, write_speedscope, write_firefox;
out_writer write_preaggregated, write_fdata, write_autofdo, write_autofdo_direct, write_llvm;
out_writer write_symbol_order, write_section_order, write_blocks;

/* What out_prepare() does for a format. */
typedef void out_preparer(struct recording *r, const struct out_options *o);

out_preparer prepare_llvm;

#endif
