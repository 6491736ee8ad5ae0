#include "hooks/paths.h"
#include "common/mem.h"
#include "common/publish.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void add_component(struct buf *b, const char *s, size_t n)
{
	if (n == 0 || (n == 1 && s[0] == '.'))
		return;
	if (n == 2 && s[0] == '.' && s[1] == '.') {
		while (b->n && b->p[--b->n] != '/')
			continue;
		return;
	}
	buf_char(b, '/');
	buf_add(b, s, n);
}

static void add_components(struct buf *b, const char *s)
{
	size_t n;

	for (;; s += n + 1) {
		n = strcspn(s, "/");
		add_component(b, s, n);
		if (!s[n])
			return;
	}
}

char *path_lexical(const char *dir, const char *path)
{
	struct buf b = {0};

	if (path[0] != '/')
		add_components(&b, dir);
	add_components(&b, path);
	if (!b.n)
		buf_char(&b, '/');
	return buf_cstr(&b);
}

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

char *path_of_folder(const char *path)
{
	char *cwd = getcwd(NULL, 0), *out = path_lexical(cwd ? cwd : "/", path), *real;

	if (!same_file(path, out) && (real = realpath(path, NULL))) {
		free(out);
		out = real;
	}
	free(cwd);
	return out;
}

char *path_of_file(const char *path)
{
	char *dir = path_dir(path), *folder = path_of_folder(dir);
	char *out = path_lexical(folder, path_base(path));

	free(dir);
	free(folder);
	return out;
}
