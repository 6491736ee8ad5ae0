#include "common/ascii.h"
#include "common/artifact/artifact.h"
#include "common/fetch/fetch.h"
#include "common/places.h"
#include "common/publish.h"
#include "morphctl/command.h"
#include "morphctl/install.h"
#include "morphctl/text/table.h"
#include "morphctl/text/words.h"

#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what is there ---- */

struct listing {
	json_t *list;
	struct htab seen;
};

static void list_file(struct listing *l, const char *path)
{
	struct build_id id = {0};
	char hex[BUILD_ID_HEX], *name;

	if (artifact_peek(path, &id, &name, NULL))
		return;
	store_list(l->list,
	    json_pack("{so ss so}", "name", words_json(name), "build_id", build_id_hex(&id, hex),
		"path", words_json(path)),
	    "path", &l->seen);
	free(name);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void list_folder(struct listing *l, char *folder)
{
	FTS *t = fts_open((char *const[]){folder, NULL}, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *f;

	while (t && (f = fts_read(t)))
		if (f->fts_level == 2 && (f->fts_info == FTS_F || f->fts_info == FTS_SL) &&
		    f->fts_namelen > 6 && !strcmp(f->fts_name + f->fts_namelen - 6, ".morph"))
			list_file(l, f->fts_path);
	if (t)
		fts_close(t);
}

/* Calls fn for each folder of artifacts. */
static void each_folder(void (*fn)(void *arg, char *folder), void *arg)
{
	char *folders = places_artifacts(getenv("HOME")), *save, *at;

	for (at = strtok_r(folders, ":", &save); at; at = strtok_r(NULL, ":", &save))
		fn(arg, at);
	free(folders);
}

static void list_one(void *arg, char *folder)
{
	list_folder(arg, folder);
}

static void show_list(const struct invocation *in, const json_t *list)
{
	static const struct column column[] = {
	    {"NAME", CUT_END}, {"SIZE", RIGHT}, {"ARTIFACT", LEFT}};
	struct table t = {column, sizeof column / sizeof *column};
	double bytes = 0;
	const json_t *x;
	size_t i;

	json_array_foreach (list, i, x)
		table_row(
		    &t, json_str(x, "name"), store_size(in->mem, x, &bytes), json_str(x, "path"));
	printf(
	    "%s, %s\n", words_plural(in->mem, (double)i, "artifact"), words_bytes(in->mem, bytes));
	if (i)
		table_end(&t, table_colour());
}

int cmd_artifact_list(const struct invocation *in)
{
	struct listing l = {.list = json_array()};

	each_folder(list_one, &l);
	htab_free(&l.seen);
	return show(in, l.list, show_list);
}

int cmd_artifact_find(const struct invocation *in)
{
	struct err e;
	char *path = command_artifact(in->arg[0], &e);

	if (!path)
		return complain(EXIT_NOT_FOUND, "%s", words_clean(in->mem, e.text));
	ascii_keep_stdout();
	puts(path);
	free(path);
	return EXIT_DONE;
}

/* ---- fetching ---- */

/* Where a fetched one goes: of root the machine's folder, of others their own. */
static char *own_folder(void)
{
	char *folders = places_artifacts(geteuid() ? getenv("HOME") : NULL);

	folders[strcspn(folders, ":")] = '\0';
	return folders;
}

/* Believed by now; its tables are read once before anybody else does. */
static int publish_fetched(
    const struct build_id *id, const struct buf *b, const char *path, struct err *e)
{
	char *dir = path_dir(path);
	struct artifact *a = NULL;
	struct publish p;
	int r = dir_make(dir, 0755, e) || publish_open(&p, path, 0644, e) ? -1 : 0;

	free(dir);
	if (r)
		return -1;
	if (file_write_all(p.fd, b->p, b->n))
		r = err_sys(e, "%s", p.tmp);
	else if (!(a = artifact_open_of(p.tmp, id, e)))
		r = -1;
	else if (!build_id_equal(&artifact_meta(a)->id, id))
		r = err_set(e, "the server sent the artifact of another build");
	artifact_close(a);
	if (!r)
		return publish_commit(&p, e);
	publish_abort(&p);
	return r;
}

/* 1 = fetched, 0 = this server has none. */
static int fetch_from(
    const char *server, const char *key, const struct build_id *id, const char *path, struct err *e)
{
	struct buf b = {0};
	int r = fetch_artifact(server, key, id, &b, e);

	if (r > 0 && publish_fetched(id, &b, path, e))
		r = -1;
	buf_free(&b);
	return r;
}

static int wanted_build(const char *name, struct build_id *id, struct err *e)
{
	struct elf *f;

	if (access(name, F_OK) < 0 && build_id_parse(name, id) == 0)
		return 0;
	f = elf_file_open(name, -1, e);
	if (!f)
		return -1;
	*id = elf_file_origin(f);
	if (!id->n)
		*id = elf_file_build_id(f);
	elf_file_close(f);
	return 0;
}

int cmd_artifact_fetch(const struct invocation *in)
{
	const char *urls = env_value("MORPH_ARTIFACT_URLS"), *key = env_value("MORPH_ARTIFACT_KEY");
	char *folder = own_folder(), *path, *list, *save, *at;
	struct build_id id = {0};
	struct err e = {""};
	int r = 0;

	if (!urls)
		return complain(EXIT_REFUSED, "no server: set MORPH_ARTIFACT_URLS");
	if (wanted_build(in->arg[0], &id, &e))
		return complain(EXIT_NOT_FOUND, "%s", words_clean(in->mem, e.text));
	path = build_id_path(folder, strlen(folder), &id);
	if (!path)
		return complain(EXIT_NOT_FOUND, "%s: no build-id", in->arg[0]);
	list = xstrdup(urls);
	for (at = strtok_r(list, " ", &save); at && r <= 0; at = strtok_r(NULL, " ", &save)) {
		r = fetch_from(at, key, &id, path, &e);
		if (r < 0)
			complain(EXIT_FAILED, "%s", words_clean(in->mem, e.text));
	}
	if (r > 0)
		puts(path);
	else if (!*e.text)
		complain(EXIT_NOT_FOUND, "%s: no server has its artifact", in->arg[0]);
	free(list);
	free(path);
	free(folder);
	return r > 0 ? EXIT_DONE : *e.text ? EXIT_FAILED : EXIT_NOT_FOUND;
}

/* ---- removing ---- */

struct removing {
	struct build_id id;
	int removed;
	struct err *e;
};

static void remove_one(void *arg, char *folder)
{
	struct removing *r = arg;
	char *path = build_id_path(folder, strlen(folder), &r->id), *dir;

	if (path && unlink(path) == 0) {
		r->removed++;
		dir = path_dir(path);
		rmdir(dir);
		free(dir);
	} else if (path && errno != ENOENT && errno != ENOTDIR) {
		err_sys(r->e, "%s", path);
	}
	free(path);
}

int cmd_artifact_remove(const struct invocation *in)
{
	struct err e = {""};
	struct removing r = {.e = &e};
	char *path;

	if (build_id_parse(in->arg[0], &r.id)) {
		path = command_artifact(in->arg[0], &e);
		if (!path || artifact_peek(path, &r.id, NULL, &e)) {
			free(path);
			return complain(EXIT_NOT_FOUND, "%s", words_clean(in->mem, e.text));
		}
		free(path);
		e.text[0] = '\0';
	}
	each_folder(remove_one, &r);
	if (*e.text)
		return complain(EXIT_FAILED, "%s", words_clean(in->mem, e.text));
	return r.removed ? EXIT_DONE
			 : complain(EXIT_NOT_FOUND, "%s: no artifact by build-id", in->arg[0]);
}
