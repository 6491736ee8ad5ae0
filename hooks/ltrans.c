#include "hooks/ltrans.h"
#include "common/mem.h"
#include "common/places.h"
#include "common/publish.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char TMPDIR[] = "TMPDIR";

static char *folder, *before; /* before: the variable, NULL = not set */

bool ltrans_is_plugin(const char *plugin)
{
	static const char option[] = "-save-temps";
	struct buf b = {0};
	bool is;

	is = !strncmp(path_base(plugin), "liblto_plugin.", 14) &&
	     file_read(plugin, 0, &b, NULL) == 0 && memmem(b.p, b.n, option, sizeof option);
	buf_free(&b);
	return is;
}

const char *ltrans_open(void)
{
	const char *dir = env_value(TMPDIR);
	char *path = realpath(dir ? dir : "/tmp", NULL);

	if (!path)
		return NULL;
	folder = xasprintf("%s/morph-lto-XXXXXX", path);
	free(path);
	before = dir ? xstrdup(dir) : NULL;
	if (mkdtemp(folder) && !setenv(TMPDIR, folder, 1))
		return folder;
	free(folder);
	return folder = NULL;
}

void ltrans_leave(void)
{
	if (folder && before)
		setenv(TMPDIR, before, 1);
	else if (folder)
		unsetenv(TMPDIR);
}

void ltrans_close(void)
{
	DIR *d = folder ? opendir(folder) : NULL;
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (*entry->d_name != '.')
			unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
	if (folder)
		rmdir(folder);
	free(folder);
	free(before);
	folder = before = NULL;
}
