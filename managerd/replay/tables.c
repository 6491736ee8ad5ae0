#include "managerd/replay/tables.h"
#include "common/log.h"
#include "common/publish.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TABLE_MAX = 64 << 20, CHUNK = 1 << 20 }; /* bytes */
enum { MODULE_HEX = 16, OWNER_HEX = 8, ORIGIN_AT = MODULE_HEX + 1 + OWNER_HEX + 1 };

static const char *const suffix[TABLE_KINDS] = {".uops", ".shapes"};

static char *path_of(const char *dir, const struct table_name *name)
{
	char hex[BUILD_ID_HEX];

	return xasprintf("%s/%016" PRIx64 "-%08" PRIx32 "-%s%s", dir, name->module, name->uid,
	    build_id_hex(&name->origin, hex), suffix[name->kind]);
}

bool table_name_equal(const struct table_name *a, const struct table_name *b)
{
	return a->kind == b->kind && a->module == b->module && a->uid == b->uid &&
	       build_id_equal(&a->origin, &b->origin);
}

bool tables_have(const char *dir, const struct table_name *name)
{
	char *path = path_of(dir, name);
	bool have = access(path, R_OK) == 0;

	free(path);
	return have;
}

void tables_forget(const char *dir, const struct table_name *name)
{
	char *path = path_of(dir, name);

	unlink(path);
	free(path);
}

/* Which functions are kept of a table that is read, and what it is read from. */
struct reading {
	struct blob from;
	const struct htab *used; /* keys, NULL = all */
};

static bool is_used(void *arg, const struct hash128 *key, const void *end)
{
	struct reading *r = arg;

	blob_release(&r->from, end);
	return !r->used || htab_get(r->used, key->b, sizeof key->b);
}

static int read_table(
    const char *path, const struct htab *used, struct uops *u, bool *part, struct err *e)
{
	int fd = file_open(path, e), rc;
	struct reading r;

	if (fd < 0)
		return -1;
	r.from = blob_of_fd(fd);
	close(fd);
	r.used = r.from.n >= TABLES_LARGE ? used : NULL;
	if (part)
		*part = r.used != NULL;
	rc = uops_decode_some(r.from.p, r.from.n, is_used, &r, u, e) ? err_wrap(e, "%s", path) : 0;
	blob_free(&r.from);
	return rc;
}

int tables_load(const char *dir, const struct table_name *name, const struct htab *used,
    struct uops *u, bool *part, struct err *e)
{
	char *path = path_of(dir, name);
	int rc = 0;

	if (access(path, F_OK) == 0) {
		rc = read_table(path, used, u, part, e) ? -1 : 1;
		if (rc < 0)
			unlink(path);
	}
	free(path);
	return rc;
}

static int check_table(enum table_kind kind, struct blob *table, struct err *e)
{
	struct htab none = {0};
	struct reading r;
	struct uops u = {0};
	int rc;

	if (table->n > TABLE_MAX)
		return err_set(e, "a table of more than %d bytes", TABLE_MAX);
	if (kind == TABLE_SHAPES)
		return 0;
	r = (struct reading){blob_take(table), &none};
	rc = uops_decode_some(r.from.p, r.from.n, is_used, &r, &u, e);
	uops_free(&u);
	*table = blob_take(&r.from);
	return rc;
}

static int write_table(const char *path, struct blob *table, struct err *e)
{
	struct publish out;
	size_t at, n;

	if (publish_open(&out, path, 0600, e))
		return -1;
	table->released = 0;
	for (at = 0; at < table->n; at += n) {
		n = table->n - at < CHUNK ? table->n - at : CHUNK;
		if (file_write_all(out.fd, table->p + at, n)) {
			err_sys(e, "%s", path);
			publish_abort(&out);
			return -1;
		}
		blob_release(table, table->p + at + n);
	}
	return publish_commit(&out, e);
}

int tables_take(const char *dir, const struct table_name *name, struct blob *table, struct err *e)
{
	char *to = path_of(dir, name);
	int rc = check_table(name->kind, table, e) || dir_make(dir, 0700, e) ||
		 write_table(to, table, e);

	free(to);
	return rc ? -1 : 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && !strcmp(text + n - k, end);
}

/* The parts of a name as path_of() gives it. */
static bool read_name(const char *text, struct table_name *name)
{
	char hex[BUILD_ID_HEX] = "", *end, *owner_end;
	size_t n = strlen(text), tail;

	for (name->kind = 0; name->kind < TABLE_KINDS; name->kind++)
		if (ends_with(text, suffix[name->kind]))
			break;
	if (name->kind == TABLE_KINDS)
		return false;
	tail = strlen(suffix[name->kind]);
	if (n <= ORIGIN_AT + tail || n - ORIGIN_AT - tail >= sizeof hex ||
	    text[MODULE_HEX] != '-' || text[ORIGIN_AT - 1] != '-')
		return false;
	name->module = strtoull(text, &end, 16);
	name->uid = (uint32_t)strtoul(text + MODULE_HEX + 1, &owner_end, 16);
	memcpy(hex, text + ORIGIN_AT, n - ORIGIN_AT - tail);
	return end == text + MODULE_HEX && owner_end == text + ORIGIN_AT - 1 &&
	       build_id_parse(hex, &name->origin) == 0;
}

int tables_open_other(const char *dir, const struct table_name *name)
{
	DIR *d = opendir(dir);
	struct table_name other;
	struct dirent *de;
	int fd = -1;

	while (d && fd < 0 && (de = readdir(d)))
		if (read_name(de->d_name, &other) && other.kind == TABLE_SHAPES &&
		    other.module == name->module && other.uid == name->uid &&
		    !build_id_equal(&other.origin, &name->origin))
			fd = openat(dirfd(d), de->d_name, O_RDONLY | O_CLOEXEC);
	if (d)
		closedir(d);
	return fd;
}

void tables_sweep(
    const char *dir, bool (*keep)(void *arg, const struct table_name *name), void *arg)
{
	DIR *d = opendir(dir);
	struct table_name name;
	struct dirent *de;

	while (d && (de = readdir(d)))
		if (*de->d_name != '.' && (!read_name(de->d_name, &name) || !keep(arg, &name)) &&
		    unlinkat(dirfd(d), de->d_name, 0))
			log_warn("%s/%s: %s", dir, de->d_name, strerror(errno));
	if (d)
		closedir(d);
}
