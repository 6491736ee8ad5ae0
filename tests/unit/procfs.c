/* The file at a path counts only if it is the one that was mapped. */
#include "monitor-client/kernel/procfs.h"
#include "common/mem.h"
#include "common/publish.h"
#include "tests/unit/mapping.h"
#include "tests/unit/unit.h"

#include <string.h>
#include <sys/stat.h>

static char dir[64], *path;

static void write_file(const char *at)
{
	ck_assert_int_eq(publish_bytes(at, "x", 1, 0600, NULL), 0);
}

static void setup(void)
{
	strcpy(dir, "/tmp/morph-procfs.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	path = xasprintf("%s/x", dir);
	write_file(path);
}

static void teardown(void)
{
	free(path);
	ck_assert_int_eq(dir_remove(dir, NULL), 0);
}

static bool is_there(const struct event_map *m)
{
	int fd = procfs_below(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), m);
	char c = 0;

	if (fd < 0)
		return false;
	ck_assert_int_eq(read(fd, &c, 1), 1);
	ck_assert_int_eq(c, 'x');
	close(fd);
	return true;
}

START_TEST(device_inode_and_generation_decide)
{
	struct event_map is = mapping_of(path), m = is;

	ck_assert(is_there(&m));
	m.ino++;
	ck_assert(!is_there(&m));
	m = is;
	m.min++;
	ck_assert(!is_there(&m));
	m = is;
	m.maj++;
	ck_assert(!is_there(&m));
	m = is;
	m.gen = 0; /* of /proc/PID/maps */
	ck_assert(is_there(&m));
	if (is.gen) {
		m.gen = is.gen ^ 1;
		ck_assert(!is_there(&m));
	}
	m = is;
	m.ino = 0; /* of a record with a build-id */
	ck_assert(!is_there(&m));
}
END_TEST

/* Its inode may be given again at once, as ext4 does. */
START_TEST(a_file_made_anew_is_another)
{
	struct event_map was = mapping_of(path), is;

	ck_assert_int_eq(unlink(path), 0);
	ck_assert(!is_there(&was));
	write_file(path);
	is = mapping_of(path);
	ck_assert(is_there(&is));
	if (was.gen != is.gen || was.ino != is.ino)
		ck_assert(!is_there(&was));
}
END_TEST

START_TEST(what_is_no_regular_file_is_not_opened)
{
	struct event_map m = mapping_of(path);
	struct stat st;

	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkfifo(path, 0600), 0); /* whose opening would wait */
	ck_assert_int_eq(stat(path, &st), 0);
	m.ino = st.st_ino;
	m.gen = 0;
	ck_assert(!is_there(&m));
	m.path = dir;
	ck_assert(!is_there(&m));
	m.path = (char *)"[vdso]";
	ck_assert(!is_there(&m));
}
END_TEST

UNIT_MAIN("procfs", 0, setup, teardown, device_inode_and_generation_decide,
    a_file_made_anew_is_another, what_is_no_regular_file_is_not_opened)
