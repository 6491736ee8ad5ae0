#include "hooks/store.h"
#include "common/places.h"
#include "common/publish.h"
#include "hooks/probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *store_folder(struct err *e)
{
	char *folders = places_artifacts(getenv("HOME"));
	size_t n = strcspn(folders, ":");
	char *folder = NULL;

	/* Without a home the machine's folder is the first; it is not ours. */
	if (n && (env_value("MORPH_ARTIFACTS") || strchr(folders, ':')))
		folder = xasprintf("%.*s", (int)n, folders);
	else
		err_set(e, "neither $MORPH_ARTIFACTS nor $HOME is set");
	free(folders);
	return folder;
}

static bool beside(const char *module)
{
	return !env_value("MORPH_STORE_ONLY") && !env_value("DEB_BUILD_ARCH") &&
	       !env_value("RPM_BUILD_ROOT") && !probe_counted(module);
}

char *store_path(const char *module, bool *passing, struct err *e)
{
	char *folder, *path = NULL;

	*passing = !beside(module);
	if (!*passing)
		return xasprintf("%s.morph", module);
	if ((folder = store_folder(e)) && dir_make(folder, 0755, e) == 0)
		path = xasprintf("%s/new-%d.morph", folder, (int)getpid());
	free(folder);
	return path;
}

int store_put(const struct build_id *id, const char *artifact, struct err *e)
{
	char *root = store_folder(e), *dir, *name;
	int r;

	if (!root)
		return -1;
	name = build_id_path(root, strlen(root), id);
	if (!name) {
		free(root);
		return err_set(e, "its build-id is too short");
	}
	dir = path_dir(name);
	r = dir_make(dir, 0755, e);
	if (!r)
		r = publish_link(artifact, name, e);
	free(root);
	free(dir);
	free(name);
	return r;
}
