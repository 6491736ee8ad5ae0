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
	if (!strcmp(base, "dummy.o") && strstr(path, "/cg"))
		return true;
	for (i = 0; i < sizeof folder / sizeof *folder; i++)
		if (strstr(path, folder[i]))
			return true;
	return false;
}

bool probe_source(const char *name)
{
	const char *base = path_base(name);

	return !strncmp(base, "conftest.", 9) ||
	       (!strncmp(base, "CMake", 5) && strstr(base, "CompilerId."));
}

bool probe_counted(const char *path)
{
	return strstr(path, "/_build/sub/") != NULL;
}
