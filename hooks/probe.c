#include "hooks/probe.h"
#include "common/publish.h"

#include <stddef.h>
#include <string.h>

bool probe_output(const char *path)
{
	static const char *const folder[] = {"/CMakeFiles/CMakeTmp/", "/CMakeFiles/CMakeScratch/",
	    "/CompilerIdC/", "/CompilerIdCXX/", "/meson-private/"};
	const char *base = path_base(path);
	size_t i;

	if (!strncmp(base, "conftest", 8) && (!base[8] || base[8] == '.'))
		return true;
	for (i = 0; i < sizeof folder / sizeof *folder; i++)
		if (strstr(path, folder[i]))
			return true;
	return false;
}
