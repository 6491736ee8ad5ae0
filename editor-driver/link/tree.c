#include "editor-driver/link/tree.h"
#include "common/hash.h"
#include "common/command/ldscript.h"
#include "common/publish.h"
#include "editor-driver/os/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void tree_free(struct tree *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		free(t->path[i]);
	free(t->path);
	free(t->root);
	*t = (struct tree){0};
}

/* Walks path below root; makes each folder on the way when make is set. */
static int walk(const char *root, const char *path, struct buf *at, struct err *e)
{
	size_t floor = strlen(root), n;
	const char *p = path;

	if (*p != '/')
		return err_set(e, "%s: not an absolute path", path);
	buf_str(at, root);
	for (;; p += n) {
		p += strspn(p, "/");
		n = strcspn(p, "/");
		if (!n)
			return 0;
		if (n == 1 && *p == '.')
			continue;
		if (n == 2 && !memcmp(p, "..", 2)) {
			while (at->n > floor && at->p[at->n - 1] != '/')
				at->n--;
			if (at->n <= floor)
				return err_set(e, "%s: leads out of the file system", path);
			at->n--;
			continue;
		}
		buf_char(at, '/');
		buf_add(at, p, n);
		if (mkdir(buf_cstr(at), 0700) && errno != EEXIST)
			return err_sys(e, "%s", at->p);
	}
}

char *tree_folder(const char *root, const char *path, struct err *e)
{
	struct buf at = {0};

	if (!walk(root, path, &at, e))
		return buf_cstr(&at);
	buf_free(&at);
	return NULL;
}

/* The path of a file: makes its folder; the file must not exist yet. */
static char *file_path(const char *root, const char *path, struct err *e)
{
	char *dir = path_dir(path), *at, *file = NULL;
	const char *base = path_base(path);
	struct stat st;

	at = tree_folder(root, dir, e);
	if (at && (!*base || !strcmp(base, ".") || !strcmp(base, ".."))) {
		err_set(e, "%s: not the path of a file", path);
	} else if (at) {
		file = xasprintf("%s/%s", at, base);
		if (!lstat(file, &st)) {
			err_set(e, "%s: the artifact has two inputs of this path", path);
			free(file);
			file = NULL;
		}
	}
	free(at);
	free(dir);
	return file;
}

static int write_content(struct artifact *a, const struct art_input *in, const char *sysroot,
    const char *path, struct err *e)
{
	struct buf b = {0};
	int rc = artifact_content(a, in->id, &b, e) ||
		 ldscript_check(b.p, b.n, in->path, sysroot, e) ||
		 file_write(path, O_EXCL, b.p, b.n, e);

	buf_free(&b);
	return rc ? -1 : 0;
}

static int write_input(struct artifact *a, const struct art_input *in, const char *sysroot,
    char *const *object, const char *path, struct err *e)
{
	if (in->kind != ART_TU)
		return write_content(a, in, sysroot, path, e);
	return link(object[in->tu], path) ? err_sys(e, "%s", path) : 0;
}

/* A response file holds one argument a line; blanks, quotes and backslashes
 * are escaped. */
static void response_add(struct buf *b, const char *path)
{
	for (; *path; path++) {
		if (strchr(" \t\r\n\v\f'\"\\", *path))
			buf_char(b, '\\');
		buf_char(b, *path);
	}
	buf_char(b, '\n');
}

static int write_member(struct artifact *a, const struct art_input *in, char *const *object,
    const char *parts, struct buf *response, struct err *e)
{
	char *dir, *file;
	int rc = -1;

	if (strchr(in->path, '/') || !*in->path || !strcmp(in->path, ".") ||
	    !strcmp(in->path, ".."))
		return err_set(e, "%s: not the name of an archive member", in->path);
	dir = xasprintf("%s/%u", parts, in->id);
	file = xasprintf("%s/%s", dir, in->path);
	if (!dir_make(dir, 0700, e))
		rc = write_input(a, in, "", object, file, e);
	response_add(response, file);
	free(file);
	free(dir);
	return rc;
}

/* Members of one name lie in folders of their own, and are appended in order
 * ("q"), so that order and double names stay as they were. */
static int make_archive(struct artifact *a, uint32_t id, char *const *object, const char *ar,
    const char *root, const char *path, struct err *e)
{
	const struct art_input *in;
	size_t i, n = artifact_inputs(a, &in);
	char *parts = xasprintf("%s.parts", root), *list = xasprintf("%s/%u.list", parts, id);
	char *at_list = xasprintf("@%s", list);
	const char *argv[] = {ar, "qcsD", path, at_list, NULL};
	struct buf response = {0};
	int rc = dir_make(parts, 0700, e);

	for (i = 0; i < n && !rc; i++)
		if (in[i].archive == (int64_t)id)
			rc = write_member(a, &in[i], object, parts, &response, e);
	if (!rc)
		rc = file_write(list, O_EXCL, response.p, response.n, e);
	if (!rc)
		rc = run_tool(&(struct spawn){.argv = argv}, "ar", e);
	buf_free(&response);
	free(at_list);
	free(list);
	free(parts);
	return rc;
}

static int place_input(struct artifact *a, const struct art_input *in, char *const *object,
    const char *ar, struct tree *t, struct err *e)
{
	char *path;

	if (in->archive >= 0)
		return 0; /* comes with its archive */
	path = t->path[in->id] = file_path(t->root, in->path, e);
	if (!path)
		return -1;
	if (in->kind == ART_ARCHIVE)
		return make_archive(a, in->id, object, ar, t->root, path, e);
	return write_input(a, in, t->sysroot, object, path, e);
}

int tree_make(struct artifact *a, const char *root, const char *sysroot, char *const *object,
    const char *ar, struct tree *t, struct err *e)
{
	const struct art_input *in;
	size_t i, n = artifact_inputs(a, &in);
	int rc;

	*t = (struct tree){xstrdup(root), sysroot, n, xcalloc(n, sizeof *t->path)};
	rc = dir_make(root, 0700, e);
	for (i = 0; i < n && !rc; i++)
		rc = place_input(a, &in[i], object, ar, t, e);
	return rc;
}
