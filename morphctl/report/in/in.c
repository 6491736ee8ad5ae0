#include "morphctl/report/confined/confined.h"
#include "morphctl/report/in/format.h"
#include "morphctl/report/in/perf/perf.h"
#include "common/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { CHUNK = 1 << 20 };

static bool sniff_perf(const struct in_file *f)
{
	return perf_is(f->p, f->n);
}

/* As who asks, who has become the file's owner where that was root (job_read()). */
static int run_child(int (*run)(void *, struct buf *, struct err *), void *arg, size_t bytes,
    struct buf *answer, struct err *e)
{
	enum { BYTES_PER_S = 1 << 20 }; /* compressed ones are several times as many */
	const unsigned more = (unsigned)(bytes / BYTES_PER_S);
	struct confined c = {.file = -1,
	    .owner = geteuid(),
	    .cpu_s = CONFINED_CPU_S + more,
	    .wait_s = CONFINED_WAIT_S + 4 * more,
	    .run = run,
	    .arg = arg};

	return confined_run(&c, answer, e);
}

static int read_perf(
    struct recording *r, const struct in_file *f, const struct in_options *o, struct err *e)
{
	return perf_read(r, f->name, f->p, f->n, run_child, e);
}

const struct in_format in_perf = {"perf", "perf.data of Linux perf record", sniff_perf, read_perf};

/* In the order in which a file is looked at: what has a magic number first. */
static const struct in_format *const formats[] = {&in_perf, &in_morph, &in_addresses, &in_pprof,
    &in_gcov, &in_autofdo, &in_fdata, &in_preaggregated, &in_llvm, &in_profile, &in_folded};
enum { FORMATS = sizeof formats / sizeof *formats };

const char *in_format_name(unsigned i, const char **summary)
{
	if (i >= FORMATS)
		return NULL;
	if (summary)
		*summary = formats[i]->summary;
	return formats[i]->name;
}

static const struct in_format *find_format(
    const struct in_file *f, const struct in_options *o, struct err *e)
{
	unsigned i;

	for (i = 0; i < FORMATS; i++)
		if (o->format ? !strcmp(o->format, formats[i]->name) : formats[i]->sniff(f))
			return formats[i];
	if (o->format)
		err_set(e, "%s: '%s' is no format", f->name, o->format);
	else
		err_set(e, "%s: in none of the formats that are known", f->name);
	return NULL;
}

static int read_plain(
    struct recording *r, const struct in_file *f, const struct in_options *o, struct err *e)
{
	const struct in_format *format = find_format(f, o, e);

	return format ? format->read(r, f, o, e) : -1;
}

/* ---- gzip ---- */

static int gunzip(const struct in_file *f, struct buf *out, struct err *e)
{
	enum { GZIP = 16 + MAX_WBITS };
	const uint64_t most = 4ULL << 30;
	z_stream z = {0};
	uint64_t at = 0;
	int s = Z_OK;

	if (inflateInit2(&z, GZIP) != Z_OK)
		return err_set(e, "%s: no memory to decompress", f->name);
	while ((s == Z_OK || s == Z_BUF_ERROR) && out->n < most) {
		if (!z.avail_in) {
			z.next_in = (Bytef *)(uintptr_t)(f->p + at);
			z.avail_in = f->n - at < CHUNK ? (uInt)(f->n - at) : CHUNK;
			at += z.avail_in;
		}
		z.next_out = buf_grow(out, CHUNK);
		z.avail_out = CHUNK;
		s = inflate(&z, Z_NO_FLUSH);
		out->n -= z.avail_out;
		if (s == Z_STREAM_END && at - z.avail_in < f->n && inflateReset(&z) == Z_OK)
			s = Z_OK; /* another member follows */
		else if (s == Z_BUF_ERROR && at == f->n)
			break;
	}
	inflateEnd(&z);
	if (out->n >= most)
		return err_set(e, "%s: more than 4 GiB when decompressed", f->name);
	if (s != Z_STREAM_END)
		return err_set(e, "%s: offset %llu: gzip data are %s", f->name,
		    (unsigned long long)(at - z.avail_in),
		    s == Z_BUF_ERROR ? "cut off" : "damaged");
	return 0;
}

int in_read_bytes(struct recording *r, const char *name, const uint8_t *p, size_t n,
    const struct in_options *o, struct err *e)
{
	struct in_file f = {name, p, n};
	struct buf plain = {0};
	char *unpacked;
	int result;

	if (n < 2 || p[0] != 0x1f || p[1] != 0x8b)
		return read_plain(r, &f, o, e);
	unpacked = xasprintf("%s (unpacked)", name);
	result = gunzip(&f, &plain, e);
	if (!result) {
		f = (struct in_file){unpacked, (const uint8_t *)plain.p, plain.n};
		result = read_plain(r, &f, o, e);
	}
	buf_free(&plain);
	free(unpacked);
	return result;
}

/* ---- files ---- */

/* A descriptor of a file without a name that has all of what a pipe brings. */
static int spool(int from, const char *name, struct err *e)
{
	const char *folder = getenv("TMPDIR") ?: "/tmp";
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *chunk = xmalloc(CHUNK);
	ssize_t n = 0;

	if (fd < 0)
		err_sys(e, "%s: a temporary file", folder);
	while (fd >= 0 && (n = read(from, chunk, CHUNK)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n > 0 && !file_write_all(fd, chunk, (size_t)n))
			continue;
		err_sys(e, "%s: %s", n < 0 ? name : folder, n < 0 ? "reading" : "a temporary file");
		fd_close(&fd);
	}
	free(chunk);
	return fd;
}

static int read_fd(
    struct recording *r, const char *name, int fd, const struct in_options *o, struct err *e)
{
	struct stat st;
	void *p;
	int result;

	if (fstat(fd, &st))
		return err_sys(e, "%s", name);
	if (!st.st_size)
		return err_set(e, "%s: the file is empty", name);
	/* Mapped, since it may be much larger than what comes of it. */
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return err_sys(e, "%s: mapping it", name);
	result = in_read_bytes(r, name, p, (size_t)st.st_size, o, e);
	munmap(p, (size_t)st.st_size);
	return result;
}

int in_read(struct recording *r, const char *path, const struct in_options *o, struct err *e)
{
	bool standard = !strcmp(path, "-");
	const char *name = standard ? "standard input" : path;
	int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int file = fd, result = -1;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return err_sys(e, "%s", name);
	if (S_ISDIR(st.st_mode))
		err_set(e, "%s: a folder", name);
	else if (S_ISREG(st.st_mode) || (file = spool(fd, name, e)) >= 0)
		result = read_fd(r, name, file, o, e);
	if (file >= 0 && file != fd)
		close(file);
	if (!standard)
		close(fd);
	return result;
}
