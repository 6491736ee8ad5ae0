#include "hooks/clangtext.h"

#include <string.h>

/* Where the checksum of a .file with number begins in a line of n bytes; *file says whether it is
 * one. */
static const char *checksum_in(const char *line, size_t n, bool *file)
{
	static const char directive[] = "\t.file\t", checksum[] = " md5 0x";

	*file = n >= sizeof directive && !memcmp(line, directive, sizeof directive - 1) &&
		strchr("0123456789", line[sizeof directive - 1]);
	return *file ? memmem(line, n, checksum, sizeof checksum - 1) : NULL;
}

bool clangtext_make(const struct buf *text, struct buf *out)
{
	const char *p, *next, *sum, *end = text->p + text->n;
	bool file, with = false, without = false;
	size_t before = out->n;

	for (p = text->p; p < end; p = next) {
		next = memchr(p, '\n', (size_t)(end - p));
		next = next ? next + 1 : end;
		sum = checksum_in(p, (size_t)(next - p), &file);
		with = with || sum;
		without = without || (file && !sum);
		buf_add(out, p, (size_t)((sum ? sum : next) - p));
		if (sum)
			buf_char(out, '\n');
	}
	if (with && without)
		return true;
	out->n = before;
	return false;
}
