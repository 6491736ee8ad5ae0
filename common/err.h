/*
 * The one way to report an error: a function that can fail returns -1 (or
 * NULL) and fills the caller's struct err with one line that names the file,
 * the place and what to do. No trailing newline. The caller owns the struct
 * and may pass NULL when it has no use for the text.
 */
#ifndef MORPH_ERR_H
#define MORPH_ERR_H

#include <stddef.h>

struct err {
	char text[1024];
};

/* Each returns -1, so that `return err_set(e, …)` reads as it acts. */
int err_set(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same with ": strerror(errno)" after it. */
int err_sys(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Puts "prefix: " before the text that is there. */
int err_wrap(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* s into out of n bytes; of what is too long, a path mostly, the middle goes. */
void err_fit(char *out, size_t n, const char *s);

/* Text that anybody may have written as one line: control characters become
 * spaces. Returns it. */
char *err_line(char *s);

#endif
