#include "morphctl/install.h"
#include "common/artifact/artifact.h"
#include "common/publish.h"
#include "morphctl/command.h"
#include "morphctl/compact.h"
#include "morphctl/text/table.h"
#include "morphctl/text/words.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of assembly in one file: who asks for one of its programs is sent them all. */
static const uint64_t TEXT_MOST = 256 << 20;

struct program {
	char *module, *artifact, *to;
	struct build_id id;
	bool there;    /* what is found is what was installed before */
	size_t with;   /* the first program that it shares units with, or itself */
	uint64_t text; /* bytes of those of its units that no program before it has */
};

struct installing {
	char *store;      /* INTO/usr/lib/morph */
	struct htab done; /* build-ids */
	VEC(struct program) program;
	json_t *installed, *without;
	struct err *e;
};

/* ---- finding them ---- */

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

static int add_program(struct installing *in, const char *module, const char *artifact)
{
	struct program p = {.with = in->program.n};
	bool fresh;

	if (artifact_peek(artifact, &p.id, NULL, in->e))
		return -1;
	/* One program may have several names. */
	htab_put(&in->done, p.id.b, p.id.n, &fresh);
	if (!fresh)
		return 0;
	p.module = xstrdup(module);
	p.artifact = xstrdup(artifact);
	p.to = build_id_path(in->store, strlen(in->store), &p.id);
	p.there = same_file(artifact, p.to);
	vec_push(&in->program, p);
	return 0;
}

static int add_file(struct installing *in, const char *module)
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
		r = add_program(in, module, artifact);
	else if (!there || access(there, F_OK) < 0)
		json_array_append_new(in->without, words_json(module));
	free(artifact);
	free(there);
	return r;
}

/* The same folder is gone through in the same order. */
static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int walk(struct installing *in, char *const *root)
{
	FTS *t = fts_open(root, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *f;
	int r = 0;

	if (!t)
		return err_sys(in->e, "%s", *root);
	while (!r && (f = fts_read(t)))
		if (f->fts_info == FTS_F)
			r = add_file(in, f->fts_path);
		else if (f->fts_info == FTS_NS || f->fts_info == FTS_DNR) {
			errno = f->fts_errno;
			r = err_sys(in->e, "%s", f->fts_path);
		}
	fts_close(t);
	return r;
}

/* ---- which of them share a file ---- */

static size_t first_of(const struct installing *in, size_t i)
{
	while (in->program.v[i].with != i)
		i = in->program.v[i].with;
	return i;
}

static void join(struct installing *in, size_t a, size_t b)
{
	a = first_of(in, a);
	b = first_of(in, b);
	in->program.v[a < b ? b : a].with = a < b ? a : b;
}

static int note_units(struct installing *in, size_t i, struct htab *units)
{
	struct program *p = &in->program.v[i];
	struct artifact *a = artifact_open(p->artifact, in->e);
	const struct art_tu *tu;
	size_t n = a ? artifact_tus(a, &tu) : 0, k;
	uint64_t *first;
	bool fresh;

	for (k = 0; k < n; k++) {
		first = htab_put(units, tu[k].hash.b, sizeof tu[k].hash.b, &fresh);
		if (fresh) {
			*first = i;
			p->text += tu[k].text_size;
		} else {
			join(in, *first, i);
		}
	}
	artifact_close(a);
	return a ? 0 : -1;
}

static int find_shared(struct installing *in)
{
	struct htab units = {0};
	size_t i;
	int r = 0;

	for (i = 0; i < in->program.n && !r; i++)
		if (!in->program.v[i].there)
			r = note_units(in, i, &units);
	htab_free(&units);
	return r;
}

/* ---- lists of them ---- */

void store_list(json_t *list, json_t *entry, const char *member, struct htab *seen)
{
	const char *path = json_str(entry, member), *first = NULL;
	struct stat st = {0};
	uint64_t *at;
	bool fresh;

	stat(path, &st);
	at = htab_put(seen, &(uint64_t[]){st.st_dev, st.st_ino}, 2 * sizeof *at, &fresh);
	if (fresh)
		*at = json_array_size(list);
	else
		first = json_str(json_array_get(list, *at), member);
	json_object_set_new(entry, "bytes", json_integer(st.st_size));
	json_object_set_new(entry, "same_as", first ? json_string(first) : json_null());
	json_array_append_new(list, entry);
}

char *store_size(struct arena *a, const json_t *entry, double *bytes)
{
	double n = json_num(entry, "bytes");

	if (json_str(entry, "same_as"))
		return arena_strdup(a, "shared");
	*bytes += n;
	return words_bytes(a, n);
}

/* ---- writing ---- */

static int make_folder(const char *file, struct err *e)
{
	char *dir = path_dir(file);
	int r = dir_make(dir, 0755, e);

	free(dir);
	return r;
}

/* Puts a file by the names of all these. */
static int put_file(struct installing *in, const size_t *member, size_t n)
{
	struct compact_source *from = xcalloc(n, sizeof *from);
	const struct program *p;
	const char *first = NULL;
	size_t i;
	int r = 0;

	for (i = 0; i < n && !r; i++) {
		p = &in->program.v[member[i]];
		from[i] = (struct compact_source){p->artifact, stripped(p->module)};
		r = make_folder(p->to, in->e);
	}
	for (i = 0; i < n && !r; i++) {
		p = &in->program.v[member[i]];
		r = first ? publish_link(first, p->to, in->e)
			  : compact_artifacts(from, n, p->to, in->e);
		first = first ? first : p->to;
	}
	free(from);
	return r;
}

/* The programs that share units with this one, in as many files as they need. */
static int put_shared(struct installing *in, size_t with)
{
	VEC(size_t) member = {0};
	uint64_t text = 0;
	size_t i;
	int r = 0;

	for (i = with; i < in->program.n && !r; i++) {
		if (in->program.v[i].there || first_of(in, i) != with)
			continue;
		if (member.n && text + in->program.v[i].text > TEXT_MOST) {
			r = put_file(in, member.v, member.n);
			member.n = text = 0;
		}
		text += in->program.v[i].text;
		vec_push(&member, i);
	}
	if (!r && member.n)
		r = put_file(in, member.v, member.n);
	vec_free(&member);
	return r;
}

static void report(struct installing *in)
{
	struct htab seen = {0};
	char hex[BUILD_ID_HEX];
	const struct program *p;

	for (p = in->program.v; p < in->program.v + in->program.n; p++)
		store_list(in->installed,
		    json_pack("{so ss so}", "path", words_json(p->module), "build_id",
			build_id_hex(&p->id, hex), "artifact", words_json(p->to)),
		    "artifact", &seen);
	htab_free(&seen);
}

static void free_all(struct installing *in)
{
	size_t i;

	for (i = 0; i < in->program.n; i++) {
		free(in->program.v[i].module);
		free(in->program.v[i].artifact);
		free(in->program.v[i].to);
	}
	vec_free(&in->program);
	htab_free(&in->done);
	free(in->store);
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
	size_t i;

	if (!r)
		r = find_shared(&in);
	for (i = 0; i < in.program.n && !r; i++)
		r = put_shared(&in, i);
	if (!r)
		report(&in);
	*done = json_pack("{so so}", "installed", in.installed, "without", in.without);
	free_all(&in);
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

/* ---- the command ---- */

static void show_installed(const struct invocation *in, const json_t *done)
{
	static const struct column column[] = {
	    {"BUILD-ID", CUT_END}, {"SIZE", RIGHT}, {"PROGRAM", CUT}};
	struct table t = {column, sizeof column / sizeof *column};
	const json_t *list = json_object_get(done, "installed"), *x;
	size_t i, without = json_array_size(json_object_get(done, "without"));
	double bytes = 0;

	json_array_foreach (list, i, x)
		table_row(&t, json_str(x, "build_id"), store_size(in->mem, x, &bytes),
		    json_str(x, "path"));
	printf("%s installed, %s", words_plural(in->mem, (double)i, "artifact"),
	    words_bytes(in->mem, bytes));
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
