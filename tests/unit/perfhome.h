/* Perf's cache in a test's own home folder: getpwuid() names that one for every user. */
#ifndef MORPH_TESTS_PERFHOME_H
#define MORPH_TESTS_PERFHOME_H

#include "common/mem.h"
#include "common/publish.h"

#include <check.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *perf_home;

struct passwd *getpwuid(uid_t uid)
{
	static char name[] = "tester";
	static struct passwd p;

	p = (struct passwd){.pw_name = name, .pw_uid = uid, .pw_dir = (char *)perf_home};
	return perf_home && uid == geteuid() ? &p : NULL;
}

/* As perf buildid-cache does; returns the new name, to free. */
static inline char *perf_adds(const char *program, const char *build_id, const char *name)
{
	char *folder = xasprintf("%s/.debug%s/%s", perf_home, program, build_id);
	char *path = xasprintf("%s%s%s", folder, *name ? "/" : "", name);
	char *above = path_dir(path);

	ck_assert_int_eq(dir_make(above, 0755, NULL), 0);
	ck_assert_int_eq(link(program, path), 0);
	free(folder);
	free(above);
	return path;
}

#endif
