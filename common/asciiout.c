#include "common/ascii.h"
#include "common/mem.h"
#include "common/publish.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* A stream of stdio in front of a descriptor. */
struct filter {
	int fd;
	FILE *real;
	char held[4]; /* a character that is not whole yet */
	size_t nheld;
};

static struct filter out = {.fd = STDOUT_FILENO}, err = {.fd = STDERR_FILENO};

static ssize_t write_filter(void *cookie, const char *p, size_t n)
{
	struct filter *f = cookie;
	struct buf b = {0};
	size_t left;
	int r;

	buf_add(&b, f->held, f->nheld);
	buf_add(&b, p, n);
	f->nheld = ascii_cut_off(b.p, b.n);
	memcpy(f->held, b.p + b.n - f->nheld, f->nheld);
	left = ascii_translate(b.p, b.n - f->nheld);
	r = file_write_all(f->fd, b.p, left);
	buf_free(&b);
	return r < 0 ? 0 : (ssize_t)n;
}

static FILE *open_filter(struct filter *f, FILE *real, int mode)
{
	FILE *stream = fopencookie(f, "w", (cookie_io_functions_t){.write = write_filter});

	if (!stream)
		return real;
	f->real = real;
	setvbuf(stream, NULL, mode, mode == _IONBF ? 0 : BUFSIZ);
	return stream;
}

static void write_held(void)
{
	fflush(stdout);
	if (out.nheld && write(out.fd, out.held, out.nheld) < 0)
		return;
	out.nheld = 0;
}

void ascii_begin(void)
{
	/* A locale that is not there leaves the one of C. */
	setlocale(LC_CTYPE, "");
	if (!strcmp(nl_langinfo(CODESET), "UTF-8"))
		return;
	ascii_set(true);
	stdout = open_filter(&out, stdout, isatty(out.fd) ? _IOLBF : _IOFBF);
	stderr = open_filter(&err, stderr, _IONBF);
	atexit(write_held);
}

void ascii_keep_stdout(void)
{
	if (!out.real)
		return;
	write_held();
	stdout = out.real;
	out.real = NULL;
}
