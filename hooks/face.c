#include "hooks/face.h"
#include "common/artifact/prune.h"
#include "common/elf/elf.h"
#include "common/pack.h"
#include "common/publish.h"
#include "hooks/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Of a build's own libraries there would be another one after each link. */
enum { SETTLED_S = 3600, FOLDER_MAX = 64 << 20 };

struct head {
	uint64_t size;
	struct hash128 hash, packed; /* of the face; of what follows */
};

static void add_time(struct buf *key, struct timespec t)
{
	buf_printf(key, "%jd.%09ld\n", (intmax_t)t.tv_sec, t.tv_nsec);
}

/* Which file this is, as it is now; false: one that may change soon. */
static bool add_file(struct buf *key, const char *path, time_t before)
{
	struct stat st;

	if (stat(path, &st) || st.st_mtim.tv_sec > before)
		return false;
	buf_printf(key, "%s\n%ju %ju %jd\n", path, (uintmax_t)st.st_dev, (uintmax_t)st.st_ino,
	    (intmax_t)st.st_size);
	add_time(key, st.st_mtim);
	add_time(key, st.st_ctim);
	return true;
}

/* STORE/.libraries/xx/yyyy: of this library, by this hook. */
static char *place_of(const char *path, const char *named)
{
	char *store = store_folder(NULL), *place = NULL, hex[HASH_HEX];
	struct buf key = {0};
	struct hash128 h;

	if (store && add_file(&key, path, time(NULL) - SETTLED_S) &&
	    add_file(&key, "/proc/self/exe", INT64_MAX)) {
		buf_str(&key, named ? named : "");
		h = hash_bytes(key.p, key.n);
		hash_hex(&h, hex);
		place = xasprintf("%s/.libraries/%.2s/%s", store, hex, hex + 2);
	}
	buf_free(&key);
	free(store);
	return place;
}

/* Another user may have put it there where this one acts with that one's home. */
static bool is_ours(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static int read_kept(const char *path, struct buf *out)
{
	int fd = file_open(path, NULL), r = -1;
	char *given;

	if (fd < 0)
		return -1;
	given = xasprintf("/dev/fd/%d", fd);
	if (is_ours(fd))
		r = file_read(given, FOLDER_MAX, out, NULL);
	free(given);
	close(fd);
	return r;
}

bool face_find(struct face *f, const char *path, const char *named)
{
	struct buf b = {0};
	struct hash128 packed;
	struct head head;
	bool found = false;

	f->kept = place_of(path, named);
	if (f->kept && !read_kept(f->kept, &b) && b.n > sizeof head) {
		memcpy(&head, b.p, sizeof head);
		packed = hash_bytes(b.p + sizeof head, b.n - sizeof head);
		found = hash_equal(&packed, &head.packed);
	}
	if (found) {
		f->size = head.size;
		f->hash = head.hash;
		buf_add(&f->z, b.p + sizeof head, b.n - sizeof head);
	}
	buf_free(&b);
	return found;
}

/* Nothing is lost where it cannot be kept. */
static void keep(const struct face *f)
{
	struct head head = {f->size, f->hash, hash_bytes(f->z.p, f->z.n)};
	char *dir = path_dir(f->kept), *all = path_dir(dir);
	struct publish p;

	if (!dir_make(dir, 0700, NULL) && !publish_open(&p, f->kept, 0600, NULL)) {
		if (file_write_all(p.fd, &head, sizeof head) ||
		    file_write_all(p.fd, f->z.p, f->z.n))
			publish_abort(&p);
		else if (!publish_commit_unsynced(&p, NULL))
			artifacts_prune(all, FOLDER_MAX);
	}
	free(all);
	free(dir);
}

int face_make(struct face *f, const void *library, size_t n, const char *named, struct err *e)
{
	struct buf thin = {0};
	int r = elf_thin_shared(library, n, named, &thin, e);

	if (!r && thin.n > PACK_MAX)
		r = err_set(e, "larger than 1 GiB");
	if (!r) {
		f->size = thin.n;
		f->hash = hash_bytes(thin.p, thin.n);
		pack_bytes(thin.p, thin.n, &f->z);
	}
	if (!r && f->kept)
		keep(f);
	buf_free(&thin);
	return r;
}

void face_free(struct face *f)
{
	buf_free(&f->z);
	free(f->kept);
}
