#include "morphctl/compilers.h"
#include "common/command/driver.h"
#include "common/command/linker.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/places.h"
#include "common/publish.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Another build, with another PATH, may need a name that this one does not. */
enum { UNUSED_SECONDS = 24 * 3600 };

struct names {
	char *folder;
	char *cc, *as, *ld; /* what the links lead to */
	struct htab have;   /* name -> wanted */
};

/* What a program of this name is replaced by; NULL = by nothing. */
static const char *target_of(const struct names *n, const char *name)
{
	static const char *const as[] = {"as", "x86_64-linux-gnu-as"},
				 *const ld[] = {"x86_64-linux-gnu-ld", "x86_64-linux-gnu-ld.bfd",
				     "x86_64-linux-gnu-ld.gold"};
	size_t i;

	for (i = 0; i < sizeof as / sizeof *as; i++)
		if (!strcmp(name, as[i]))
			return n->as;
	for (i = 0; i < sizeof ld / sizeof *ld; i++)
		if (!strcmp(name, ld[i]))
			return n->ld;
	if (linker_named(name) != LINKER_UNKNOWN)
		return n->ld;
	return driver_name(name) || driver_caller(name) ? n->cc : NULL;
}

static void put_link(const char *name, const char *to)
{
	size_t n = strlen(to), room = n + 2;
	char *now = xmalloc(room), *tmp = xasprintf("%s.%d", name, (int)getpid());
	ssize_t r = readlink(name, now, room);

	if (r >= 0 && (size_t)r == n && !memcmp(now, to, n))
		utimensat(AT_FDCWD, name, NULL, AT_SYMLINK_NOFOLLOW);
	else if (symlink(to, tmp) < 0 || rename(tmp, name) < 0)
		unlink(tmp);
	free(now);
	free(tmp);
}

/* Is this a program, and neither a hook nor a link to one? */
static bool is_program(const struct names *n, const char *path)
{
	char *real = realpath(path, NULL);
	struct stat st;
	bool is = real && stat(real, &st) == 0 && S_ISREG(st.st_mode) && !access(real, X_OK) &&
		  strcmp(real, n->cc) != 0 && strcmp(real, n->as) != 0 && strcmp(real, n->ld) != 0;

	free(real);
	return is;
}

static void take_folder(struct names *n, const char *folder)
{
	DIR *d = opendir(folder);
	const char *to;
	struct dirent *x;
	char *path, *name;

	while (d && (x = readdir(d))) {
		to = target_of(n, x->d_name);
		if (!to || htab_get_str(&n->have, x->d_name))
			continue;
		path = xasprintf("%s/%s", folder, x->d_name);
		if (is_program(n, path)) {
			*htab_put_str(&n->have, x->d_name, NULL) = 1;
			name = xasprintf("%s/%s", n->folder, x->d_name);
			put_link(name, to);
			free(name);
		}
		free(path);
	}
	if (d)
		closedir(d);
}

/* A name of a compiler that is gone would mislead configure scripts. */
static void remove_others(const struct names *n)
{
	DIR *d = opendir(n->folder);
	time_t now = time(NULL);
	struct dirent *x;
	struct stat st;

	while (d && (x = readdir(d)))
		if (target_of(n, x->d_name) && !htab_get_str(&n->have, x->d_name) &&
		    !fstatat(dirfd(d), x->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    now - st.st_mtime > UNUSED_SECONDS)
			unlinkat(dirfd(d), x->d_name, 0);
	if (d)
		closedir(d);
}

static void bring_up_to_date(struct names *n)
{
	const char *p = getenv("PATH"), *end;
	char *folder;

	for (p = p ? p : "/usr/local/bin:/usr/bin:/bin"; p; p = *end ? end + 1 : NULL) {
		end = strchrnul(p, ':');
		folder = xasprintf("%.*s", (int)(end - p), p);
		if (*folder == '/')
			take_folder(n, folder);
		free(folder);
	}
	remove_others(n);
}

char *compilers_folder(void)
{
	char *state = places_user(PLACE_STATE);
	struct names n = {.cc = places_own("morph-cc"),
	    .as = places_own("../libexec/morph/as"),
	    .ld = places_own("../libexec/morph/ld")};
	bool whole = n.cc && n.as && n.ld;

	if (state)
		n.folder = xasprintf("%s/compilers", state);
	if (whole && n.folder && dir_make(n.folder, 0700, NULL) == 0 && !access(n.folder, W_OK)) {
		bring_up_to_date(&n);
	} else {
		free(n.folder);
		n.folder = places_own("../libexec/morph/masquerade");
	}
	if (!n.folder)
		log_error("hooks are not there: ../libexec/morph/masquerade, from the folder of "
			  "morphctl (make links, or make install)");
	htab_free(&n.have);
	free(state);
	free(n.cc);
	free(n.as);
	free(n.ld);
	return n.folder;
}
