#include "managerd/parent/swap/digest.h"
#include "common/publish.h"
#include "managerd/parent/swap/swap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 20 };

struct entry {
	struct build_id id;
	uint64_t size;
	struct content content;
};
typedef VEC(struct entry) entries;

/* Lines of another form are left out. */
static void load_line(char *line, entries *all)
{
	char *save = NULL, *id = strtok_r(line, " ", &save), *size = strtok_r(NULL, " ", &save),
	     *hash = strtok_r(NULL, " ", &save), *end;
	struct entry n;

	if (!id || !size || !hash || *size < '0' || *size > '9')
		return;
	n.size = strtoull(size, &end, 10);
	if (!*end && !build_id_parse(id, &n.id) && !content_parse(hash, &n.content))
		vec_push(all, n);
}

/* Absent is empty. */
static int load(const char *path, entries *all, struct err *e)
{
	struct buf text = {0};
	char *line, *save = NULL;

	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	if (file_read(path, TEXT_MAX, &text, e))
		return -1;
	for (line = strtok_r(buf_cstr(&text), "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		load_line(line, all);
	buf_free(&text);
	return 0;
}

static int save(const char *path, const entries *all, size_t from, struct err *e)
{
	char id[BUILD_ID_HEX], hash[CONTENT_HEX];
	struct buf text = {0};
	size_t i;
	int r;

	for (i = from; i < all->n; i++)
		buf_printf(&text, "%s %" PRIu64 " %s\n", build_id_hex(&all->v[i].id, id),
		    all->v[i].size, content_hex(&all->v[i].content, hash));
	r = publish_bytes(path, text.p, text.n, 0600, e);
	buf_free(&text);
	return r;
}

int digest_note(const char *state, const char *module, const struct build_id *id, uint64_t size,
    const struct content *c, unsigned keep, struct err *e)
{
	char *path = swap_path(state, "digests", module), *dir = path_dir(path);
	entries all = {0};
	size_t i, n = 0;
	int r = dir_make(dir, 0700, e) || dir_sync(state, e) || load(path, &all, e) ? -1 : 0;

	if (!r) {
		for (i = 0; i < all.n; i++)
			if (!build_id_equal(&all.v[i].id, id))
				all.v[n++] = all.v[i];
		all.n = n;
		vec_push(&all, (struct entry){*id, size, *c});
		r = save(path, &all, all.n > keep + 1 ? all.n - keep - 1 : 0, e);
	}
	vec_free(&all);
	free(dir);
	free(path);
	return r;
}

int digest_find(const char *state, const char *module, const struct build_id *id, uint64_t *size,
    struct content *c)
{
	char *path = swap_path(state, "digests", module);
	entries all = {0};
	size_t i = 0;
	int found = 0;

	if (!load(path, &all, NULL)) {
		while (i < all.n && !build_id_equal(&all.v[i].id, id))
			i++;
		found = i < all.n;
	}
	if (found) {
		*size = all.v[i].size;
		*c = all.v[i].content;
	}
	vec_free(&all);
	free(path);
	return found;
}

int digest_changed(const char *module, struct err *e)
{
	return err_set(e,
	    "%s: was changed after it was laid out; a new layout would lose that: "
	    "undo it, build the program again with it, or roll back",
	    module);
}

int digest_check(const char *state, const char *module, const struct build_id *id, int fd,
    uint64_t size, struct err *e)
{
	struct content noted, now;
	uint64_t was;

	if (!digest_find(state, module, id, &was, &noted))
		return 0;
	if (was == size && content_of_file(fd, size, &now) < 0)
		return err_sys(e, "%s", module);
	if (was == size && content_equal(&now, &noted))
		return 0;
	return digest_changed(module, e);
}
