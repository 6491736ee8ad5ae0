/*
 * How a command ends, and what it says when it does not end well.
 */
#ifndef MORPH_MORPHCTL_COMPLAIN_H
#define MORPH_MORPHCTL_COMPLAIN_H

/* Exit codes, as morphctl(1) documents them. */
enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_NOT_RUNNING = 3,
	EXIT_NOT_FOUND = 4,
	EXIT_REFUSED = 5
};

/* One line on standard error, "morphctl: …". Returns code. */
int complain(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
