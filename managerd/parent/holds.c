#include "managerd/parent/holds.h"
#include "common/publish.h"
#include "managerd/parent/swap/swap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool holds_have(const char *state, const char *module)
{
	char *path = swap_path(state, "holds", module);
	bool have = !access(path, F_OK);

	free(path);
	return have;
}

int holds_set(const char *state, const char *module, bool held, struct err *e)
{
	char *path = swap_path(state, "holds", module), *dir = path_dir(path);
	int r = 0;

	if (held)
		r = dir_make(dir, 0700, e) ? -1
					   : publish_bytes(path, module, strlen(module), 0600, e);
	else if (unlink(path) && errno != ENOENT)
		r = err_sys(e, "%s", path);
	free(dir);
	free(path);
	return r;
}
