/*
 * Reading an artifact with SQLite: a VFS that knows nothing but one open
 * descriptor, and a connection that does no more than our own statements need.
 * The database's name is "artifact?fd=N&size=BYTES"; no name is ever opened.
 */
#include "common/artifact/schema.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char VFS_NAME[] = "morph-fd";

enum { PATH_BYTES = 128, SECTOR = 4096 };

/* ---- the one file ---- */

struct vfs_file {
	sqlite3_file base;
	int fd;
	int64_t size; /* when it was opened; what is appended later is not there */
};

/* The descriptor belongs to the artifact. */
static int file_close(sqlite3_file *file)
{
	return SQLITE_OK;
}

static int file_read_at(sqlite3_file *file, void *p, int n, sqlite3_int64 at)
{
	struct vfs_file *f = (struct vfs_file *)file;
	int64_t have = at < f->size ? f->size - at : 0, done = 0;
	ssize_t r;

	if (have > n)
		have = n;
	while (done < have) {
		r = pread(f->fd, (char *)p + done, (size_t)(have - done), at + done);
		if (!r || (r < 0 && errno != EINTR))
			return SQLITE_IOERR_READ;
		done += r > 0 ? r : 0;
	}
	if (have == n)
		return SQLITE_OK;
	memset((char *)p + have, 0, (size_t)(n - have));
	return SQLITE_IOERR_SHORT_READ;
}

static int file_write_at(sqlite3_file *file, const void *p, int n, sqlite3_int64 at)
{
	return SQLITE_READONLY;
}

static int file_cut(sqlite3_file *file, sqlite3_int64 size)
{
	return SQLITE_READONLY;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
	*size = ((struct vfs_file *)file)->size;
	return SQLITE_OK;
}

/* Syncing and locking: nothing changes and nobody else is asked. */
static int file_nothing(sqlite3_file *file, int how)
{
	return SQLITE_OK;
}

static int file_reserved(sqlite3_file *file, int *out)
{
	*out = 0;
	return SQLITE_OK;
}

static int file_control(sqlite3_file *file, int op, void *arg)
{
	return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *file)
{
	return SECTOR;
}

/* Immutable: SQLite then takes no locks and looks for no journal. */
static int file_traits(sqlite3_file *file)
{
	return SQLITE_IOCAP_IMMUTABLE;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1, /* neither shared memory (no WAL) nor mapping */
    .xClose = file_close,
    .xRead = file_read_at,
    .xWrite = file_write_at,
    .xTruncate = file_cut,
    .xSync = file_nothing,
    .xFileSize = file_size,
    .xLock = file_nothing,
    .xUnlock = file_nothing,
    .xCheckReservedLock = file_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_traits,
};

/* ---- the file system, which holds nothing else ---- */

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
	struct vfs_file *f = (struct vfs_file *)file;

	f->base.pMethods = NULL;
	if (!name || !(flags & SQLITE_OPEN_MAIN_DB) || !(flags & SQLITE_OPEN_READONLY))
		return SQLITE_CANTOPEN;
	f->fd = (int)sqlite3_uri_int64(name, "fd", -1);
	f->size = sqlite3_uri_int64(name, "size", -1);
	if (f->fd < 0 || f->size < 0)
		return SQLITE_CANTOPEN;
	f->base.pMethods = &methods;
	if (out)
		*out = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_READONLY;
	return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	return SQLITE_READONLY;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *out)
{
	*out = 0;
	return SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *name, int n, char *out)
{
	return snprintf(out, (size_t)n, "%s", name) < n ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int vfs_random(sqlite3_vfs *vfs, int n, char *out)
{
	memset(out, 0, (size_t)n);
	return n;
}

static int vfs_sleep(sqlite3_vfs *vfs, int us)
{
	return 0;
}

static int vfs_time(sqlite3_vfs *vfs, double *out)
{
	*out = 0;
	return SQLITE_OK;
}

static int vfs_last_error(sqlite3_vfs *vfs, int n, char *out)
{
	return 0;
}

static void vfs_register(void)
{
	static sqlite3_vfs vfs = {
	    .iVersion = 1,
	    .szOsFile = sizeof(struct vfs_file),
	    .mxPathname = PATH_BYTES,
	    .zName = VFS_NAME,
	    .xOpen = vfs_open,
	    .xDelete = vfs_delete,
	    .xAccess = vfs_access,
	    .xFullPathname = vfs_full_path,
	    .xRandomness = vfs_random,
	    .xSleep = vfs_sleep,
	    .xCurrentTime = vfs_time,
	    .xGetLastError = vfs_last_error,
	};

	sqlite3_vfs_register(&vfs, 0);
}

/* ---- the connection ---- */

static void configure(sqlite3 *db)
{
	static const struct {
		int what, on;
	} config[] = {
	    {SQLITE_DBCONFIG_DEFENSIVE, 1},
	    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
	    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
	    {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
	    {SQLITE_DBCONFIG_ENABLE_FKEY, 0},
	    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
	    {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
	    {SQLITE_DBCONFIG_DQS_DDL, 0},
	    {SQLITE_DBCONFIG_DQS_DML, 0},
	};
	size_t i;

	for (i = 0; i < sizeof config / sizeof *config; i++)
		sqlite3_db_config(db, config[i].what, config[i].on, NULL);
}

/* As small as the statements of artifact.c and the schema's texts allow. */
static void limit(struct artifact *a)
{
	static const struct {
		int what, max;
	} limits[] = {
	    {SQLITE_LIMIT_SQL_LENGTH, 512},
	    {SQLITE_LIMIT_COLUMN, 8},
	    {SQLITE_LIMIT_EXPR_DEPTH, 4},
	    {SQLITE_LIMIT_COMPOUND_SELECT, 1},
	    {SQLITE_LIMIT_VDBE_OP, 256},
	    {SQLITE_LIMIT_FUNCTION_ARG, 1},
	    {SQLITE_LIMIT_ATTACHED, 0},
	    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1},
	    {SQLITE_LIMIT_VARIABLE_NUMBER, 2},
	    {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
	    {SQLITE_LIMIT_WORKER_THREADS, 0},
	};
	size_t i;

	for (i = 0; i < sizeof limits / sizeof *limits; i++)
		sqlite3_limit(a->db, limits[i].what, limits[i].max);
	/* No value is longer than the file. */
	sqlite3_limit(a->db, SQLITE_LIMIT_LENGTH,
	    a->file_size < SECTOR      ? SECTOR
	    : a->file_size > INT32_MAX ? INT32_MAX
				       : (int)a->file_size);
}

/* Called each STEPS steps of SQLite's machine. Reading a row of an artifact takes
 * fewer steps than twice its bytes. */
enum { STEPS = 1000, STEPS_FREE = 100 };

static int out_of_steps(void *arg)
{
	struct artifact *a = arg;

	return --a->turns < 0;
}

int artifact_connect(struct artifact *a, struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	char name[PATH_BYTES];

	pthread_once(&once, vfs_register);
	snprintf(
	    name, sizeof name, "file:artifact?fd=%d&size=%lld", a->fd, (long long)a->file_size);
	if (sqlite3_open_v2(name, &a->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, VFS_NAME) !=
	    SQLITE_OK)
		return artifact_db_error(a, e);
	configure(a->db);
	limit(a);
	a->turns = STEPS_FREE + a->file_size / (STEPS / 2);
	sqlite3_progress_handler(a->db, STEPS, out_of_steps, a);
	return sqlite3_exec(a->db,
		   "PRAGMA cell_size_check=1; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY", NULL,
		   NULL, NULL) == SQLITE_OK
		   ? 0
		   : artifact_db_error(a, e);
}
