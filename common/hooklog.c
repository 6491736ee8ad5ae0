#include "common/hooklog.h"
#include "common/mem.h"
#include "common/places.h"
#include "common/publish.h"
#include "common/utf8.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

char *hooklog_path(void)
{
	char *folder, *path;

	if (env_value("MORPH_HOOKS_LOG"))
		return xstrdup(env_value("MORPH_HOOKS_LOG"));
	folder = places_user(PLACE_STATE);
	path = folder ? xasprintf("%s/hooks.log", folder) : NULL;
	free(folder);
	return path;
}

static void json_string(struct buf *b, const char *s)
{
	const unsigned char *p;
	int n;

	buf_char(b, '"');
	for (p = (const unsigned char *)s; *p; p += n) {
		n = 1;
		if (*p == '"' || *p == '\\')
			buf_printf(b, "\\%c", *p);
		else if (*p < 0x20 || *p == 0x7f)
			buf_printf(b, "\\u%04x", *p);
		else if (*p < 0x80)
			buf_char(b, (char)*p);
		else if ((n = utf8_length(p)) > 0)
			buf_add(b, p, (size_t)n);
		else {
			buf_str(b, "\\ufffd");
			n = 1;
		}
	}
	buf_char(b, '"');
}

/* To the end of a file, by one write. */
static void append(const char *path, const void *p, size_t n)
{
	int fd =
	    open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);

	if (fd >= 0) {
		if (write(fd, p, n) < 0)
			(void)0;
		close(fd);
	}
}

static void append_to_log(const struct buf *line)
{
	char *path = hooklog_path(), *dir = path ? path_dir(path) : NULL, *old;
	struct stat st;

	if (path && dir_make(dir, 0700, NULL) == 0) {
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > HOOKLOG_MAX) {
			old = xasprintf("%s.1", path);
			(void)rename(path, old);
			free(old);
		}
		append(path, line->p, line->n);
	}
	free(dir);
	free(path);
}

/* A file of the run; NULL without one. To free. */
static char *run_file(const char *name)
{
	const char *run = env_value(HOOKLOG_RUN);

	return run ? xasprintf("%s/%s", run, name) : NULL;
}

static void append_to_run(const char *name, const void *p, size_t n)
{
	char *path = run_file(name);

	if (path)
		append(path, p, n);
	free(path);
}

/* further: members more. */
static void make_line(
    struct buf *line, const char *tool, const char *output, const char *reason, const char *further)
{
	time_t now = time(NULL);
	struct tm tm;
	char stamp[32];

	strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	buf_printf(line, "{\"time\":\"%s\",\"tool\":", stamp);
	json_string(line, tool);
	buf_str(line, ",\"output\":");
	json_string(line, output ? output : "");
	buf_str(line, ",\"reason\":");
	json_string(line, reason);
	buf_printf(line, "%s}\n", further);
}

void hooklog(const char *tool, const char *output, const char *fmt, ...)
{
	struct buf line = {0};
	char reason[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reason, sizeof reason, fmt, ap);
	va_end(ap);
	make_line(&line, tool, output, reason, "");
	append_to_log(&line);
	append_to_run("events", line.p, line.n);
	buf_free(&line);
}

void hooklog_artifact(const char *output, bool library)
{
	struct buf line = {0};

	make_line(&line, "ld", output, "", library ? ",\"library\":true" : ",\"library\":false");
	append_to_run("events", line.p, line.n);
	buf_free(&line);
}

void hooklog_object(void)
{
	append_to_run("objects", "o", 1);
}

bool hooklog_first(const char *key)
{
	char *path = run_file(key);
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
	bool known = path && fd < 0;

	if (fd >= 0)
		close(fd);
	free(path);
	return !known;
}
