#include "common/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *log_program = "morph";
static enum log_level log_max = LOG_LVL_INFO;
static bool log_journal;

void log_init(const char *program, enum log_level max)
{
	log_program = program;
	log_max = max;
	log_journal = getenv("JOURNAL_STREAM") != NULL;
}

static void log_line(enum log_level level, const char *fmt, va_list ap)
{
	static const int priority[] = {3, 4, 6, 7};
	static const char *const word[] = {"error: ", "warning: ", "", "debug: "};
	char line[2048];
	size_t n = 0;

	if (level > log_max)
		return;
	if (log_journal)
		n += snprintf(line, sizeof line, "<%d>", priority[level]);
	n += snprintf(line + n, sizeof line - n, "%s: %s", log_program, word[level]);
	n += vsnprintf(line + n, sizeof line - n, fmt, ap);
	if (n > sizeof line - 2)
		n = sizeof line - 2;
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		return;
}

#define LOG_AT(level)                                                                              \
	va_list ap;                                                                                \
	va_start(ap, fmt);                                                                         \
	log_line(level, fmt, ap);                                                                  \
	va_end(ap)

void log_error(const char *fmt, ...)
{
	LOG_AT(LOG_LVL_ERROR);
}

void log_warn(const char *fmt, ...)
{
	LOG_AT(LOG_LVL_WARN);
}

void log_info(const char *fmt, ...)
{
	LOG_AT(LOG_LVL_INFO);
}

void log_debug(const char *fmt, ...)
{
	LOG_AT(LOG_LVL_DEBUG);
}

void die(int status, const char *fmt, ...)
{
	LOG_AT(LOG_LVL_ERROR);
	exit(status);
}
