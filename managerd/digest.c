#include "managerd/digest.h"
#include "common/hash.h"
#include "common/publish.h"
#include "managerd/swap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 20 };

struct entry {
	struct build_id id;
	struct hash128 hash;
};
typedef VEC(struct entry) entries;

static char *digest_path(const char *state, const char *module)
{
	char key[HASH_HEX];

	return xasprintf("%s/digests/%s", state, swap_key(module, key));
}

/* Absent is empty; lines of another form are left out. */
static int load(const char *path, entries *all, struct err *e)
{
	struct buf text = {0};
	struct entry n;
	char *line, *hash, *save = NULL;

	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	if (file_read(path, TEXT_MAX, &text, e))
		return -1;
	for (line = strtok_r(buf_cstr(&text), "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		hash = strchr(line, ' ');
		if (!hash)
			continue;
		*hash++ = '\0';
		if (!build_id_parse(line, &n.id) && !hash_parse(hash, &n.hash))
			vec_push(all, n);
	}
	buf_free(&text);
	return 0;
}

static int save(const char *path, const entries *all, size_t from, struct err *e)
{
	char id[BUILD_ID_HEX], hash[HASH_HEX];
	struct buf text = {0};
	size_t i;
	int r;

	for (i = from; i < all->n; i++)
		buf_printf(&text, "%s %s\n", build_id_hex(&all->v[i].id, id),
		    hash_hex(&all->v[i].hash, hash));
	r = publish_bytes(path, text.p, text.n, 0644, e);
	buf_free(&text);
	return r;
}

static void forget(entries *all, const struct build_id *id)
{
	size_t i, n = 0;

	for (i = 0; i < all->n; i++)
		if (!build_id_equal(&all->v[i].id, id))
			all->v[n++] = all->v[i];
	all->n = n;
}

static int folder_make(const char *path, const char *state, struct err *e)
{
	char *dir = path_dir(path);
	int r = dir_make(dir, 0755, e);

	free(dir);
	return r < 0 ? -1 : dir_sync(state, e);
}

int digest_note(const char *state, const char *module, const struct build_id *id, int fd,
    unsigned keep, struct err *e)
{
	char *path = digest_path(state, module);
	struct entry n = {.id = *id};
	entries all = {0};
	int r = hash_file(fd, &n.hash) < 0 ? err_sys(e, "%s: the new build", module) : 0;

	if (!r && !(r = folder_make(path, state, e)) && !(r = load(path, &all, e))) {
		forget(&all, id);
		vec_push(&all, n);
		r = save(path, &all, all.n > keep + 1 ? all.n - keep - 1 : 0, e);
	}
	vec_free(&all);
	free(path);
	return r;
}

int digest_check(
    const char *state, const char *module, const struct build_id *id, int fd, struct err *e)
{
	char *path = digest_path(state, module);
	struct hash128 now;
	entries all = {0};
	size_t i;
	int r = load(path, &all, e);

	for (i = 0; i < all.n && !build_id_equal(&all.v[i].id, id); i++)
		;
	if (i < all.n && hash_file(fd, &now) < 0)
		r = err_sys(e, "%s", module);
	else if (i < all.n && !hash_equal(&now, &all.v[i].hash))
		r = err_set(e,
		    "%s: was changed after it was laid out; a new layout would lose that: "
		    "undo it, build the program again with it, or roll back",
		    module);
	vec_free(&all);
	free(path);
	return r;
}
