/*
 * The options of GNU as that an object may be made again with: those that
 * compilers give for code they made themselves and that neither read or write
 * a file, nor print, nor change what a label costs. An allow-list of exact
 * spellings, used by the hook when it records a unit and by the editor before
 * it assembles one. Pure. Source: as's manual and --help of binutils 2.40.
 */
#ifndef MORPH_ASOPT_H
#define MORPH_ASOPT_H

#include "common/err.h"

#include <stddef.h>

enum asopt {
	ASOPT_KEEP,    /* repeated as it is */
	ASOPT_DEBUG,   /* the same: as makes line numbers (--gdwarf-5) */
	ASOPT_INQUIRY, /* as only prints something */
	ASOPT_REFUSED  /* everything else */
};

/* One argument; none of the table takes the next one as its operand. */
enum asopt asopt_kind(const char *arg);

/* Are these arguments ('\n' between, "" = none) repeated ones all? The error
 * names the one that is not. */
int asopt_check(const char *as_args, struct err *e);

/*
 * Does the text that as is to read name no other file? Refused are .incbin and
 * .include in any spelling that as takes, and what could put such a word
 * together: .macro, .irp, .irpc, their other names, .altmacro, .mri, and a comment
 * that begins within a word. They are let pass where as cannot take them for
 * directives: within a name ("opts.include"), and, where no line before leaves a
 * string or comment open, in a line that is one string directive with one string
 * and in a comment line without quotes. The error names the line.
 */
int as_text_check(const char *text, size_t n, struct err *e);

#endif
