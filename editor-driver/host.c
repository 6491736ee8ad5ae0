#include "editor-driver/host.h"
#include "editor/layout.h"

#include <cpuid.h>
#include <string.h>

/* Family by AMD's manual (APM volume 3, appendix E.3.2): base, and where that is 15
 * also extended. */
static unsigned family_of_amd(void)
{
	enum { BASE_MAX = 15 };
	unsigned a, b, c, d, base;
	char vendor[12];

	if (!__get_cpuid(0, &a, &b, &c, &d))
		return 0;
	memcpy(vendor, &b, 4);
	memcpy(vendor + 4, &d, 4);
	memcpy(vendor + 8, &c, 4);
	if (memcmp(vendor, "AuthenticAMD", sizeof vendor) || !__get_cpuid(1, &a, &b, &c, &d))
		return 0;
	base = a >> 8 & 15;
	return base == BASE_MAX ? base + (a >> 20 & 255) : base;
}

unsigned host_transforms(void)
{
	enum { ZEN_5 = 26 };

	return family_of_amd() == ZEN_5 ? LAYOUT_ALIGN | LAYOUT_HOPS | LAYOUT_PAGE : 0;
}
