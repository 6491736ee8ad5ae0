#include "managerd/package.h"
#include "common/mem.h"
#include "common/spawn.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char dpkg_query[] = "/usr/bin/dpkg-query";

static bool starts(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static bool packages_go_there(const char *path)
{
	static const char *const where[] = {"/usr/", "/opt/", "/bin/", "/sbin/", "/lib"};
	size_t i;

	if (starts(path, "/usr/local/"))
		return false;
	for (i = 0; i < sizeof where / sizeof *where; i++)
		if (starts(path, where[i]))
			return true;
	return false;
}

char *package_parse(const char *answer)
{
	const char *line, *end;
	size_t n;

	for (line = answer; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		n = strspn(line, "abcdefghijklmnopqrstuvwxyz0123456789+-.");
		if (n && (line[n] == ':' || line[n] == ','))
			return xasprintf("%.*s", (int)n, line);
	}
	return NULL;
}

/* dpkg-query takes patterns. */
static char *literal(const char *path)
{
	struct buf b = {0};

	for (; *path; path++) {
		if (strchr("*?[]\\", *path))
			buf_char(&b, '\\');
		buf_char(&b, *path);
	}
	return buf_cstr(&b);
}

static int ask(const char *path, char **package, struct err *e)
{
	char *pattern = literal(path);
	const char *argv[] = {dpkg_query, "-S", pattern, NULL};
	struct buf out = {0}, err = {0};
	struct spawn s = {.argv = argv,
	    .env = (const char *const[]){"LC_ALL=C", NULL},
	    .in = -1,
	    .capture_out = &out,
	    .capture_err = &err,
	    .timeout_s = 10};
	int rc = spawn_run(&s, e);

	if (rc == 0)
		*package = package_parse(buf_cstr(&out));
	else if (rc > 1)
		err_set(e, "%s: exit status %d", dpkg_query, rc);
	buf_free(&out);
	buf_free(&err);
	free(pattern);
	return rc == 0 || rc == 1 ? 0 : -1;
}

int package_of(const char *path, char **package, struct err *e)
{
	*package = NULL;
	if (!packages_go_there(path) || access(dpkg_query, X_OK))
		return 0;
	if (ask(path, package, e))
		return -1;
	/* With a merged /usr dpkg may know the file by its old place. */
	if (!*package &&
	    (starts(path, "/usr/bin/") || starts(path, "/usr/sbin/") || starts(path, "/usr/lib")))
		return ask(path + strlen("/usr"), package, e);
	return 0;
}
