/* Where files lie, by variables and the home. */
#include "common/places.h"
#include "common/mem.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const variables[] = {"MORPH_STATE", "MORPH_RUN", "MORPH_ARTIFACTS", "HOME",
    "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "PATH"};

static void setup(void)
{
	size_t i;

	for (i = 0; i < sizeof variables / sizeof *variables; i++)
		unsetenv(variables[i]);
	setenv("HOME", "/home/x", 1);
}

static void ck(char *got, const char *expected)
{
	ck_assert_pstr_eq(got, expected);
	free(got);
}

START_TEST(of_a_user)
{
	ck(places_user(PLACE_CONFIG), "/home/x/.config/morph");
	ck(places_user(PLACE_STATE), "/home/x/.local/state/morph");
	ck(places_user(PLACE_CACHE), "/home/x/.cache/morph");
	setenv("XDG_CONFIG_HOME", "/conf", 1);
	setenv("XDG_STATE_HOME", "relative", 1);
	setenv("XDG_CACHE_HOME", "", 1);
	ck(places_user(PLACE_CONFIG), "/conf/morph");
	ck(places_user(PLACE_STATE), "/home/x/.local/state/morph");
	ck(places_user(PLACE_CACHE), "/home/x/.cache/morph");
	setenv("HOME", "relative", 1);
	ck(places_user(PLACE_STATE), NULL);
	unsetenv("HOME");
	ck(places_user(PLACE_STATE), NULL);
}
END_TEST

START_TEST(of_a_manager)
{
	ck(places_state(), "/home/x/.local/state/morph");
	ck(places_run(), "/home/x/.local/state/morph/run");
	setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	ck(places_run(), "/run/user/7/morph");
	setenv("MORPH_STATE", "/s", 1);
	ck(places_state(), "/s");
	ck(places_run(), "/s/run");
	setenv("MORPH_RUN", "/r", 1);
	ck(places_run(), "/r");
	ck(places_socket("api.sock"), "/r/api.sock");
}
END_TEST

/* The machine's only where it is there and the user's own is not. */
START_TEST(sockets)
{
	if (!geteuid())
		ck(places_socket("none.sock"), "/run/morph/none.sock");
	if (geteuid() || !setresuid(65534, 65534, 65534)) {
		ck(places_socket("none.sock"), "/home/x/.local/state/morph/run/none.sock");
		setenv("MORPH_STATE", "/s", 1);
		ck(places_socket("none.sock"), "/s/run/none.sock");
	}
}
END_TEST

START_TEST(artifacts)
{
	ck(places_artifacts("/h"), "/h/.local/share/morph:/usr/lib/morph");
	ck(places_artifacts("h"), "/usr/lib/morph");
	ck(places_artifacts(NULL), "/usr/lib/morph");
	setenv("MORPH_ARTIFACTS", "/a:/b", 1);
	ck(places_artifacts("/h"), "/a:/b");
}
END_TEST

START_TEST(own_program)
{
	char *self = realpath("/proc/self/exe", NULL), *own;

	ck_assert_ptr_nonnull(self);
	own = places_own("places");
	ck_assert_pstr_eq(own, self);
	free(own);
	free(self);
	ck(places_own("no-such-program"), NULL);
}
END_TEST

static bool not_in_bin(const char *path, const void *arg)
{
	return path[1] != *(const char *)arg;
}

START_TEST(search)
{
	setenv("PATH", "/nonexistent:/bin:/usr/bin", 1);
	ck(places_search("sh", NULL, NULL), "/bin/sh");
	ck(places_search("sh", not_in_bin, "b"), "/usr/bin/sh");
	ck(places_search("no-such-program", NULL, NULL), NULL);
	setenv("PATH", ":/nonexistent", 1); /* an empty part is the working directory */
	ck_assert_int_eq(chdir("/bin"), 0);
	ck(places_search("sh", NULL, NULL), "./sh");
}
END_TEST

UNIT_MAIN(
    "places", 0, setup, NULL, of_a_user, of_a_manager, sockets, artifacts, own_program, search)
