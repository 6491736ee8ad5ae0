#include "morphctl/store.h"
#include "common/ascii.h"
#include "common/artifact/artifact.h"
#include "common/fetch/fetch.h"
#include "common/places.h"
#include "common/publish.h"
#include "morphctl/command.h"
#include "morphctl/compact.h"
#include "morphctl/text/table.h"
#include "morphctl/text/words.h"

#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- installing ---- */

struct installing {
	char *store;      /* INTO/usr/lib/morph */
	struct htab done; /* build-ids */
	json_t *installed, *without;
	struct err *e;
};

static json_t *text(const char *s)
{
	struct arena a = {0};
	json_t *j = json_string(words_clean(&a, s));

	arena_free(&a);
	return j;
}

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Whose debug information was taken away. */
static bool stripped(const char *module)
{
	struct elf *f = elf_file_open(module, -1, NULL);
	struct elf_section s;
	bool is = f && elf_file_section(f, ".debug_info", &s, NULL) == 0;

	elf_file_close(f);
	return is;
}

static int install_artifact(struct installing *in, const char *module, const char *artifact)
{
	struct build_id id = {0};
	char hex[BUILD_ID_HEX], *to, *dir;
	struct stat st;
	int r;

	if (artifact_peek(artifact, &id, NULL, in->e))
		return -1;
	/* One program may have several names. */
	if (htab_get(&in->done, id.b, id.n))
		return 0;
	htab_put(&in->done, id.b, id.n, NULL);
	to = build_id_path(in->store, strlen(in->store), &id);
	dir = path_dir(to);
	r = dir_make(dir, 0755, in->e);
	if (!r && !same_file(artifact, to))
		r = compact_artifact(artifact, to, stripped(module), in->e);
	if (!r)
		r = stat(to, &st) ? err_sys(in->e, "%s", to) : 0;
	if (!r)
		json_array_append_new(
		    in->installed, json_pack("{so ss so sI}", "path", text(module), "build_id",
				       build_id_hex(&id, hex), "artifact", text(to), "bytes",
				       (json_int_t)st.st_size));
	free(dir);
	free(to);
	return r;
}

/* Debug information that was split off has a program's headers, and nothing that runs. */
static bool runs(struct elf *f)
{
	enum { SEGMENTS = 64 };
	struct elf_segment seg[SEGMENTS];
	size_t n = elf_file_exec_segments(f, seg, SEGMENTS), i;
	enum elf_kind kind = elf_file_kind(f);
	uint64_t size = 0;

	for (i = 0; i < n; i++)
		size += seg[i].filesz;
	return size && (kind == ELF_EXEC || kind == ELF_PIE || kind == ELF_SHARED);
}

static int install_of(struct installing *in, const char *module)
{
	struct elf *f = elf_file_open(module, -1, NULL);
	struct build_id id = {0};
	bool program = f && runs(f);
	char *artifact, *there;
	int r = 0;

	if (f)
		id = elf_file_build_id(f);
	elf_file_close(f);
	if (!program)
		return 0;
	there = build_id_path(in->store, strlen(in->store), &id);
	artifact = artifact_find(module, &id, in->e);
	if (artifact)
		r = install_artifact(in, module, artifact);
	else if (!there || access(there, F_OK) < 0)
		json_array_append_new(in->without, text(module));
	free(artifact);
	free(there);
	return r;
}

static int walk(struct installing *in, char *const *root)
{
	FTS *t = fts_open(root, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *f;
	int r = 0;

	if (!t)
		return err_sys(in->e, "%s", *root);
	while (!r && (f = fts_read(t)))
		if (f->fts_info == FTS_F)
			r = install_of(in, f->fts_path);
		else if (f->fts_info == FTS_NS || f->fts_info == FTS_DNR) {
			errno = f->fts_errno;
			r = err_sys(in->e, "%s", f->fts_path);
		}
	fts_close(t);
	return r;
}

int store_install(const char *folder, const char *into, json_t **done, struct err *e)
{
	static char *const system[] = {"/bin", "/sbin", "/lib", "/lib64", "/usr", "/opt", NULL};
	char *const one[] = {(char *)folder, NULL};
	struct installing in = {
	    .store = xasprintf("%s/usr/lib/morph", strcmp(into, "/") ? into : ""),
	    .installed = json_array(),
	    .without = json_array(),
	    .e = e};
	int r = walk(&in, folder ? one : system);

	*done = json_pack("{so so}", "installed", in.installed, "without", in.without);
	htab_free(&in.done);
	free(in.store);
	return r;
}

int store_install_built(const char *folder, int status)
{
	struct arena a = {0};
	struct err e;
	json_t *done;
	size_t n;

	if (status)
		return status;
	status = store_install(folder, folder, &done, &e);
	n = json_array_size(json_object_get(done, "installed"));
	if (status)
		status = complain(EXIT_FAILED, "%s", words_clean(&a, e.text));
	else
		fprintf(stderr, "morph: %s installed below %s\n",
		    words_plural(&a, (double)n, "artifact"), words_clean(&a, folder));
	json_decref(done);
	arena_free(&a);
	return status;
}

static void show_installed(const struct invocation *in, const json_t *done)
{
	static const struct column column[] = {
	    {"BUILD-ID", CUT_END}, {"SIZE", RIGHT}, {"PROGRAM", CUT}};
	struct table t = {column, sizeof column / sizeof *column};
	const json_t *list = json_object_get(done, "installed"), *x;
	size_t i, without = json_array_size(json_object_get(done, "without"));

	json_array_foreach (list, i, x)
		table_row(&t, json_str(x, "build_id"), words_bytes(in->mem, json_num(x, "bytes")),
		    json_str(x, "path"));
	printf("%s installed", words_plural(in->mem, (double)i, "artifact"));
	if (without)
		printf("; %s without one",
		    words_plural(in->mem, (double)without, "other linked file"));
	putchar('\n');
	if (i)
		table_end(&t, table_colour());
}

int cmd_artifact_install(const struct invocation *in)
{
	const char *folder = in->narg ? in->arg[0] : NULL;
	const char *into = in->narg > 1 ? in->arg[1] : folder ? folder : "/";
	struct err e;
	json_t *done;

	if (store_install(folder, into, &done, &e) == 0)
		return show(in, done, show_installed);
	json_decref(done);
	return complain(EXIT_FAILED, "%s", words_clean(in->mem, e.text));
}

/* ---- what is there ---- */

static void list_file(json_t *list, const char *path)
{
	struct build_id id = {0};
	char hex[BUILD_ID_HEX], *name;
	struct stat st;

	if (artifact_peek(path, &id, &name, NULL) || stat(path, &st))
		return;
	json_array_append_new(
	    list, json_pack("{so ss so sI}", "name", text(name), "build_id", build_id_hex(&id, hex),
		      "path", text(path), "bytes", (json_int_t)st.st_size));
	free(name);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void list_folder(json_t *list, char *folder)
{
	FTS *t = fts_open((char *const[]){folder, NULL}, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *f;

	while (t && (f = fts_read(t)))
		if (f->fts_level == 2 && (f->fts_info == FTS_F || f->fts_info == FTS_SL) &&
		    f->fts_namelen > 6 && !strcmp(f->fts_name + f->fts_namelen - 6, ".morph"))
			list_file(list, f->fts_path);
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

	json_array_foreach (list, i, x) {
		bytes += json_num(x, "bytes");
		table_row(&t, json_str(x, "name"), words_bytes(in->mem, json_num(x, "bytes")),
		    json_str(x, "path"));
	}
	printf(
	    "%s, %s\n", words_plural(in->mem, (double)i, "artifact"), words_bytes(in->mem, bytes));
	if (i)
		table_end(&t, table_colour());
}

int cmd_artifact_list(const struct invocation *in)
{
	json_t *list = json_array();

	each_folder(list_one, list);
	return show(in, list, show_list);
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
	else if (!(a = artifact_open(p.tmp, e)))
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
