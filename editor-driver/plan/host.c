#include "editor-driver/plan/passes.h"

#include <cpuid.h>

/* Family by AMD's manual (APM volume 3, appendix E.3.2): base, and where that is 15
 * also extended. */
static unsigned family_of_amd(void)
{
	enum { BASE_MAX = 15 };
	unsigned a, b, c, d, base;

	if (!__get_cpuid(0, &a, &b, &c, &d) || b != signature_AMD_ebx || c != signature_AMD_ecx ||
	    d != signature_AMD_edx || !__get_cpuid(1, &a, &b, &c, &d))
		return 0;
	base = a >> 8 & 15;
	return base == BASE_MAX ? base + (a >> 20 & 255) : base;
}

/* Tuned on ten programs (docs/notes/zen5.md, "Hops" and "Lines"), judged on ten others
 * (docs/bench/unseen.md). */
static const struct {
	unsigned family;
	struct layout_cpu is;
} KNOWN[] = {
    {.family = 26, /* Zen 5 */
	.is =
	    {.lines_share = .001, .hop_func_bits = .3, .hop_calls = 1. / 32, .hop_jump_bits = .8}},
};

const struct layout_cpu *host_cpu(void)
{
	static const struct layout_cpu unknown = {0};
	unsigned family = family_of_amd();
	size_t i;

	for (i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
		if (KNOWN[i].family == family)
			return &KNOWN[i].is;
	return &unknown;
}
