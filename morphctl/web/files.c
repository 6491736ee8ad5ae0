#include "morphctl/web/files.h"
#include "common/publish.h"

#include <dirent.h>
#include <string.h>

enum { FILES_MAX = 200, BYTES_MAX = 4 << 20 };

static const char *type_of(const char *name)
{
	static const struct {
		const char *suffix, *type;
	} known[] = {{".html", "text/html; charset=utf-8"}, {".css", "text/css; charset=utf-8"},
	    {".js", "text/javascript; charset=utf-8"}, {".svg", "image/svg+xml"},
	    {".txt", "text/plain; charset=utf-8"}};
	const char *dot = strrchr(name, '.');
	size_t i;

	for (i = 0; dot && *name != '.' && i < sizeof known / sizeof *known; i++)
		if (strcmp(dot, known[i].suffix) == 0)
			return known[i].type;
	return NULL;
}

static int load_one(struct web_files *f, const char *folder, const char *name, struct err *e)
{
	struct web_file x = {.type = type_of(name)};
	char *path;
	int rc;

	if (!x.type)
		return 0;
	if (f->file.n == FILES_MAX)
		return err_set(e, "%s: more than %d files", folder, FILES_MAX);
	path = xasprintf("%s/%s", folder, name);
	rc = file_read(path, BYTES_MAX, &x.bytes, e);
	free(path);
	if (rc) {
		buf_free(&x.bytes);
		return -1;
	}
	x.name = xstrdup(name);
	vec_push(&f->file, x);
	return 0;
}

int files_load(struct web_files *f, const char *folder, struct err *e)
{
	DIR *d = opendir(folder);
	struct dirent *x;
	int rc = 0;

	*f = (struct web_files){0};
	if (!d)
		return err_sys(e, "%s", folder);
	while (rc == 0 && (x = readdir(d)))
		rc = load_one(f, folder, x->d_name, e);
	closedir(d);
	if (rc == 0 && !files_get(f, "/"))
		rc = err_set(e, "%s: no index.html", folder);
	if (rc)
		files_free(f);
	return rc;
}

const struct web_file *files_get(const struct web_files *f, const char *path)
{
	const char *name = strcmp(path, "/") ? path + 1 : "index.html";
	size_t i;

	for (i = 0; i < f->file.n; i++)
		if (strcmp(f->file.v[i].name, name) == 0)
			return &f->file.v[i];
	return NULL;
}

void files_free(struct web_files *f)
{
	size_t i;

	for (i = 0; i < f->file.n; i++) {
		free(f->file.v[i].name);
		buf_free(&f->file.v[i].bytes);
	}
	vec_free(&f->file);
}
