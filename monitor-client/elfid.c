#include "monitor-client/elfid.h"
#include "common/log.h"
#include "common/mem.h"
#include "monitor-client/procfs.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct elfid_key {
	uint64_t dev, ino;
	int64_t mtime, mtime_ns, ctime, ctime_ns;
};

/* Takes over fd. */
static struct build_id read_id(int fd, const char *path)
{
	struct build_id id = {0};
	struct err e;
	struct elf *f = elf_file_open(path, fd, &e);

	if (!f) {
		log_debug("%s", e.text);
		return id;
	}
	id = elf_file_build_id(f);
	elf_file_close(f);
	return id;
}

/* The build-id of an open file, from the cache where it is there. Takes over
 * fd. A full cache starts anew. */
static struct build_id cached_id(struct elfid *c, int fd, const char *path)
{
	struct elfid_key key = {0};
	struct stat st;
	uint64_t *at;
	bool fresh;

	if (fstat(fd, &st)) {
		close(fd);
		return (struct build_id){0};
	}
	key.dev = st.st_dev;
	key.ino = st.st_ino;
	key.mtime = st.st_mtim.tv_sec;
	key.mtime_ns = st.st_mtim.tv_nsec;
	key.ctime = st.st_ctim.tv_sec;
	key.ctime_ns = st.st_ctim.tv_nsec;
	if (c->seen.n >= ELFID_CACHE && !htab_get(&c->seen, &key, sizeof key))
		elfid_free(c);
	if (!c->ids)
		c->ids = xcalloc(ELFID_CACHE, sizeof *c->ids);
	at = htab_put(&c->seen, &key, sizeof key, &fresh);
	if (fresh) {
		*at = c->seen.n - 1;
		c->ids[*at] = read_id(fd, path);
	} else {
		close(fd);
	}
	return c->ids[*at];
}

enum elfid_result elfid_get(
    struct elfid *c, const char *proc, uint32_t pid, const struct event_map *m, struct build_id *id)
{
	int fd = procfs_open(proc, pid, m);

	if (fd < 0)
		return errno == EAGAIN ? ELFID_LATER : ELFID_NONE;
	*id = cached_id(c, fd, m->path);
	return id->n ? ELFID_FOUND : ELFID_NONE;
}

void elfid_free(struct elfid *c)
{
	htab_free(&c->seen);
	free(c->ids);
	*c = (struct elfid){0};
}
