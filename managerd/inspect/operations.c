#include "managerd/inspect/operations.h"
#include "common/artifact/artifact.h"
#include "common/elf/blockmap.h"
#include "common/profiletext/funclist.h"
#include "common/uops.h"
#include "managerd/samples/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- modules ---- */

static int read_ids(struct elf *f, const char *name, struct inspect_head *h, struct err *e)
{
	h->kind = elf_file_kind(f);
	if (h->kind != ELF_EXEC && h->kind != ELF_PIE && h->kind != ELF_SHARED)
		return err_set(e, "%s: is neither an executable nor a shared library", name);
	h->id = elf_file_build_id(f);
	if (!h->id.n)
		return err_set(e, "%s: has no build-id", name);
	h->origin = elf_file_origin(f);
	if (!h->origin.n)
		h->origin = h->id;
	return 0;
}

/* To close; NULL when it is none. */
static struct elf *open_module(int fd, const char *name, struct inspect_head *h, struct err *e)
{
	struct elf *f = elf_file_open(name, fd, e);

	if (!f || !read_ids(f, name, h, e))
		return f;
	elf_file_close(f);
	return NULL;
}

int inspect_module(struct answer *a, struct err *e)
{
	struct elf *f = open_module(INSPECT_FILE, "module", &a->head, e);

	elf_file_close(f);
	return f ? 0 : -1;
}

/* ---- artifacts ---- */

static int put_functions(struct artifact *art, struct buf *out, struct err *e)
{
	struct map_table t = {0};
	int rc = map_table_of(art, &t, e);

	if (!rc)
		map_table_encode(&t, out);
	map_table_free(&t);
	return rc;
}

static int read_original_map(struct artifact *art, struct blockmap *m, struct err *e)
{
	struct buf blob = {0};
	int rc = artifact_blockmap(art, &blob, e);

	if (!rc)
		rc = blockmap_decode(blob.p, blob.n, m, e);
	buf_free(&blob);
	return rc;
}

/* Of the original, or of a build that was made from it. */
static int put_map(
    struct artifact *art, struct elf *module, bool is_original, struct buf *out, struct err *e)
{
	struct blockmap original = {0}, made = {0};
	int rc = 0;

	if (is_original || artifact_lifted(art))
		rc = read_original_map(art, &original, e);
	if (!rc && !is_original)
		rc = blockmap_from_elf(module, &made, e) ? err_wrap(e, "module") : 0;
	if (!rc && !is_original && artifact_lifted(art))
		blockmap_put_original(&made, &original);
	if (!rc)
		blockmap_encode(is_original ? &original : &made, out);
	blockmap_free(&original);
	blockmap_free(&made);
	return rc;
}

/* One build may have two, from the hooks and lifted, whose functions are not the same. */
static int check_layout(struct artifact *art, struct elf *module, struct err *e)
{
	const struct art_tu *tu;
	size_t i, k, n = artifact_tus(art, &tu);
	struct htab units = {0};
	struct blockmap m;
	uint64_t hash;
	bool found = false;

	if (blockmap_from_elf(module, &m, e))
		return err_wrap(e, "module");
	for (k = 0; k < n; k++) {
		hash = hash_short(&tu[k].hash);
		htab_put(&units, &hash, sizeof hash, NULL);
	}
	for (i = 0; i < m.frag.n && !found; i++)
		found = htab_get(&units, &m.frag.v[i].tu, sizeof m.frag.v[i].tu);
	htab_free(&units);
	blockmap_free(&m);
	return found ? 0
		     : err_set(e, "artifact: the layout of the module was made from another one");
}

/* Opens both; the artifact must be that of the module's original build. */
static struct artifact *open_pair(struct elf **module, struct inspect_head *h, struct err *e)
{
	struct artifact *art;

	*module = open_module(INSPECT_SECOND, "module", h, e);
	if (!*module)
		return NULL;
	art = artifact_open_fd(INSPECT_FILE, "artifact", &h->origin, e);
	if (art) {
		h->artifact = artifact_meta(art)->id;
		if (!build_id_equal(&h->artifact, &h->origin))
			err_set(e, "artifact: its build-id is not the module's");
		else if (build_id_equal(&h->id, &h->origin) || !check_layout(art, *module, e))
			return art;
		artifact_close(art);
	}
	elf_file_close(*module);
	return NULL;
}

static int read_pair(struct answer *a, bool table, bool map, struct err *e)
{
	struct elf *module;
	struct artifact *art = open_pair(&module, &a->head, e);
	int rc = 0;

	if (!art)
		return -1;
	if (table)
		rc = put_functions(art, &a->table, e);
	if (!rc && map)
		rc = put_map(art, module, build_id_equal(&a->head.id, &a->head.origin), &a->map, e);
	artifact_close(art);
	elf_file_close(module);
	return rc;
}

int inspect_pair(struct answer *a, struct err *e)
{
	return read_pair(a, false, false, e);
}

int inspect_artifact(struct answer *a, struct err *e)
{
	return read_pair(a, true, true, e);
}

int inspect_output(struct answer *a, struct err *e)
{
	return read_pair(a, false, true, e);
}

/* ---- tables, lists ---- */

static int read_file(int fd, const char *what, int max, struct buf *out, struct err *e)
{
	struct stat st;
	ssize_t r;

	if (fstat(fd, &st))
		return err_sys(e, "%s", what);
	if (!S_ISREG(st.st_mode) || st.st_size > max)
		return err_set(e, "%s: not a regular file of at most %d bytes", what, max);
	buf_grow(out, (size_t)st.st_size);
	out->n = 0;
	while (out->n < (size_t)st.st_size) {
		r = pread(fd, out->p + out->n, (size_t)st.st_size - out->n, (off_t)out->n);
		if (!r || (r < 0 && errno != EINTR))
			return r ? err_sys(e, "%s", what)
				 : err_set(e, "%s: cut off meanwhile", what);
		out->n += r > 0 ? (size_t)r : 0;
	}
	return 0;
}

int inspect_table(struct answer *a, struct err *e)
{
	struct buf bytes = {0};
	struct uops u;
	int rc = read_file(INSPECT_FILE, "replay table", INSPECT_MAX, &bytes, e);

	if (!rc)
		rc = uops_decode(bytes.p, bytes.n, &u, e);
	if (!rc) {
		uops_encode(&u, &a->table);
		uops_free(&u);
	}
	buf_free(&bytes);
	return rc;
}

int inspect_bytes(struct answer *a, struct err *e)
{
	return read_file(INSPECT_FILE, "output", INSPECT_MAX, &a->table, e);
}

/* Comments and blanks are not of it. */
static uint64_t hash_of_names(const struct funclist *l)
{
	struct buf names = {0};
	struct hash128 h;
	size_t i;

	for (i = 0; i < l->name.n; i++)
		buf_add(&names, l->name.v[i], strlen(l->name.v[i]) + 1);
	h = hash_bytes(names.p, names.n);
	buf_free(&names);
	return l->name.n ? hash_short(&h) ?: 1 : 0;
}

int inspect_list(struct answer *a, struct err *e)
{
	struct funclist l = {0};
	struct buf text = {0};
	int rc = read_file(INSPECT_FILE, "list", INSPECT_LIST_MAX, &text, e);

	if (!rc)
		rc = funclist_parse(&l, &text, "list", e);
	if (!rc)
		a->head.list = hash_of_names(&l);
	buf_free(&text);
	funclist_free(&l);
	return rc;
}
