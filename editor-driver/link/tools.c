#include "editor-driver/link/tools.h"
#include "common/places.h"
#include "common/publish.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_absolute(const char *path, const void *arg)
{
	return *path == '/';
}

char *tool_find(const char *name, struct err *e)
{
	char *path = places_search(name, is_absolute, NULL);

	if (!path)
		err_set(e, "%s: not found in PATH; the editor needs binutils", name);
	return path;
}

int tool_version(const char *path, struct hash128 *out, struct err *e)
{
	struct buf b = {0};
	struct stat st;
	int rc;

	if (stat(path, &st))
		return err_sys(e, "%s", path);
	rc = file_read("/proc/self/exe", 0, &b, e);
	buf_printf(&b, "%s %lld %lld.%09ld", path, (long long)st.st_size,
	    (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	*out = hash_bytes(b.p, b.n);
	buf_free(&b);
	return rc;
}
