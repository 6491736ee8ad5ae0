#include "common/artifact/artifact.h"
#include "common/elf/elf.h"
#include "common/places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 1 when the file at path is the artifact of this build, 0 when there is none
 * or it is another's, -1 when it cannot be read. */
static int is_artifact_of(const char *path, const struct build_id *id, struct err *e)
{
	struct build_id have;

	if (access(path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (artifact_peek(path, &have, NULL, e) < 0)
		return -1;
	return build_id_equal(&have, id);
}

/* Takes path over: returned when it is the one, else freed. */
static char *try(char *path, const struct build_id *id, struct err *e)
{
	if (is_artifact_of(path, id, e) > 0)
		return path;
	free(path);
	return NULL;
}

static char *try_folder(const char *dir, size_t n, const struct build_id *id, struct err *e)
{
	char *path = n ? build_id_path(dir, n, id) : NULL;

	return path ? try(path, id, e) : NULL;
}

static char *find_build(
    const char *module, const char *folders, const struct build_id *id, struct err *e)
{
	char *found = module ? try(xasprintf("%s.morph", module), id, e) : NULL;
	size_t n;

	while (!found && *folders) {
		n = strcspn(folders, ":");
		found = try_folder(folders, n, id, e);
		folders += n + (folders[n] == ':');
	}
	return found;
}

/* The origin of this very build; n = 0 when the module is another by now, or
 * was not laid out. */
static struct build_id origin_of(const char *module, const struct build_id *id)
{
	struct elf *f = elf_file_open(module, -1, NULL);
	struct build_id now = {0}, origin = {0};

	if (f) {
		now = elf_file_build_id(f);
		if (build_id_equal(&now, id))
			origin = elf_file_origin(f);
		elf_file_close(f);
	}
	return origin;
}

char *artifact_find(const char *module, const struct build_id *id, struct err *e)
{
	char *folders = places_artifacts(getenv("HOME")), *found, hex[BUILD_ID_HEX];
	struct build_id origin;

	build_id_hex(id, hex);
	if (module)
		err_set(e, "%s: no artifact for build-id %s (looked beside it and in %s)", module,
		    hex, folders);
	else
		err_set(e, "no artifact for build-id %s in %s", hex, folders);
	found = find_build(module, folders, id, e);
	if (!found && module) {
		origin = origin_of(module, id);
		if (origin.n)
			found = find_build(module, folders, &origin, e);
	}
	free(folders);
	return found;
}
