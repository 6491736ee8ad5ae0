#include "throws.h"

int use_templates(int n)
{
	say("%s %s", tell(n, n).c_str(), tell(n + 1L, n + 1).c_str());
	return 0;
}
