/*
 * cov >= 120
 * Journal entries: any bytes. What is accepted encodes to what decodes to the same,
 * and names no file outside the module's folder.
 */
#include "managerd/parent/swap/journal.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct buf one = {0}, two = {0};
	struct journal j, k;
	struct err e = {""};

	if (journal_decode((const char *)p, n, &j, &e)) {
		if (!*e.text || j.module || j.stage)
			abort();
		return 0;
	}
	if (*j.module != '/' || *j.stage != '.' || strchr(j.stage, '/') || !j.keep || !j.from.n)
		abort();
	journal_encode(&j, &one);
	if (journal_decode(one.p, one.n, &k, &e))
		abort();
	journal_encode(&k, &two);
	if (one.n != two.n || memcmp(one.p, two.p, one.n) || strcmp(j.module, k.module))
		abort();
	buf_free(&one);
	buf_free(&two);
	journal_free(&j);
	journal_free(&k);
	return 0;
}
