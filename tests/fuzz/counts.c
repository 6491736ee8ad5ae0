/*
 * cov >= 140
 * Profiles as text, in both forms: what is read adds up.
 */
#include "editor-driver/profile/counts.h"

#include <stdlib.h>

static void check_flows(
    const struct counts_flow *v, size_t n, size_t func, uint32_t nblock, uint32_t nto)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (v[i].func > func || v[i].block >= nblock || v[i].to >= nto ||
		    v[i].value > (uint64_t)1 << 60 ||
		    (i && v[i - 1].block == v[i].block && v[i - 1].to >= v[i].to))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static const uint32_t insns[] = {1, 2, UINT32_MAX};
	static const struct art_func func[] = {
	    {.name = "f", .key.b = {0xab, 0xcd, 0xef, 0x01}, .nblock = 3, .insns = insns},
	    {.name = "g", .key.b = {1}, .nblock = 1, .insns = insns},
	    {.name = "g", .key.b = {1, 2}, .nblock = 2, .insns = insns},
	    {.name = "f", .key.b = {0xab, 0xcd, 0xef, 0x01}, .nblock = 3, .insns = insns}};
	const struct counts_flow *v;
	struct counts c;
	struct err e;
	size_t i, k;

	if (!n)
		return 0;
	if (!counts_parse((const char *)p + 1, n - 1, "fuzz",
		p[0] & 1 ? COUNTS_SAMPLES : COUNTS_EXECUTIONS, func, 4, &c, &e)) {
		if (c.used > c.total || c.unknown + c.ambiguous + c.no_block > c.lines)
			abort();
		if (c.block[0] != c.block[3] || counts_weight(&c, func, 0) > (uint64_t)1 << 60)
			abort();
		for (i = 0; i < 4; i++) {
			k = counts_flows(&c, i, COUNTS_EDGES, &v);
			check_flows(v, k, i, func[i].nblock, func[i].nblock);
			k = counts_flows(&c, i, COUNTS_CALLS, &v);
			check_flows(v, k, i, func[i].nblock, 4);
		}
	}
	counts_free(&c);
	return 0;
}
