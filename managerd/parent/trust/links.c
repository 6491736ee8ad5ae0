#include "managerd/parent/trust/links.h"
#include "common/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

static bool is_file(int dir, const char *name, const struct trusted *t)
{
	struct stat st;

	return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && st.st_dev == t->st.st_dev &&
	       st.st_ino == t->st.st_ino;
}

/* An entry of HOME/.debug/PATH, which a build-id names. */
static bool is_link(int dir, const char *name, const struct trusted *t)
{
	int below;
	bool is;

	if (is_file(dir, name, t))
		return true;
	below = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	is = below >= 0 && is_file(below, "elf", t);
	if (below >= 0)
		close(below);
	return is;
}

/* How many of a folder's first entries are the file. */
static unsigned count_entries(int dir, unsigned most, const struct trusted *t,
    bool (*is)(int dir, const char *name, const struct trusted *t))
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	unsigned n = 0, seen = 0;
	struct dirent *de;

	while (d && seen++ < most && (de = readdir(d)))
		n += de->d_name[0] != '.' && is(dirfd(d), de->d_name, t);
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	return n;
}

unsigned links_beside(const struct trusted *t)
{
	return count_entries(t->dir, UINT_MAX, t, is_file);
}

unsigned links_of_perf_in(const char *home, const struct trusted *t)
{
	/* Of the file in it that this names only the folder is reached. */
	char *path = xasprintf("%s/.debug%s/.", home, t->path);
	int dir = *home == '/' ? trust_folder(path) : -1;
	unsigned n = dir >= 0 ? count_entries(dir, LINKS_PERF_MAX, t, is_link) : 0;

	if (dir >= 0)
		close(dir);
	free(path);
	return n;
}

static char *home_of(uid_t uid)
{
	const struct passwd *p = getpwuid(uid);

	return p && p->pw_dir ? xstrdup(p->pw_dir) : NULL;
}

unsigned links_of_perf(const struct trusted *t)
{
	char *own = home_of(t->st.st_uid), *roots = t->st.st_uid ? home_of(0) : NULL;
	unsigned n =
	    (own ? links_of_perf_in(own, t) : 0) + (roots ? links_of_perf_in(roots, t) : 0);

	free(own);
	free(roots);
	return n;
}
