/*
 * The one way to log: lines on standard error, "program: text", with a syslog
 * priority prefix ("<3>") when systemd reads them (JOURNAL_STREAM is set).
 * Thread safe: a line is one write(2).
 *
 * One call is one line, whatever a file is called: control characters (C0, DEL,
 * C1) and bytes that are no UTF-8 are written as \xNN. Of one call site
 * LOGLIMIT_LINES go out in LOGLIMIT_MS and one more that counts the others
 * (loglimit.h); debug lines and die() are not limited.
 */
#ifndef MORPH_LOG_H
#define MORPH_LOG_H

#include <stddef.h>

enum log_level { LOG_LVL_ERROR, LOG_LVL_WARN, LOG_LVL_INFO, LOG_LVL_DEBUG };

/* program: static string, printed before each line. Default level: info. */
void log_init(const char *program, enum log_level max);
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* log_error and exit(status). */
_Noreturn void die(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Copies text to out as one line, see above, cut to size - 1 bytes between two
 * characters; returns its length. */
size_t log_escape(char *out, size_t size, const char *text);

#endif
