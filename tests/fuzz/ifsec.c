/*
 * cov >= 30
 * Section .morph.if. Even first byte: the rest is a section as it comes. Odd:
 * the rest is a text that is put, changed at one byte, and read.
 */
#include "common/elf/ifsec.h"
#include "hooks/functions.h"

#include <stdlib.h>
#include <string.h>

static void read_section(const uint8_t *p, size_t n)
{
	const uint8_t *end = p + n;
	struct buf text = {0};
	struct functions f;
	struct arena a = {0};
	struct ifsec s;
	struct err e;

	while (ifsec_next(&p, end, &s, &e) > 0) {
		functions_read(&f, &a, s.funcs, s.funcs_size, &e);
		if (s.text_size < 1 << 20 && !ifsec_text(&s, &text, &e) && text.n < s.text_size)
			abort();
	}
	arena_free(&a);
	buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct buf b = {0}, funcs = {.p = "\0", .n = 2};
	uint8_t *copy;

	if (n < 4)
		return 0;
	if (p[0] & 1) {
		ifsec_put(&b, p[0] & 2 ? "--64" : "", &funcs, p + 4, n - 4);
		b.p[(p[1] | p[2] << 8) % b.n] ^= (char)p[3];
	} else {
		buf_add(&b, p + 1, n - 1);
	}
	/* A copy of its own size, so that one byte too far is seen. */
	copy = memcpy(xmalloc(b.n), b.p, b.n);
	read_section(copy, b.n);
	free(copy);
	buf_free(&b);
	return 0;
}
