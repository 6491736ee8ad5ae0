#include "morphctl/web/hookslog.h"
#include "common/hooklog.h"
#include "common/publish.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The end of a file, from the begin of a line. */
static void read_tail(const char *path, struct buf *out)
{
	int fd = file_open(path, NULL);
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	off_t at = size > HOOKLOG_MAX ? size - HOOKLOG_MAX : 0;
	size_t room = size > 0 ? (size_t)(size - at) : 0;
	char *line;
	ssize_t n;

	if (room) {
		n = pread(fd, buf_grow(out, room), room, at);
		out->n -= room - (n > 0 ? (size_t)n : 0);
	}
	line = at && out->n ? memchr(out->p, '\n', out->n) : NULL;
	if (at) {
		n = line ? (ssize_t)(out->n - (size_t)(line + 1 - out->p)) : 0;
		if (line)
			memmove(out->p, line + 1, (size_t)n);
		out->n = (size_t)n;
	}
	fd_close(&fd);
}

/* NULL = it is not one of the log. */
static json_t *read_line(const char *p, size_t n)
{
	json_t *o = json_loadb(p, n, 0, NULL), *line = NULL;
	const char *time, *tool, *output, *reason;

	if (!json_unpack(o, "{s:s,s:s,s:s,s:s}", "time", &time, "tool", &tool, "output", &output,
		"reason", &reason))
		line = json_pack("{ss ss ss ss}", "time", time, "tool", tool, "output", output,
		    "reason", reason);
	json_decref(o);
	return line;
}

/* Appends the whole lines of a file, the last one first. */
static void add_lines(json_t *list, const char *path)
{
	struct buf b = {0};
	size_t begin, end;
	json_t *line;

	read_tail(path, &b);
	for (end = b.n; end > 0 && json_array_size(list) < HOOKSLOG_LINES; end = begin) {
		for (begin = end - 1; begin > 0 && b.p[begin - 1] != '\n'; begin--)
			;
		line = b.p[end - 1] == '\n' ? read_line(b.p + begin, end - begin) : NULL;
		if (line)
			json_array_append_new(list, line);
	}
	buf_free(&b);
}

void hookslog_print(struct buf *out)
{
	char *path = hooklog_path(), *old = path ? xasprintf("%s.1", path) : NULL, *text;
	json_t *list = json_array(), *envelope;

	if (path) {
		add_lines(list, path);
		add_lines(list, old);
	}
	envelope = json_pack("{ss si so}", "type", "sync", "status-code", 200, "result", list);
	text = json_dumps(envelope, JSON_COMPACT);
	buf_str(out, text ? text : "{}");
	free(text);
	json_decref(envelope);
	free(old);
	free(path);
}
