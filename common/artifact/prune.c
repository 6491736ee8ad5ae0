#include "common/artifact/prune.h"
#include "common/mem.h"
#include "common/sort.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct stored {
	char *path;
	time_t when;
	uint64_t size;
};

struct store {
	VEC(struct stored) file;
	uint64_t size;
};

static int by_age(const void *a, const void *b)
{
	const struct stored *x = a, *y = b;

	return ORDER(x->when, y->when);
}

static void look_into(struct store *s, const char *folder, bool below)
{
	DIR *d = opendir(folder);
	struct dirent *x;
	struct stat st;
	char *path;

	while (d && (x = readdir(d))) {
		path = xasprintf("%s/%s", folder, x->d_name);
		if (*x->d_name == '.' || lstat(path, &st) < 0) {
			free(path);
		} else if (below && S_ISREG(st.st_mode) && st.st_nlink == 1) {
			vec_push(
			    &s->file, (struct stored){path, st.st_mtime, (uint64_t)st.st_size});
			s->size += (uint64_t)st.st_size;
		} else {
			if (!below && S_ISDIR(st.st_mode))
				look_into(s, path, true);
			free(path);
		}
	}
	if (d)
		closedir(d);
}

void artifacts_prune(const char *folder, uint64_t max)
{
	struct store s = {0};
	size_t i;

	look_into(&s, folder, false);
	if (s.size > max)
		vec_sort(&s.file, by_age);
	for (i = 0; i < s.file.n; i++) {
		if (s.size > max && !unlink(s.file.v[i].path))
			s.size -= s.file.v[i].size;
		free(s.file.v[i].path);
	}
	vec_free(&s.file);
}
