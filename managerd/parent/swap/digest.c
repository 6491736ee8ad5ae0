#include "managerd/parent/swap/digest.h"
#include "common/publish.h"
#include "managerd/parent/swap/builds.h"
#include "managerd/parent/swap/journal.h"

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
struct digests {
	char *module; /* NULL and no bytes: not noted */
	struct build_id origin;
	VEC(struct entry) all;
};

static void digests_free(struct digests *d)
{
	free(d->module);
	vec_free(&d->all);
}

/* Lines of another form are left out. */
static void load_line(char *line, struct digests *d)
{
	char *save = NULL, *id = strtok_r(line, " ", &save), *size = strtok_r(NULL, " ", &save),
	     *hash = strtok_r(NULL, " ", &save), *end;
	struct entry n;

	if (id && size && !hash && !strcmp(id, "module")) {
		if (!d->module && journal_get_path(size, &d->module)) {
			free(d->module);
			d->module = NULL;
		}
	} else if (id && size && !hash && !strcmp(id, "origin")) {
		if (build_id_parse(size, &d->origin))
			d->origin.n = 0;
	} else if (id && size && hash && *size >= '0' && *size <= '9') {
		n.size = strtoull(size, &end, 10);
		if (!*end && !build_id_parse(id, &n.id) && !content_parse(hash, &n.content))
			vec_push(&d->all, n);
	}
}

/* Absent is empty. */
static int load(const char *path, struct digests *d, struct err *e)
{
	struct buf text = {0};
	char *line, *save = NULL;

	*d = (struct digests){0};
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	if (file_read(path, TEXT_MAX, &text, e))
		return -1;
	for (line = strtok_r(buf_cstr(&text), "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		load_line(line, d);
	buf_free(&text);
	return 0;
}

static int save(const char *path, const char *module, const struct digests *d, struct err *e)
{
	char id[BUILD_ID_HEX], hash[CONTENT_HEX];
	struct buf text = {0};
	size_t i;
	int r;

	buf_str(&text, "module ");
	journal_put_path(&text, module);
	buf_printf(&text, "\norigin %s\n", build_id_hex(&d->origin, id));
	for (i = 0; i < d->all.n; i++)
		buf_printf(&text, "%s %" PRIu64 " %s\n", build_id_hex(&d->all.v[i].id, id),
		    d->all.v[i].size, content_hex(&d->all.v[i].content, hash));
	r = publish_bytes(path, text.p, text.n, 0600, e);
	buf_free(&text);
	return r;
}

static void forget(struct digests *d, const struct build_id *id)
{
	size_t i, n = 0;

	for (i = 0; i < d->all.n; i++)
		if (!build_id_equal(&d->all.v[i].id, id))
			d->all.v[n++] = d->all.v[i];
	d->all.n = n;
}

static void prune(struct digests *d, const char *state, const char *module, unsigned keep)
{
	size_t i, n = 0;

	for (i = 0; i < d->all.n; i++)
		if (i + keep >= d->all.n || builds_have(state, module, &d->all.v[i].id))
			d->all.v[n++] = d->all.v[i];
	d->all.n = n;
}

int digest_note(const char *state, const char *module, const struct build_id *id,
    const struct build_id *origin, uint64_t size, const struct content *c, unsigned keep,
    struct err *e)
{
	char *path = swap_path(state, "digests", module), *dir = path_dir(path);
	struct digests d = {0};
	int r = dir_make(dir, 0700, e) || dir_sync(state, e) || load(path, &d, e) ? -1 : 0;

	if (!r) {
		if (!build_id_equal(&d.origin, origin))
			d.all.n = 0;
		d.origin = *origin;
		forget(&d, id);
		prune(&d, state, module, keep);
		vec_push(&d.all, (struct entry){*id, size, *c});
		r = save(path, module, &d, e);
	}
	digests_free(&d);
	free(dir);
	free(path);
	return r;
}

int digest_whose(
    const char *state, const char *key, char **module, struct build_id *origin, struct err *e)
{
	char *path = xasprintf("%s/digests/%s", state, key);
	struct digests d;
	int r = load(path, &d, e);

	if (!r && (!d.module || !d.origin.n))
		r = err_set(e, "%s: does not say whose original is kept", path);
	*module = r ? NULL : xstrdup(d.module);
	*origin = d.origin;
	digests_free(&d);
	free(path);
	return r;
}

static bool any_of_size(const struct digests *d, uint64_t size)
{
	size_t i;

	for (i = 0; i < d->all.n; i++)
		if (d->all.v[i].size == size)
			return true;
	return false;
}

int digest_match(const char *state, const char *module, int fd, uint64_t size, struct build_id *id,
    struct err *e)
{
	char *path = swap_path(state, "digests", module);
	struct content now;
	struct digests d;
	int r = load(path, &d, e);
	bool read = !r && any_of_size(&d, size);
	size_t i;

	if (read && content_of_file(fd, size, &now) < 0)
		r = err_sys(e, "%s", module);
	for (i = 0; read && !r && i < d.all.n; i++)
		if (d.all.v[i].size == size && content_equal(&d.all.v[i].content, &now)) {
			*id = d.all.v[i].id;
			r = 1;
		}
	digests_free(&d);
	free(path);
	return r;
}

int digest_find(const char *state, const char *module, const struct build_id *id, uint64_t *size,
    struct content *c)
{
	char *path = swap_path(state, "digests", module);
	struct digests d;
	size_t i = 0;
	int found = 0;

	if (!load(path, &d, NULL)) {
		while (i < d.all.n && !build_id_equal(&d.all.v[i].id, id))
			i++;
		found = i < d.all.n;
	}
	if (found) {
		*size = d.all.v[i].size;
		*c = d.all.v[i].content;
	}
	digests_free(&d);
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
