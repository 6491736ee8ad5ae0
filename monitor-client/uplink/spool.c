#include "monitor-client/uplink/spool.h"
#include "common/log.h"
#include "common/sort.h"
#include "common/publish.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_LENGTH = 16 + 1 + 16 + 1 + 16 + 6, LETTER_MAX = WIRE_MAX_PAYLOAD + 4096 };

static bool is_name(const char *s)
{
	static const char digit[] = "0123456789abcdef";

	return strlen(s) == NAME_LENGTH && strspn(s, digit) == 16 && s[16] == '-' &&
	       strspn(s + 17, digit) == 16 && s[33] == '-' && strspn(s + 34, digit) == 16 &&
	       !strcmp(s + 50, ".batch");
}

static int file_compare(const void *a, const void *b)
{
	return strcmp(((const struct spool_file *)a)->name, ((const struct spool_file *)b)->name);
}

static char *path_of(const struct spool *s, const char *name)
{
	return xasprintf("%s/%s", s->dir, name);
}

static int scan(struct spool *s, struct err *e)
{
	DIR *d = opendir(s->dir);
	struct dirent *de;
	struct stat st;

	if (!d)
		return err_sys(e, "%s", s->dir);
	while ((de = readdir(d)))
		if (is_name(de->d_name) &&
		    !fstatat(dirfd(d), de->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(st.st_mode)) {
			vec_push(&s->file,
			    (struct spool_file){xstrdup(de->d_name), (uint64_t)st.st_size});
			s->bytes += (uint64_t)st.st_size;
		}
	closedir(d);
	vec_sort(&s->file, file_compare);
	return 0;
}

int spool_open(struct spool *s, const char *dir, uint64_t max_bytes, struct err *e)
{
	*s = (struct spool){.dir = xstrdup(dir), .max = max_bytes};
	if (dir_make(dir, 0700, e) || scan(s, e)) {
		spool_close(s);
		return -1;
	}
	return 0;
}

bool spool_empty(const struct spool *s)
{
	return s->first == s->file.n;
}

void spool_remove_first(struct spool *s)
{
	struct spool_file *f = &s->file.v[s->first];
	char *path = path_of(s, f->name);

	if (unlink(path))
		log_debug("%s: was already gone", path);
	s->bytes -= f->size;
	free(path);
	free(f->name);
	s->first++;
	if (s->first > 64 && s->first > s->file.n / 2) {
		s->file.n -= s->first;
		memmove(s->file.v, s->file.v + s->first, s->file.n * sizeof *s->file.v);
		s->first = 0;
	}
}

int spool_first(struct spool *s, struct envelope *l)
{
	struct buf b = {0};
	struct err e;
	char *path;
	int r = -1;

	while (r && !spool_empty(s)) {
		path = path_of(s, s->file.v[s->first].name);
		b.n = 0;
		r = file_read(path, LETTER_MAX, &b, &e);
		if (!r)
			r = envelope_get(b.p, b.n, l, &e);
		if (r) {
			log_warn("spool file %s is removed: %s", path, e.text);
			spool_remove_first(s);
		}
		free(path);
	}
	buf_free(&b);
	return r;
}

static void make_room(struct spool *s, uint64_t n)
{
	struct envelope l;
	uint64_t before = s->lost;

	while (s->bytes + n > s->max && spool_first(s, &l) == 0) {
		s->lost += l.taken;
		s->runs_lost += l.runs;
		envelope_free(&l);
		spool_remove_first(s);
	}
	if (s->lost != before)
		log_warn("the spool is full: %" PRIu64 " samples of the oldest batches dropped",
		    s->lost - before);
}

/* Keeps the list sorted; a new envelope is nearly always the last. */
static void insert(struct spool *s, struct spool_file f)
{
	size_t i;

	vec_push(&s->file, f);
	for (i = s->file.n - 1; i > s->first && file_compare(&s->file.v[i - 1], &f) > 0; i--)
		s->file.v[i] = s->file.v[i - 1];
	s->file.v[i] = f;
	s->bytes += f.size;
}

int spool_add(struct spool *s, const struct envelope *l, struct err *e)
{
	struct buf b = {0};
	char *name, *path;
	int r;

	envelope_put(l, &b);
	make_room(s, b.n);
	if (s->bytes + b.n > s->max) {
		r = err_set(e, "a batch of %zu bytes exceeds the spool's bound", b.n);
		buf_free(&b);
		return r;
	}
	name = xasprintf("%016" PRIx64 "-%016" PRIx64 "-%016" PRIx64 ".batch", l->start_ns,
	    l->hello.session, l->seq);
	path = path_of(s, name);
	r = publish_bytes(path, b.p, b.n, 0600, e);
	if (r)
		free(name);
	else
		insert(s, (struct spool_file){name, b.n});
	free(path);
	buf_free(&b);
	return r;
}

uint64_t spool_take_lost(struct spool *s)
{
	uint64_t n = s->lost;

	s->lost = 0;
	return n;
}

uint64_t spool_take_runs_lost(struct spool *s)
{
	uint64_t n = s->runs_lost;

	s->runs_lost = 0;
	return n;
}

void spool_close(struct spool *s)
{
	size_t i;

	for (i = s->first; i < s->file.n; i++)
		free(s->file.v[i].name);
	vec_free(&s->file);
	free(s->dir);
	*s = (struct spool){0};
}
