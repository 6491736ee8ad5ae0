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

static void hooklog_append(const char *path, const struct buf *line)
{
	char *dir = path_dir(path), *old;
	struct stat st;
	int fd;

	if (dir_make(dir, 0700, NULL) == 0) {
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > HOOKLOG_MAX) {
			old = xasprintf("%s.1", path);
			(void)rename(path, old);
			free(old);
		}
		fd = open(
		    path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
		if (fd >= 0) {
			if (write(fd, line->p, line->n) < 0)
				(void)0;
			close(fd);
		}
	}
	free(dir);
}

void hooklog(const char *tool, const char *output, const char *fmt, ...)
{
	char *path = hooklog_path(), reason[1024], stamp[32];
	struct buf line = {0};
	time_t now = time(NULL);
	struct tm tm;
	va_list ap;

	if (!path)
		return;
	va_start(ap, fmt);
	vsnprintf(reason, sizeof reason, fmt, ap);
	va_end(ap);
	strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	buf_printf(&line, "{\"time\":\"%s\",\"tool\":", stamp);
	json_string(&line, tool);
	buf_str(&line, ",\"output\":");
	json_string(&line, output ? output : "");
	buf_str(&line, ",\"reason\":");
	json_string(&line, reason);
	buf_str(&line, "}\n");
	hooklog_append(path, &line);
	buf_free(&line);
	free(path);
}
