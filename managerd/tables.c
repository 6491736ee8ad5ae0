#include "managerd/tables.h"
#include "common/log.h"
#include "common/publish.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TABLE_MAX = 64 << 20, MODULE_HEX = 16 };

static const char suffix[] = ".uops";

static char *path_of(const char *dir, uint64_t module, const struct build_id *origin)
{
	char hex[BUILD_ID_HEX];

	return xasprintf("%s/%016" PRIx64 "-%s%s", dir, module, build_id_hex(origin, hex), suffix);
}

bool tables_have(const char *dir, uint64_t module, const struct build_id *origin)
{
	char *path = path_of(dir, module, origin);
	bool have = access(path, R_OK) == 0;

	free(path);
	return have;
}

static bool is_used(void *arg, const struct hash128 *key)
{
	return htab_get(arg, key->b, sizeof key->b) != NULL;
}

static int read_table(const char *path, struct buf *bytes, const struct htab *used,
    struct uops *u, bool *part, struct err *e)
{
	bool some;

	if (file_read(path, TABLE_MAX, bytes, e))
		return -1;
	some = used && bytes->n >= TABLES_LARGE;
	if (part)
		*part = some;
	return uops_decode_some(bytes->p, bytes->n, some ? is_used : NULL, (void *)used, u, e)
		   ? err_wrap(e, "%s", path)
		   : 0;
}

int tables_load(const char *dir, uint64_t module, const struct build_id *origin,
    const struct htab *used, struct uops *u, bool *part, struct err *e)
{
	char *path = path_of(dir, module, origin);
	struct buf bytes = {0};
	int rc = 0;

	if (access(path, F_OK) == 0) {
		rc = read_table(path, &bytes, used, u, part, e) ? -1 : 1;
		if (rc < 0)
			unlink(path);
	}
	buf_free(&bytes);
	free(path);
	return rc;
}

static bool none(void *arg, const struct hash128 *key)
{
	return false;
}

int tables_take(const char *dir, uint64_t module, const struct build_id *origin, const void *table,
    size_t n, struct err *e)
{
	char *to = path_of(dir, module, origin);
	struct uops u = {0};
	int rc = n <= TABLE_MAX ? uops_decode_some(table, n, none, NULL, &u, e)
				: err_set(e, "a table of more than %d bytes", TABLE_MAX);

	if (rc == 0 && (dir_make(dir, 0700, e) || publish_bytes(to, table, n, 0600, e)))
		rc = -1;
	uops_free(&u);
	free(to);
	return rc;
}

/* The parts of a name as path_of() gives it. */
static bool read_name(const char *name, uint64_t *module, struct build_id *origin)
{
	char hex[BUILD_ID_HEX] = "", *end;
	size_t n = strlen(name), tail = sizeof suffix - 1;

	if (n <= MODULE_HEX + 1 + tail || n - MODULE_HEX - 1 - tail >= sizeof hex ||
	    name[MODULE_HEX] != '-' || strcmp(name + n - tail, suffix))
		return false;
	*module = strtoull(name, &end, 16);
	memcpy(hex, name + MODULE_HEX + 1, n - MODULE_HEX - 1 - tail);
	return end == name + MODULE_HEX && build_id_parse(hex, origin) == 0;
}

void tables_sweep(const char *dir,
    bool (*keep)(void *arg, uint64_t module, const struct build_id *origin), void *arg)
{
	DIR *d = opendir(dir);
	struct build_id origin;
	struct dirent *de;
	uint64_t module;

	while (d && (de = readdir(d)))
		if (*de->d_name != '.' &&
		    (!read_name(de->d_name, &module, &origin) || !keep(arg, module, &origin)) &&
		    unlinkat(dirfd(d), de->d_name, 0))
			log_warn("%s/%s: %s", dir, de->d_name, strerror(errno));
	if (d)
		closedir(d);
}
