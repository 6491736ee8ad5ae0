/*
 * cov >= 50
 * The stack of a program that begins, as a program of anybody may have left it: any bytes, behind
 * as many pointers into them as the first says, or as they are.
 */
#include "common/le.h"
#include "monitor-client/kernel/cmdline.h"

#include <stdlib.h>
#include <string.h>

enum { POINTERS = 8, VECTOR = 8 * (1 + POINTERS) };

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static char text[CMDLINE_TEXT];
	uint8_t *stack = malloc(VECTOR + n + 1);
	size_t i, at = 0, length;

	memset(stack, 0, VECTOR);
	memcpy(stack + VECTOR, p, n);
	put_le64(stack, n ? p[0] % (POINTERS + 1) : 0);
	for (i = 0; i < POINTERS; i++) {
		put_le64(stack + 8 * (1 + i), VECTOR + at);
		at += n > at ? strnlen((const char *)p + at, n - at) + 1 : 0;
	}
	for (i = 0; i <= VECTOR; i += VECTOR) {
		length = cmdline_text(stack + i, VECTOR + n - i, 0, text);
		if (length > CMDLINE_TEXT ||
		    (cmdline_shape(stack + i, VECTOR + n - i, 0) && !length))
			abort();
	}
	free(stack);
	return 0;
}
