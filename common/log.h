/*
 * The one way to log: lines on standard error, "program: text", with a syslog
 * priority prefix ("<3>") when systemd reads them (JOURNAL_STREAM is set).
 * Thread safe: a line is one write(2).
 */
#ifndef MORPH_LOG_H
#define MORPH_LOG_H

enum log_level { LOG_LVL_ERROR, LOG_LVL_WARN, LOG_LVL_INFO, LOG_LVL_DEBUG };

/* program: static string, printed before each line. Default level: info. */
void log_init(const char *program, enum log_level max);
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* log_error and exit(status). */
_Noreturn void die(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
