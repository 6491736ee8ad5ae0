/*
 * cov >= 60
 * Lists of functions: what is read can be found by its name, at its position, once.
 */
#include "common/profiletext/funclist.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct funclist l = {0};
	struct buf text = {0};
	struct err e = {""};
	const uint64_t *at;
	size_t i;

	buf_add(&text, p, n);
	if (funclist_parse(&l, &text, "fuzz", &e) && !e.text[0])
		abort();
	for (i = 0; i < l.name.n; i++) {
		at = htab_get_str(&l.index, l.name.v[i]);
		if (!at || *at != i || !*l.name.v[i] || strpbrk(l.name.v[i], " \t\r\n"))
			abort();
	}
	funclist_free(&l);
	return 0;
}
