#include "throws.h"

int other_templates(int n)
{
	say("%s %s", tell(n + 2L, n + 2).c_str(), tell(n + 3., n).c_str());
	return 0;
}
