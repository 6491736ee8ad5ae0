#include "editor-driver/plan/host.h"
#include "editor/layout/layout.h"

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

unsigned host_transforms(void)
{
	enum { ZEN_5 = 26 };

	return LAYOUT_TAILS | LAYOUT_THREAD | LAYOUT_GOT |
	       (family_of_amd() == ZEN_5
		       ? LAYOUT_FRUGAL | LAYOUT_HOPS | LAYOUT_LINES | LAYOUT_PAGE
		       : LAYOUT_SPREAD);
}
