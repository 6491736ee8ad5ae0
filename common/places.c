#include "common/places.h"
#include "common/mem.h"
#include "common/publish.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *env_value(const char *name)
{
	const char *v = getenv(name);

	return v && *v ? v : NULL;
}

static const char *absolute(const char *variable)
{
	const char *v = env_value(variable);

	return v && *v == '/' ? v : NULL;
}

char *places_user(enum user_place d)
{
	static const struct {
		const char *variable, *below;
	} dir[] = {[PLACE_CONFIG] = {"XDG_CONFIG_HOME", ".config"},
	    [PLACE_STATE] = {"XDG_STATE_HOME", ".local/state"},
	    [PLACE_CACHE] = {"XDG_CACHE_HOME", ".cache"}};

	if (absolute(dir[d].variable))
		return xasprintf("%s/morph", absolute(dir[d].variable));
	return absolute("HOME") ? xasprintf("%s/%s/morph", absolute("HOME"), dir[d].below) : NULL;
}

char *places_state(void)
{
	return env_value("MORPH_STATE") ? xstrdup(env_value("MORPH_STATE"))
					: places_user(PLACE_STATE);
}

char *places_run(void)
{
	char *state, *run;

	if (env_value("MORPH_RUN"))
		return xstrdup(env_value("MORPH_RUN"));
	if (!env_value("MORPH_STATE") && absolute("XDG_RUNTIME_DIR"))
		return xasprintf("%s/morph", absolute("XDG_RUNTIME_DIR"));
	state = places_state();
	run = state ? xasprintf("%s/run", state) : NULL;
	free(state);
	return run;
}

char *places_machine_socket(const char *name)
{
	return xasprintf("/run/morph/%s", name);
}

char *places_socket(const char *name)
{
	char *machine = places_machine_socket(name), *run, *own;

	if (!env_value("MORPH_RUN") && geteuid() == 0)
		return machine;
	run = places_run();
	own = run ? xasprintf("%s/%s", run, name) : NULL;
	free(run);
	if (own && (env_value("MORPH_RUN") || env_value("MORPH_STATE") || !access(own, F_OK) ||
		       access(machine, F_OK))) {
		free(machine);
		return own;
	}
	free(own);
	return machine;
}

char *places_artifacts(const char *home)
{
	const char *list = getenv("MORPH_ARTIFACTS");

	if (list)
		return xstrdup(list);
	if (home && *home == '/')
		return xasprintf("%s/.local/share/morph:/usr/lib/morph", home);
	return xstrdup("/usr/lib/morph");
}

char *places_own(const char *relative)
{
	char *self = realpath("/proc/self/exe", NULL), *dir = self ? path_dir(self) : NULL;
	char *path = dir ? xasprintf("%s/%s", dir, relative) : NULL;
	char *real = path ? realpath(path, NULL) : NULL;

	free(path);
	free(dir);
	free(self);
	return real;
}

char *places_search(
    const char *name, bool (*usable)(const char *path, const void *arg), const void *arg)
{
	const char *p = getenv("PATH"), *end;
	char *path;

	for (p = p ? p : "/usr/local/bin:/usr/bin:/bin"; p; p = *end ? end + 1 : NULL) {
		end = strchrnul(p, ':');
		path =
		    xasprintf("%.*s/%s", end == p ? 1 : (int)(end - p), end == p ? "." : p, name);
		if (!access(path, X_OK) && (!usable || usable(path, arg)))
			return path;
		free(path);
	}
	return NULL;
}

static char *search_folder(
    const char *folder, const char *prefix, bool (*usable)(const char *path, void *arg), void *arg)
{
	DIR *d = opendir(folder);
	char *found = NULL;
	struct dirent *x;

	while (d && !found && (x = readdir(d))) {
		if (strncmp(x->d_name, prefix, strlen(prefix)))
			continue;
		found = xasprintf("%s/%s", folder, x->d_name);
		if (access(found, X_OK) || !usable(found, arg)) {
			free(found);
			found = NULL;
		}
	}
	if (d)
		closedir(d);
	return found;
}

char *places_search_prefix(
    const char *prefix, bool (*usable)(const char *path, void *arg), void *arg)
{
	const char *p = getenv("PATH"), *end;
	char *folder, *found = NULL;

	for (p = p ? p : "/usr/local/bin:/usr/bin:/bin"; p && !found; p = *end ? end + 1 : NULL) {
		end = strchrnul(p, ':');
		folder = xasprintf("%.*s", end == p ? 1 : (int)(end - p), end == p ? "." : p);
		found = search_folder(folder, prefix, usable, arg);
		free(folder);
	}
	return found;
}
