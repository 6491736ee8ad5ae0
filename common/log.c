#include "common/log.h"
#include "common/ascii.h"
#include "common/loglimit.h"
#include "common/utf8.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *log_program = "morph";
static enum log_level log_max = LOG_LVL_INFO;
static bool log_journal;

static struct loglimit limit;
static pthread_mutex_t limit_lock = PTHREAD_MUTEX_INITIALIZER;

size_t log_escape(char *out, size_t size, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = 0;
	int len;

	for (; *s; s += len) {
		len = utf8_printable(s);
		if (n + (len ? (size_t)len : 4) >= size)
			break;
		if (len) {
			memcpy(out + n, s, (size_t)len);
			n += (size_t)len;
		} else {
			n += (size_t)snprintf(out + n, size - n, "\\x%02x", *s);
			len = 1;
		}
	}
	out[n] = '\0';
	return n;
}

static void put_line(enum log_level level, const char *text)
{
	static const int priority[] = {3, 4, 6, 7};
	static const char *const word[] = {"error: ", "warning: ", "", "debug: "};
	char line[2048];
	size_t n = 0;

	if (log_journal)
		n += snprintf(line, sizeof line, "<%d>", priority[level]);
	n += snprintf(line + n, sizeof line - n, "%s: %s", log_program, word[level]);
	n += log_escape(line + n, sizeof line - 1 - n, text);
	n = ascii_translate(line, n);
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		return;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Lines that were held back. The lock is held. */
static void put_held(uint64_t now, bool all)
{
	struct loglimit_site s;
	char text[128];

	while (loglimit_next(&limit, now, all, &s)) {
		snprintf(text, sizeof text, "%lu more like \"%s\" in the last %llu s", s.more,
		    s.like, (unsigned long long)(now - s.since + 999) / 1000);
		put_line(LOG_LVL_WARN, text);
	}
}

static void put_held_at_exit(void)
{
	pthread_mutex_lock(&limit_lock);
	put_held(now_ms(), true);
	pthread_mutex_unlock(&limit_lock);
}

void log_init(const char *program, enum log_level max)
{
	static bool registered;

	log_program = program;
	log_max = max;
	log_journal = getenv("JOURNAL_STREAM") != NULL;
	if (!registered)
		registered = !atexit(put_held_at_exit);
}

static bool allowed(const void *site, const char *fmt)
{
	uint64_t now = now_ms();
	bool ok;

	pthread_mutex_lock(&limit_lock);
	put_held(now, false);
	ok = loglimit_allows(&limit, site, fmt, now);
	pthread_mutex_unlock(&limit_lock);
	return ok;
}

/* site: NULL = not limited. */
static void log_line(enum log_level level, const void *site, const char *fmt, va_list ap)
{
	char text[2048];

	if (level > log_max || (site && !allowed(site, fmt)))
		return;
	vsnprintf(text, sizeof text, fmt, ap);
	put_line(level, text);
}

#define LOG_AT(level, site) \
	va_list ap; \
	va_start(ap, fmt); \
	log_line(level, site, fmt, ap); \
	va_end(ap)

void log_error(const char *fmt, ...)
{
	LOG_AT(LOG_LVL_ERROR, __builtin_return_address(0));
}

void log_warn(const char *fmt, ...)
{
	LOG_AT(LOG_LVL_WARN, __builtin_return_address(0));
}

void log_info(const char *fmt, ...)
{
	LOG_AT(LOG_LVL_INFO, __builtin_return_address(0));
}

void log_debug(const char *fmt, ...)
{
	LOG_AT(LOG_LVL_DEBUG, NULL);
}

void die(int status, const char *fmt, ...)
{
	LOG_AT(LOG_LVL_ERROR, NULL);
	exit(status);
}
