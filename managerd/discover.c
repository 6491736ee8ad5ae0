#include "managerd/discover.h"
#include "common/artifact.h"
#include "managerd/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct file_stamp stamp_of(const struct stat *st)
{
	return (struct file_stamp){st->st_dev, st->st_ino, st->st_size, st->st_mtim, st->st_ctim};
}

int file_stamp(const char *path, struct file_stamp *s)
{
	struct stat st;

	if (stat(path, &st))
		return -1;
	*s = stamp_of(&st);
	return 0;
}

bool file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->mtime.tv_sec == b->mtime.tv_sec && a->mtime.tv_nsec == b->mtime.tv_nsec &&
	       a->ctime.tv_sec == b->ctime.tv_sec && a->ctime.tv_nsec == b->ctime.tv_nsec;
}

static int read_ids(struct elf *f, const char *path, struct discovery *d, struct err *e)
{
	d->id = elf_file_build_id(f);
	if (!d->id.n)
		return err_set(e, "%s: has no build-id", path);
	d->origin = elf_file_origin(f);
	if (!d->origin.n)
		d->origin = d->id;
	return 0;
}

int discover_file(const char *path, struct discovery *d, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;
	struct stat st;
	struct elf *f;

	*d = (struct discovery){0};
	if (fd < 0)
		return err_sys(e, "%s", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(e, "%s: no regular file", path);
	}
	d->uid = st.st_uid;
	d->bytes = (uint64_t)st.st_size;
	d->stamp = stamp_of(&st);
	f = elf_file_open(path, fd, e);
	if (!f)
		return -1;
	rc = read_ids(f, path, d, e);
	elf_file_close(f);
	return rc;
}

static bool laid_out(const struct discovery *d)
{
	return !build_id_equal(&d->id, &d->origin);
}

static int read_table(struct artifact *a, struct map_table *t, struct err *e)
{
	const struct art_func *f;
	const struct art_tu *tu;
	size_t i, n = artifact_funcs(a, &f), ntu = artifact_tus(a, &tu);

	for (i = 0; i < n; i++)
		if (f[i].tu < ntu)
			map_table_add(t, &(struct map_func){.key = f[i].key,
					     .tu = hash_short(&tu[f[i].tu].hash),
					     .ord = f[i].ord,
					     .nblock = f[i].nblock,
					     .name = f[i].name,
					     .tu_name = tu[f[i].tu].name,
					     .opaque = *f[i].opaque ? f[i].opaque : NULL});
	return map_table_end(t, e);
}

static int read_artifact(const char *path, struct discovery *d, struct err *e)
{
	struct artifact *a = artifact_open(path, e);
	struct buf blob = {0};
	int rc = -1;

	if (!a)
		return -1;
	if (!build_id_equal(&artifact_meta(a)->id, &d->origin))
		err_set(e, "its build-id is not the module's");
	else
		rc = read_table(a, &d->table, e);
	if (rc == 0 && !laid_out(d)) {
		rc = artifact_blockmap(a, &blob, e);
		if (rc == 0)
			rc = blockmap_decode(blob.p, blob.n, &d->map, e);
	}
	buf_free(&blob);
	artifact_close(a);
	return rc;
}

static int read_map(const char *path, int fd, struct discovery *d, struct err *e)
{
	struct elf *f = elf_file_open(path, fd, e);
	struct discovery now = {0};
	int rc = -1;

	if (!f)
		return -1;
	if (read_ids(f, path, &now, e) == 0) {
		if (!build_id_equal(&now.id, &d->id))
			err_set(e, "%s: changed meanwhile", path);
		else
			rc = blockmap_from_elf(f, &d->map, e);
	}
	elf_file_close(f);
	return rc;
}

int discover_artifact(const char *path, struct discovery *d, struct err *e)
{
	struct trusted mod = {.dir = -1, .fd = -1}, art = {.dir = -1, .fd = -1};
	char fd_path[TRUST_FD_PATH];
	int rc;

	d->artifact = artifact_find(path, &d->origin, e);
	if (!d->artifact)
		return -1;
	rc = trust_pair(path, d->artifact, &mod, &art, e);
	if (rc)
		return rc;
	rc = read_artifact(trust_fd_path(&art, fd_path), d, e);
	if (rc)
		err_wrap(e, "%s", d->artifact);
	if (rc == 0 && laid_out(d)) {
		rc = read_map(path, mod.fd, d, e);
		mod.fd = -1; /* the reader took it over */
	}
	trust_close(&mod);
	trust_close(&art);
	return rc;
}

int discover_build(const char *path, struct discovery *d, struct err *e)
{
	if (discover_file(path, d, e))
		return -1;
	return read_map(path, -1, d, e);
}

void discovery_free(struct discovery *d)
{
	free(d->artifact);
	blockmap_free(&d->map);
	map_table_free(&d->table);
	*d = (struct discovery){0};
}
