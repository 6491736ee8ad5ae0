/* The hooks' log of the person (common/hooklog.h) for the page. */
#ifndef MORPH_WEB_HOOKSLOG_H
#define MORPH_WEB_HOOKSLOG_H

#include "common/mem.h"

enum { HOOKSLOG_LINES = 2000 };

/* The newest HOOKSLOG_LINES lines, newest first, in the manager's envelope. Lines that are none of
 * the log, and files that are not there, are passed over. */
void hookslog_print(struct buf *out);

#endif
