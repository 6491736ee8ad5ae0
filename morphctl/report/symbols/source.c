#include "morphctl/report/symbols/answer.h"
#include "morphctl/report/confined/confined.h"
#include "morphctl/report/symbols/readers.h"
#include "morphctl/report/symbols/symbols.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SOURCE_MAX = 64 << 20, LINES_MAX = 1 << 20, LINE_MAX_BYTES = 4096, TAB = 8 };

struct wanted {
	uint32_t from, n;
	bool public; /* who asks is not who may read it: only what everybody may */
	uid_t owner;
};

/* ---- the child ---- */

/* Without tabs, which are written as what they are on a page. */
static void put_line(const char *p, size_t n, struct buf *out)
{
	char text[LINE_MAX_BYTES + TAB + 1];
	size_t i, column = 0;

	for (i = 0; i < n && column < LINE_MAX_BYTES; i++)
		if (p[i] != '\t')
			text[column++] = p[i] ? p[i] : ' ';
		else
			do
				text[column++] = ' ';
			while (column % TAB);
	text[column] = '\0';
	answer_put(out, text);
}

static int read_lines(void *arg, struct buf *answer, struct err *e)
{
	const struct wanted *w = arg;
	struct buf b = {0}, lines = {0};
	const char *p, *end, *eol;
	uint32_t line = 1, n = 0;
	struct stat st;

	if (w->public &&
	    (fstat(CONFINED_FILE, &st) || (!(st.st_mode & S_IROTH) && st.st_uid != w->owner)))
		return err_set(e, "it is not known to be readable for the owner of the program");
	if (reader_bytes(SOURCE_MAX, &b, e))
		return -1;
	for (p = b.p, end = b.p + b.n; p < end && n < w->n; p = eol + 1, line++) {
		eol = memchr(p, '\n', (size_t)(end - p)) ?: end;
		if (line < w->from)
			continue;
		put_line(p, (size_t)(eol - p), &lines);
		n++;
	}
	buf_uleb(answer, n);
	buf_add(answer, lines.p, lines.n);
	return 0;
}

/* ---- the parent ---- */

static int decode(const struct buf *answer, struct arena *mem, const char **line, uint32_t n)
{
	const uint8_t *p = (const uint8_t *)answer->p, *end = p + answer->n;
	uint64_t count, i;

	if (uleb_count(&p, end, 1, &count) || count > n)
		return -1;
	for (i = 0; i < count; i++) {
		line[i] = answer_get(&p, end, mem);
		if (!line[i])
			return -1;
	}
	return p == end ? 0 : -1;
}

int symbols_source(const char *path, uint32_t owner, uint32_t from, uint32_t n, struct arena *mem,
    const char ***line, struct err *e)
{
	uid_t own = geteuid();
	struct wanted w = {from, n, own && owner && owner != own, owner};
	struct confined c = {
	    .file = -1, .path = path, .owner = owner, .run = read_lines, .arg = &w};
	struct buf answer = {0};
	int rc;

	if (!from || n > LINES_MAX)
		return err_set(
		    e, "%s: lines begin with 1, and there are at most %d", path, LINES_MAX);
	*line = arena_array(mem, n, sizeof **line);
	rc = confined_run(&c, &answer, e);
	if (!rc && decode(&answer, mem, *line, n))
		rc = err_set(e, "the process that read it gave a wrong answer");
	if (rc)
		err_wrap(e, "%s", path);
	buf_free(&answer);
	return rc ? -1 : 0;
}
