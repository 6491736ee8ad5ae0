/* pid -> ranges -> build-id and offset, from events and from a /proc of ours. */
#include "monitor-client/kernel/cmdline.h"
#include "monitor-client/maps/maps.h"
#include "common/mem.h"
#include "common/publish.h"
#include "monitor-client/kernel/clock.h"
#include "monitor-client/maps/lookup.h"
#include "tests/unit/mapping.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];
static struct maps *m;
static struct lookup lookup;
static uint64_t sampled_at;

static void start(bool whole_machine)
{
	static const struct rights_user same;
	struct err e;

	strcpy(dir, "/tmp/morph-maps.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_msg(lookup_start(&lookup, dir, &same, &e) == 0, "%s", e.text);
	m = maps_new(dir, &lookup, MAPS_NOBODY, whole_machine);
}

static void setup(void)
{
	start(false);
	sampled_at = 1000;
}

static void teardown(void)
{
	struct err e;

	maps_free(m);
	lookup_end(&lookup);
	ck_assert_msg(dir_remove(dir, &e) == 0, "%s", e.text);
}

static void write_file(unsigned pid, const char *name, const char *text)
{
	char *path = xasprintf("%s/%u", dir, pid);
	FILE *f;

	mkdir(path, 0700);
	free(path);
	path = xasprintf("%s/%u/%s", dir, pid, name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
	free(path);
}

static void process(unsigned pid, unsigned uid, const char *maps)
{
	char *status = xasprintf("Name:\tx\nUid:\t%u\t%u\t%u\t0\n", uid, uid, uid), *root;

	write_file(pid, "maps", maps);
	write_file(pid, "status", status);
	free(status);
	root = xasprintf("%s/%u/root", dir, pid);
	if (symlink("/", root))
		ck_assert(access(root, F_OK) == 0);
	free(root);
}

static struct build_id id_of(char c)
{
	struct build_id id = {.n = 20};

	memset(id.b, c, 20);
	return id;
}

static void map(uint64_t time, uint32_t pid, uint64_t start, uint64_t end, uint64_t off, char id,
    const char *path)
{
	struct event ev = {.kind = EV_MAP, .time = time, .pid = pid, .tid = pid};

	ev.map = (struct event_map){.start = start, .end = end, .pgoff = off, .path = (char *)path};
	if (id)
		ev.map.id = id_of(id);
	maps_event(m, &ev);
}

static void task(enum event_kind kind, uint64_t time, uint32_t pid, uint32_t parent)
{
	struct event ev = {.kind = kind, .time = time, .pid = pid, .tid = pid, .parent = parent};

	maps_event(m, &ev);
}

static bool find(uint32_t pid, uint64_t ip, struct place *p)
{
	struct event ev = {.kind = EV_SAMPLE,
	    .time = sampled_at,
	    .pid = pid,
	    .tid = pid,
	    .sample = {.ip = ip, .mode = MODE_USER}};

	return maps_find(m, &ev, p);
}

/* The id's letter and the offset, or '-'. */
static char at(uint32_t pid, uint64_t ip, uint64_t *offset)
{
	struct place p;

	if (!find(pid, ip, &p))
		return '-';
	*offset = p.offset;
	return (char)p.id->b[0];
}

#define ck_at(pid, ip, letter, off) \
	do { \
		uint64_t o_ = ~0ull; \
		ck_assert_int_eq(at(pid, ip, &o_), letter); \
		if (letter != '-') \
			ck_assert_uint_eq(o_, off); \
	} while (0)

START_TEST(offsets_come_from_the_range)
{
	map(1, 5, 0x401000, 0x403000, 0x1000, 'a', "/bin/a");
	ck_at(5, 0x401000, 'a', 0x1000);
	ck_at(5, 0x402fff, 'a', 0x2fff);
	ck_at(5, 0x403000, '-', 0);
	ck_at(5, 0x400fff, '-', 0);
}
END_TEST

START_TEST(a_new_range_overrides_what_it_overlaps)
{
	map(1, 5, 0x1000, 0x9000, 0, 'a', "/a");
	map(2, 5, 0x3000, 0x5000, 0x100, 'b', "/b");
	ck_at(5, 0x2fff, 'a', 0x1fff);
	ck_at(5, 0x3000, 'b', 0x100);
	ck_at(5, 0x4fff, 'b', 0x20ff);
	ck_at(5, 0x5000, 'a', 0x4000);
	map(3, 5, 0x0000, 0x4000, 0, 'c', "/c");
	ck_at(5, 0x3fff, 'c', 0x3fff);
	ck_at(5, 0x4000, 'b', 0x1100);
	map(4, 5, 0x4800, 0x20000, 0, 'd', "/d");
	ck_at(5, 0x47ff, 'b', 0x18ff);
	ck_at(5, 0x8fff, 'd', 0x47ff);
	ck_assert_uint_eq(maps_count(m).ranges, 3);
	map(5, 5, 0, 0x100000, 0, 'e', "/e");
	ck_assert_uint_eq(maps_count(m).ranges, 1);
	ck_assert_uint_eq(maps_count(m).files, 1);
}
END_TEST

/* Against a plain array of what each page should be. */
START_TEST(random_ranges_agree_with_a_page_table)
{
	char page[64];
	uint64_t off[64], o;
	unsigned i, k, a, b;

	srand(7);
	memset(page, '-', sizeof page);
	for (i = 0; i < 3000; i++) {
		a = (unsigned)rand() % 64;
		b = a + 1 + (unsigned)rand() % (64 - a);
		char c = rand() % 5 ? (char)('a' + rand() % 6) : 0;
		map(i + 1, 5, a * 0x1000, b * 0x1000, 0x10000, c ? c : 'x', c ? "/f" : "//anon");
		for (k = a; k < b; k++) {
			page[k] = c ? c : '-';
			off[k] = 0x10000 + (k - a) * 0x1000;
		}
		for (k = 0; k < 64; k++) {
			ck_assert_int_eq(at(5, k * 0x1000 + 8, &o), page[k]);
			if (page[k] != '-')
				ck_assert_uint_eq(o, off[k] + 8);
		}
	}
	task(EV_EXEC, 5000, 5, 0);
	ck_assert_uint_eq(maps_count(m).files, 0);
}
END_TEST

START_TEST(fork_copies_exec_resets_exit_waits)
{
	process(5, 1000, "");
	map(1, 5, 0x1000, 0x2000, 0, 'a', "/a");
	task(EV_FORK, 2, 6, 5);
	ck_at(6, 0x1000, 'a', 0);
	task(EV_EXEC, 3, 6, 0);
	ck_at(6, 0x1000, '-', 0);
	ck_at(5, 0x1000, 'a', 0);
	map(4, 6, 0x1000, 0x2000, 0, 'b', "/b");
	ck_at(6, 0x1000, 'b', 0);
	task(EV_EXIT, 5, 6, 0);
	maps_sweep(m, 5 + MAPS_GRACE);
	ck_at(6, 0x1000, 'b', 0);
	maps_sweep(m, 6 + MAPS_GRACE);
	ck_assert_uint_eq(maps_count(m).procs, 1);
	ck_assert_uint_eq(maps_count(m).files, 1);
}
END_TEST

START_TEST(a_child_too_short_for_proc_has_its_parents_uid)
{
	struct place p;

	process(5, 1234, "1000-2000 r-xp 00000000 00:00 0 \n");
	map(1, 5, 0x1000, 0x2000, 0, 'a', "/a");
	ck_assert(find(5, 0x1000, &p));
	ck_assert_uint_eq(p.uid, 1234);
	task(EV_FORK, 2, 6, 5);
	ck_assert(find(6, 0x1000, &p));
	ck_assert_uint_eq(p.uid, 1234);
	map(1, 7, 0x1000, 0x2000, 0, 'a', "/a");
	ck_assert(find(7, 0x1000, &p));
	ck_assert_uint_eq(p.uid, MAPS_NOBODY);
}
END_TEST

START_TEST(what_is_no_file_has_no_place)
{
	static const char *const path[] = {"//anon", "[vdso]", "[heap]", "", "/memfd:jit (deleted)",
	    "/dev/zero (deleted)", "/SYSV00000000 (deleted)", "anon_inode:[perf_event]"};
	size_t i;

	for (i = 0; i < sizeof path / sizeof *path; i++) {
		map(2 * i + 1, 5, 0x1000, 0x2000, 0, 'a', "/a");
		map(2 * i + 2, 5, 0x1000, 0x2000, 0, 'b', path[i]);
		ck_at(5, 0x1800, '-', 0);
	}
	ck_assert_uint_eq(maps_count(m).ranges, 0);
}
END_TEST

/* The kind, or 0, of what has no place. */
static int other(uint32_t pid, uint64_t ip, struct elsewhere *out)
{
	struct event ev = {.kind = EV_SAMPLE,
	    .time = sampled_at,
	    .pid = pid,
	    .tid = pid,
	    .sample = {.ip = ip, .mode = MODE_USER}};
	struct place p;

	ck_assert(!maps_find(m, &ev, &p));
	return maps_elsewhere(m, &ev, out) ? (int)out->kind : 0;
}

START_TEST(what_has_no_place_is_told_apart)
{
	struct event named = {.kind = EV_EXEC, .time = 1, .pid = 5, .tid = 5, .comm = "node"};
	struct elsewhere e;

	process(5, 1000, "");
	process(6, 1000, "");
	write_file(6, "comm", "java\n");
	ck_assert_int_eq(other(4, 0x1800, &e), 0);
	maps_event(m, &named);
	map(2, 5, 0x1000, 0x2000, 0x3000, 0, "/etc/a b");
	map(3, 5, 0x8000, 0xa000, 0, 'v', "[vdso]");
	map(3, 6, 0x1000, 0x2000, 0, 0, "/etc/a b");
	/* It is asked for its build-id as often as it makes sense. */
	ck_assert_int_eq(other(5, 0x1010, &e), WIRE_FILE);
	ck_assert_str_eq(e.name, "/etc/a b");
	ck_assert_uint_eq(e.address, 0x3010);
	ck_assert_uint_eq(e.pid, 0);
	ck_assert_uint_eq(e.uid, 1000);
	ck_assert_int_eq(other(5, 0x9010, &e), WIRE_VDSO);
	ck_assert_str_eq(e.name, "[vdso]");
	ck_assert_uint_eq(e.address, 0x1010);
	ck_assert_int_eq(other(5, 0x2010, &e), WIRE_ANONYMOUS);
	ck_assert_str_eq(e.name, "node");
	ck_assert_uint_eq(e.address, 0x2010);
	ck_assert_uint_eq(e.pid, 5);
	ck_assert_int_eq(other(6, 0x7f0000000000, &e), WIRE_ANONYMOUS);
	ck_assert_str_eq(e.name, "java");
}
END_TEST

/* What runs on after a swap. */
START_TEST(a_file_without_name_keeps_its_build)
{
	struct place p;

	map(1, 5, 0x1000, 0x2000, 0, 'a', "/usr/bin/lua (deleted)");
	ck_assert(find(5, 0x1000, &p));
	ck_assert_str_eq(p.path, "/usr/bin/lua");
}
END_TEST

/* The build-id of this test, read as the monitor reads it. */
static struct build_id own_id(char path[256], struct stat *st)
{
	ssize_t n = readlink("/proc/self/exe", path, 255);
	struct build_id id;
	struct err e;
	struct elf *f;

	ck_assert_int_gt(n, 0);
	path[n] = '\0';
	ck_assert_int_eq(stat(path, st), 0);
	f = elf_file_open(path, -1, &e);
	ck_assert_msg(f != NULL, "%s", e.text);
	id = elf_file_build_id(f);
	elf_file_close(f);
	ck_assert_uint_gt(id.n, 0);
	return id;
}

/* A line of maps: the program's code, as the kernel says it of ours. */
static char *own_line(uint64_t ino, const char *path)
{
	struct event_map own = mapping_of(path);

	return xasprintf(
	    "2000-5000 r-xp 00001000 %02x:%02x %lu   %s\n", own.maj, own.min, ino, path);
}

START_TEST(the_snapshot_reads_proc_and_elf)
{
	char path[256], *text, *line;
	struct stat st;
	struct build_id id = own_id(path, &st);
	struct place p;

	line = own_line(st.st_ino, path);
	text = xasprintf("1000-2000 r--p 00000000 08:01 %lu   %s\n"
			 "%s"
			 "5000-6000 rw-p 00004000 08:01 %lu   %s\n"
			 "8000-9000 r-xp 00000000 00:00 0\n"
			 "nonsense\n",
	    st.st_ino, path, line, st.st_ino, path);
	process(5, 42, text);
	process(6, 0, "");
	free(line);
	free(text);
	maps_snapshot(m);
	ck_assert_uint_eq(maps_count(m).procs, 1);
	ck_assert(find(5, 0x2010, &p));
	ck_assert(build_id_equal(p.id, &id));
	ck_assert_uint_eq(p.offset, 0x1010);
	ck_assert_uint_eq(p.uid, 42);
	ck_assert_str_eq(p.path, path);
	ck_assert(!find(5, 0x1010, &p));
	ck_assert(!find(5, 0x8010, &p));
}
END_TEST

START_TEST(another_file_of_that_name_is_not_taken)
{
	char path[256], *text;
	struct stat st;
	struct place p;

	own_id(path, &st);
	text = own_line(st.st_ino + 1, path);
	process(5, 42, text);
	free(text);
	maps_snapshot(m);
	ck_assert(!find(5, 0x2010, &p));
}
END_TEST

START_TEST(records_older_than_the_snapshot_are_ignored)
{
	process(5, 0, "2000-5000 r-xp 00001000 00:00 7 /a\n");
	maps_snapshot(m);
	map(1, 5, 0x2000, 0x3000, 0, 'b', "/b");
	task(EV_EXEC, 2, 5, 0);
	ck_assert_uint_eq(maps_count(m).ranges, 1);
	ck_at(5, 0x2000, '-', 0);
	map(UINT64_MAX, 5, 0x2000, 0x3000, 0, 'b', "/b");
	ck_at(5, 0x2000, 'b', 0);
}
END_TEST

START_TEST(after_a_loss_proc_is_read_again)
{
	char path[256], *text;
	struct stat st;
	struct build_id id = own_id(path, &st);
	struct place p;

	map(1, 5, 0x2000, 0x5000, 0, 'a', "/a");
	map(1, 6, 0x2000, 0x5000, 0, 'a', "/a");
	text = own_line(st.st_ino, path);
	process(5, 42, text);
	free(text);
	ck_at(5, 0x2000, 'a', 0);
	maps_suspect(m);
	ck_assert(find(5, 0x2000, &p));
	ck_assert(build_id_equal(p.id, &id));
	ck_at(6, 0x2000, 'a', 0); /* gone: what was known is kept… */
	maps_sweep(m, 100);
	maps_sweep(m, 101 + MAPS_GRACE); /* …but not for ever */
	ck_assert_uint_eq(maps_count(m).procs, 1);
}
END_TEST

/* Its fork or exec is seen after the loss is, and what it mapped then is among what was lost. */
START_TEST(what_began_before_a_loss_was_noticed_is_read_again)
{
	char path[256], *text;
	struct stat st;
	struct build_id id = own_id(path, &st);
	struct place p;
	uint32_t pid;

	text = own_line(st.st_ino, path);
	for (pid = 5; pid <= 6; pid++)
		process(pid, 42, text);
	free(text);
	map(1, 4, 0x2000, 0x5000, 0, 'a', "/a");
	map(1, 6, 0x2000, 0x5000, 0, 'a', "/a");
	maps_suspect(m);
	task(EV_FORK, 3, 5, 4);
	task(EV_EXEC, 4, 6, 0);
	for (pid = 5; pid <= 6; pid++) {
		ck_assert(find(pid, 0x2000, &p));
		ck_assert(build_id_equal(p.id, &id));
	}
	task(EV_EXEC, UINT64_MAX - 1, 5, 0); /* what began later is not */
	map(UINT64_MAX, 5, 0x2000, 0x5000, 0, 'b', "/b");
	ck_at(5, 0x2000, 'b', 0);
}
END_TEST

START_TEST(an_unknown_process_is_looked_up)
{
	process(5, 42, "2000-5000 r-xp 00001000 00:00 7 /a\n");
	ck_at(5, 0x2000, '-', 0);
	ck_assert_uint_eq(maps_count(m).ranges, 1);
	ck_at(77, 0x2000, '-', 0); /* and one that is gone is forgotten */
	maps_sweep(m, 2000 + MAPS_GRACE);
	ck_assert_uint_eq(maps_count(m).procs, 1);
}
END_TEST

START_TEST(processes_and_ranges_are_bounded)
{
	uint32_t pid;
	uint64_t i;

	for (pid = 1; pid <= MAPS_PROCS + 5000; pid++)
		map(pid, pid, 0x1000, 0x2000, 0, 'a', "/a");
	ck_assert_uint_le(maps_count(m).procs, MAPS_PROCS);
	ck_assert_uint_eq(maps_count(m).ranges, maps_count(m).procs);
	ck_at(MAPS_PROCS + 5000, 0x1000, 'a', 0);
	for (i = 0; i < MAPS_RANGES + 100; i++)
		map(i + 1, 9999999, i * 0x2000, i * 0x2000 + 0x1000, 0, 'b', "/b");
	ck_assert_uint_eq(maps_count(m).ranges - maps_count(m).procs + 1, MAPS_RANGES);
	ck_assert_uint_eq(maps_count(m).files, 2);
}
END_TEST

/* Each hole that anonymous memory makes leaves two ranges of one. */
START_TEST(holes_in_a_mapping_are_bounded)
{
	uint64_t i;

	map(1, 5, 0, 0x100000000, 0, 'a', "/a");
	for (i = 1; i < 2 * MAPS_RANGES; i++)
		map(1 + i, 5, i * 0x2000, i * 0x2000 + 0x1000, 0, 0, "//anon");
	ck_assert_uint_eq(maps_count(m).ranges, MAPS_RANGES);
	ck_at(5, 0x1000, 'a', 0x1000);
	ck_at(5, MAPS_RANGES * 0x2000 - 0x1000, 'a', MAPS_RANGES * 0x2000 - 0x1000);
	ck_at(5, MAPS_RANGES * 0x2000 + 0x1000, '-', 0);
}
END_TEST

/* Names of files as long as they get, and forks of a process full of ranges. */
START_TEST(all_mappings_together_are_bounded)
{
	char path[4096];
	uint64_t i, k;

	memset(path, 'x', sizeof path);
	path[0] = '/';
	path[sizeof path - 1] = '\0';
	for (k = 0; k < 6; k++)
		for (i = 0; i < 5000; i++) {
			snprintf(path + 4000, 64, "%lu", k * 5000 + i);
			map(i + 1, (uint32_t)k + 1, i * 0x2000, i * 0x2000 + 0x1000, 0, 'b', path);
		}
	for (i = 0; i < 2000; i++)
		task(EV_FORK, 10000 + i, (uint32_t)(100 + i), 1);
	ck_assert_uint_le(maps_count(m).bytes, MAPS_BYTES);
	ck_assert_uint_gt(maps_count(m).bytes, MAPS_BYTES / 2);
	for (i = 0; i < 3000; i++)
		task(EV_EXIT, 20000, (uint32_t)i, 0);
	maps_sweep(m, 20001 + MAPS_GRACE);
	ck_assert_uint_eq(maps_count(m).bytes, 0);
	ck_assert_uint_eq(maps_count(m).ranges, 0);
}
END_TEST

/* Mappings of files with names as long as they get, all of its own. */
static void map_much(uint64_t time, uint32_t pid)
{
	char path[4096];
	uint64_t i;

	memset(path, 'x', sizeof path);
	path[0] = '/';
	for (i = 0; i < 5000; i++) {
		snprintf(path + 4000, 64, "%u %lu", pid, i);
		map(time, pid, i * 0x2000, i * 0x2000 + 0x1000, 0, 'b', path);
		ck_assert_uint_le(maps_count(m).bytes, MAPS_BYTES);
	}
}

/* One who fills the room loses what they had, in processes that began as another
 * user's too; nobody else does, however idle. */
START_TEST(who_has_most_mappings_gives_way)
{
	uint32_t pid;

	process(5, 1000, "");
	map(1, 5, 0x1000, 0x2000, 0, 'a', "/a");
	ck_at(5, 0x1000, 'a', 0);
	for (pid = 100; pid < 110; pid++) {
		process(pid, 2000, "");
		task(EV_FORK, 2000 + pid, pid, 5);
		map_much(3000 + pid, pid);
		map(4000, 5, pid * 0x10000, pid * 0x10000 + 0x1000, 0, 'c', "/c");
	}
	ck_at(5, 0x1000, 'a', 0);
	for (pid = 100; pid < 110; pid++)
		ck_at(5, pid * 0x10000, 'c', 0);
	ck_at(100, 0x2000, '-', 0);
	ck_at(109, 0x2000, 'b', 0);
	task(EV_FORK, 5000, 6, 5);
	map(5001, 6, 0x9000000, 0x9001000, 0, 'd', "/d");
	ck_at(6, 0x1000, 'a', 0);
	ck_at(6, 0x9000000, 'd', 0);
}
END_TEST

/* Those whom nobody can be asked about any more have their parent's uid: they go
 * before what lives. */
START_TEST(the_dead_give_way_first)
{
	uint32_t pid;

	process(5, 1000, "");
	map(1, 5, 0x1000, 0x2000, 0, 'a', "/a");
	for (pid = 100; pid < 110; pid++) {
		task(EV_FORK, 2000 + pid, pid, 5);
		map_much(3000 + pid, pid);
		task(EV_EXIT, 4000 + pid, pid, 0);
	}
	ck_at(5, 0x1000, 'a', 0);
}
END_TEST

START_TEST(who_has_most_processes_gives_way)
{
	uint32_t pid;

	process(5, 1000, "");
	map(1, 5, 0x1000, 0x2000, 0, 'a', "/a");
	ck_at(5, 0x1000, 'a', 0);
	for (pid = 100; pid < MAPS_PROCS + 5000; pid++)
		map(1000 + pid, pid, 0x1000, 0x2000, 0, 'b', "/b");
	ck_assert_uint_le(maps_count(m).procs, MAPS_PROCS);
	ck_at(5, 0x1000, 'a', 0);
}
END_TEST

/* ---- whose file is it? ---- */

static void setup_machine(void)
{
	start(true);
	sampled_at = UINT64_MAX;
	lookup.home[0] = (struct event_ns){1, 2};
}

static void namespaces(uint32_t pid, uint64_t mnt, uint64_t user)
{
	struct event ev = {.kind = EV_NS, .time = 1, .pid = pid, .tid = pid, .ns = {mnt, user}};

	maps_event(m, &ev);
}

/* The file that process pid has mapped at 0x1000. */
static void mapped(unsigned pid, const char *file)
{
	char *folder = xasprintf("%s/%u/map_files", dir, pid);
	char *path = xasprintf("%s/1000-2000", folder);

	process(pid, 1000, "");
	mkdir(folder, 0700);
	ck_assert_int_eq(symlink(file, path), 0);
	free(path);
	free(folder);
}

static char *file(const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fclose(f);
	return path;
}

/* One in a namespace of its own, that is, mapped as name. */
static bool elsewhere(uint32_t pid, const char *real, const char *name)
{
	struct place p;

	mapped(pid, real);
	namespaces(pid, 77, 2);
	map(2, pid, 0x1000, 0x2000, 0, 'a', name);
	if (!find(pid, 0x1000, &p))
		return false;
	ck_assert_str_eq(p.path, name);
	return true;
}

/* What a process that is gone has called since it was forked by pid 5, of user 1000. */
static uint32_t uid_of_called(uint32_t pid, const char *first, const char *second)
{
	struct place p;

	task(EV_FORK, 10 * pid, pid, 5);
	task(EV_EXEC, 10 * pid + 1, pid, 0);
	map(10 * pid + 2, pid, 0x1000, 0x2000, 0, 'a', first);
	map(10 * pid + 2, pid, 0x3000, 0x4000, 0, 'l', "/lib/x");
	if (second) {
		task(EV_FORK, 10 * pid + 3, pid + 1, pid);
		pid++;
		task(EV_EXEC, 10 * pid + 1, pid, 0);
		map(10 * pid + 2, pid, 0x1000, 0x2000, 0, 'a', second);
	}
	ck_assert(find(pid, 0x1000, &p));
	return p.uid;
}

START_TEST(a_short_process_is_its_callers_unless_it_may_have_changed_that)
{
	char *plain = file("plain"), *other = file("other"), *set = file("set");
	struct place p;

	ck_assert_int_eq(chmod(set, 04755), 0);
	process(5, 1000, "");
	namespaces(5, 1, 2);
	map(1, 5, 0x1000, 0x2000, 0, 'a', plain);
	ck_assert(find(5, 0x1000, &p));
	ck_assert_uint_eq(p.uid, 1000);
	ck_assert_uint_eq(uid_of_called(10, plain, NULL), 1000);
	ck_assert_uint_eq(uid_of_called(20, set, NULL), MAPS_NOBODY);
	ck_assert_uint_eq(uid_of_called(30, "/nowhere/x", NULL), MAPS_NOBODY);
	ck_assert_uint_eq(uid_of_called(40, plain, other), 1000);
	ck_assert_uint_eq(uid_of_called(50, set, plain), MAPS_NOBODY);
	ck_assert_uint_eq(uid_of_called(60, plain, set), MAPS_NOBODY);
	free(plain);
	free(other);
	free(set);
}
END_TEST

/* What pid, which is gone, had mapped of this program. */
static bool gone_with(uint32_t pid, uint32_t parent, const struct event_map *map)
{
	struct event ev = {.kind = EV_MAP, .time = 3, .pid = pid, .tid = pid, .map = *map};
	struct place p;
	char path[256];
	struct stat st;
	struct build_id id = own_id(path, &st);

	task(EV_FORK, 2, pid, parent);
	maps_event(m, &ev);
	if (!find(pid, map->start + 16, &p))
		return false;
	ck_assert(build_id_equal(p.id, &id));
	ck_assert_str_eq(p.path, map->path);
	ck_assert_uint_eq(p.offset, 16);
	return true;
}

START_TEST(a_gone_process_has_the_file_at_its_path_if_it_is_that)
{
	char path[256];
	struct stat st;
	struct event_map is, other;

	own_id(path, &st);
	is = other = mapping_of(path);
	process(5, 1000, "");
	namespaces(5, 1, 2);
	process(6, 1000, "");
	namespaces(6, 77, 2);
	ck_assert(!gone_with(10, 4, &is)); /* nobody knows whose it was */
	ck_assert(!gone_with(11, 6, &is)); /* another namespace's path */
	other.ino++;
	ck_assert(!gone_with(12, 5, &other));
	other = is;
	other.maj ^= 1;
	ck_assert(!gone_with(13, 5, &other));
	if (is.gen) {
		other = is;
		other.gen ^= 1;
		ck_assert(!gone_with(14, 5, &other));
	}
	ck_assert(gone_with(15, 5, &is));
	ck_assert(!gone_with(16, 6, &is)); /* as ever */
}
END_TEST

START_TEST(who_runs_with_anothers_rights_is_that_one)
{
	struct place p;

	process(5, 1000, "");
	write_file(5, "status", "Uid:\t1000\t0\t0\t0\n");
	process(6, 1000, "");
	write_file(6, "status", "Uid:\t1000\t1000\t7\t1000\n");
	namespaces(5, 1, 2);
	namespaces(6, 1, 2);
	map(1, 5, 0x1000, 0x2000, 0, 'a', "/a");
	map(1, 6, 0x1000, 0x2000, 0, 'a', "/a");
	ck_assert(find(5, 0x1000, &p));
	ck_assert_uint_eq(p.uid, 0);
	ck_assert(find(6, 0x1000, &p));
	ck_assert_uint_eq(p.uid, 7);
}
END_TEST

START_TEST(another_namespaces_file_counts_for_its_own_name_only)
{
	char *alice = file("alice"), *bob = file("bob");
	struct elsewhere e;

	ck_assert(elsewhere(5, alice, alice));
	ck_assert(!elsewhere(6, bob, alice));
	ck_assert_int_eq(other(6, 0x1010, &e), WIRE_FOREIGN);
	ck_assert_str_eq(e.name, alice);
	ck_assert_uint_eq(e.id->b[0], 'a');
	ck_assert_uint_eq(e.address, 0x10);
	ck_assert(!elsewhere(7, alice, "/nowhere/alice"));
	free(alice);
	free(bob);
}
END_TEST

/* The same path and build-id in the monitor's namespace makes no difference. */
START_TEST(files_of_two_namespaces_are_two)
{
	char *alice = file("alice"), *bob = file("bob");

	namespaces(5, 1, 2);
	map(2, 5, 0x1000, 0x2000, 0, 'a', alice);
	ck_at(5, 0x1000, 'a', 0);
	ck_assert(!elsewhere(6, bob, alice));
	ck_at(5, 0x1000, 'a', 0);
	free(alice);
	free(bob);
}
END_TEST

/* One may change the root folder in a user namespace of one's own. */
START_TEST(a_user_namespace_is_another_view)
{
	char *alice = file("alice"), *bob = file("bob");

	mapped(5, bob);
	namespaces(5, 1, 3);
	map(2, 5, 0x1000, 0x2000, 0, 'a', alice);
	ck_at(5, 0x1000, '-', 0);
	free(alice);
	free(bob);
}
END_TEST

START_TEST(a_thread_that_left_takes_the_process_along)
{
	char *alice = file("alice"), *bob = file("bob");

	mapped(5, bob);
	namespaces(5, 1, 2);
	namespaces(5, 77, 2);
	namespaces(5, 1, 2);
	map(2, 5, 0x1000, 0x2000, 0, 'a', alice);
	ck_at(5, 0x1000, '-', 0);
	task(EV_FORK, 3, 6, 5); /* its child may be back, but what it has is from there */
	namespaces(6, 1, 2);
	ck_at(6, 0x1000, '-', 0);
	free(alice);
	free(bob);
}
END_TEST

START_TEST(a_process_of_unknown_view_that_is_gone_is_outside)
{
	char *alice = file("alice");

	map(2, 5, 0x1000, 0x2000, 0, 'a', alice);
	ck_at(5, 0x1000, '-', 0);
	free(alice);
}
END_TEST

/* How process pid is seen that has mapped a file without name as name. */
static bool deleted(uint32_t pid, mode_t mode, const char *name, const char *place)
{
	char *gone = file("gone"), *link;
	struct place p;
	int fd = open(gone, O_RDWR);

	ck_assert_int_eq(fchmod(fd, mode), 0);
	ck_assert_int_eq(unlink(gone), 0);
	link = xasprintf("/proc/%d/fd/%d", getpid(), fd);
	mapped(pid, link);
	namespaces(pid, 1, 2);
	map(2, pid, 0x1000, 0x2000, 0, 'a', name);
	free(link);
	free(gone);
	return find(pid, 0x1000, &p) && !strcmp(p.path, place);
}

START_TEST(a_replaced_file_counts_for_its_name)
{
	char *prog = file("prog"), *name = xasprintf("%s (deleted)", prog);
	char *other = xasprintf("%s/other (deleted)", dir);

	ck_assert(deleted(5, 0755, name, prog));
	ck_assert(!deleted(6, 0775, name, prog)); /* others could write it */
	ck_assert(!deleted(7, 0755, other, ""));
	free(prog);
	free(name);
	free(other);
}
END_TEST

START_TEST(a_replaced_file_of_another_owner_does_not)
{
	char *prog = file("prog"), *name = xasprintf("%s (deleted)", prog);

	if (!geteuid()) {
		ck_assert_int_eq(chown(prog, 4242, 4242), 0);
		ck_assert(!deleted(5, 0755, name, prog));
	}
	free(prog);
	free(name);
}
END_TEST

START_TEST(a_file_called_deleted_is_not_another)
{
	char *prog = file("prog"), *bob = file("prog (deleted)");
	struct place p;

	mapped(5, bob);
	namespaces(5, 1, 2);
	map(2, 5, 0x1000, 0x2000, 0, 'a', bob);
	ck_assert(find(5, 0x1000, &p));
	ck_assert_str_eq(p.path, bob);
	free(prog);
	free(bob);
}
END_TEST

START_TEST(samples_from_before_the_check_are_outside)
{
	char *alice = file("alice");

	sampled_at = 1000;
	ck_assert(!elsewhere(5, alice, alice));
	sampled_at = UINT64_MAX;
	ck_at(5, 0x1000, 'a', 0);
	free(alice);
}
END_TEST

/* Opening maps of process 5 takes for ever. */
START_TEST(what_hangs_costs_its_user_alone)
{
	char *alice = file("alice"), *maps = xasprintf("%s/5/maps", dir);
	uint64_t begin;
	unsigned i;

	mapped(5, alice);
	ck_assert_int_eq(unlink(maps), 0);
	ck_assert_int_eq(mkfifo(maps, 0600), 0);
	namespaces(5, 77, 2);
	for (i = 0; i <= MAPS_SLOW; i++)
		map(2, 5, 0x1000 + 0x2000 * i, 0x2000 + 0x2000 * i, 0, 'a', alice);
	for (i = 0; i < MAPS_SLOW; i++) {
		begin = clock_now();
		ck_at(5, 0x1000 + 0x2000 * i, '-', 0);
		ck_assert_uint_ge(clock_now() - begin, LOOKUP_MS * 1000000ull / 2);
		ck_assert_uint_lt(clock_now() - begin, 4 * LOOKUP_MS * 1000000ull);
	}
	/* No longer looked at, which takes no time. */
	begin = clock_now();
	for (i = 0; i < 1000; i++)
		ck_at(5, 0x1000 + 0x2000 * MAPS_SLOW, '-', 0);
	ck_assert_uint_lt(clock_now() - begin, LOOKUP_MS * 1000000ull);
	mapped(6, alice);
	write_file(6, "status", "Uid:\t4242\t4242\t4242\t0\n");
	namespaces(6, 77, 2);
	map(2, 6, 0x1000, 0x2000, 0, 'a', alice);
	ck_at(6, 0x1000, 'a', 0);
	free(alice);
	free(maps);
}
END_TEST

START_TEST(a_newline_in_a_path_has_no_place)
{
	process(5, 1, "1000-2000 r-xp 00000000 08:01 7 /usr\\012/x\n");
	namespaces(6, 1, 2);
	map(2, 6, 0x1000, 0x2000, 0, 'a', "/usr/bin\n/x");
	maps_snapshot(m);
	ck_assert_uint_eq(maps_count(m).ranges, 0);
}
END_TEST

static bool below_d(const struct build_id *id, void *arg)
{
	++*(unsigned *)arg;
	return id->b[0] < 'd';
}

START_TEST(builds_of_a_process_outlive_it)
{
	struct build_id got[3];
	unsigned asked = 0;

	process(5, 1000, "");
	map(1, 5, 0x1000, 0x2000, 0, 'a', "/a");
	map(1, 5, 0x2000, 0x3000, 0, 'e', "/e");
	map(1, 5, 0x3000, 0x4000, 0, 'b', "/b");
	map(1, 5, 0x4000, 0x5000, 0, 'a', "/a");
	map(1, 5, 0x5000, 0x6000, 0, 0, "/unknown");
	task(EV_EXIT, 5, 5, 0);
	ck_assert_uint_eq(maps_builds(m, 5, below_d, &asked, got, 3), 2);
	ck_assert_int_eq(got[0].b[0], 'a');
	ck_assert_int_eq(got[1].b[0], 'b');
	ck_assert_uint_eq(asked, 4);
	ck_assert_uint_eq(maps_builds(m, 5, below_d, &asked, got, 1), 1);
	ck_assert_uint_eq(maps_builds(m, 6, below_d, &asked, got, 3), 0);
	task(EV_EXEC, 6, 5, 0);
	ck_assert_uint_eq(maps_builds(m, 5, below_d, &asked, got, 3), 0);
}
END_TEST

static bool any_build(const struct build_id *id, void *arg)
{
	return true;
}

/* Whose builds are looked up though no sample fell there. */
START_TEST(builds_are_looked_up_without_samples)
{
	char path[256];
	struct stat st;
	struct build_id id = own_id(path, &st), got[3];
	struct event ev = {.kind = EV_MAP, .time = 3, .pid = 11, .tid = 11};
	unsigned left = 2;

	process(5, 1000, "");
	map(1, 5, 0x8000, 0x9000, 0, 'z', "/z");
	task(EV_FORK, 2, 11, 5);
	ev.map = mapping_of(path);
	maps_event(m, &ev);
	map(4, 11, 0x3000, 0x4000, 0, 'c', "/known");
	task(EV_EXIT, 5, 11, 0);
	ck_assert_uint_eq(maps_builds(m, 11, any_build, NULL, got, 3), 2);
	maps_identify(m, 11, &left);
	ck_assert_uint_eq(left, 1);
	ck_assert_uint_eq(maps_builds(m, 11, any_build, NULL, got, 3), 3);
	ck_assert(build_id_equal(&got[0], &id));
	maps_identify(m, 11, &left); /* once is enough */
	ck_assert_uint_eq(left, 1);
	map(6, 5, 0x5000, 0x6000, 0, 0, "/unknown");
	map(6, 5, 0x6000, 0x7000, 0, 0, "/further");
	maps_identify(m, 5, &left);
	ck_assert_uint_eq(left, 0);
	maps_identify(m, 99, &left);
	map(7, 98, 0x5000, 0x6000, 0, 0, "/nobodys");
	left = 1;
	maps_identify(m, 98, &left);
	ck_assert_uint_eq(left, 1);
}
END_TEST

static void args(uint32_t pid, uint64_t time, uint64_t shape)
{
	struct event ev = {.kind = EV_ARGS, .time = time, .pid = pid, .tid = pid, .args = shape};

	maps_event(m, &ev);
}

START_TEST(a_command_line_is_the_childs_too_until_exec)
{
	task(EV_FORK, 1, 5, 4);
	ck_assert_uint_eq(maps_args(m, 5), 0);
	args(5, 2, 77);
	task(EV_FORK, 3, 6, 5);
	task(EV_EXIT, 4, 5, 0);
	ck_assert_uint_eq(maps_args(m, 5), 77);
	ck_assert_uint_eq(maps_args(m, 6), 77);
	task(EV_EXEC, 5, 6, 0);
	ck_assert_uint_eq(maps_args(m, 6), 0);
	ck_assert_uint_eq(maps_args(m, 1234), 0);
}
END_TEST

START_TEST(a_lost_command_line_is_not_one_of_none)
{
	maps_args_lost(m, 10, 20);
	maps_args_lost(m, 20, 30); /* still */
	task(EV_FORK, 1, 5, 4);
	task(EV_EXEC, 9, 5, 0);
	ck_assert_uint_eq(maps_args(m, 5), 0);
	task(EV_EXEC, 11, 5, 0);
	ck_assert_uint_eq(maps_args(m, 5), CMDLINE_CUT);
	args(5, 12, 77);
	ck_assert_uint_eq(maps_args(m, 5), 77);
	task(EV_EXEC, 30, 5, 0);
	ck_assert_uint_eq(maps_args(m, 5), CMDLINE_CUT);
	task(EV_EXEC, 31, 5, 0);
	ck_assert_uint_eq(maps_args(m, 5), 0);
	maps_args_lost(m, 40, 50);
	task(EV_EXEC, 35, 5, 0);
	ck_assert_uint_eq(maps_args(m, 5), 0);
}
END_TEST

UNIT_MAIN("maps", 60, setup, teardown, offsets_come_from_the_range,
    a_new_range_overrides_what_it_overlaps, random_ranges_agree_with_a_page_table,
    fork_copies_exec_resets_exit_waits, a_child_too_short_for_proc_has_its_parents_uid,
    what_is_no_file_has_no_place, what_has_no_place_is_told_apart,
    a_file_without_name_keeps_its_build, the_snapshot_reads_proc_and_elf,
    another_file_of_that_name_is_not_taken, records_older_than_the_snapshot_are_ignored,
    after_a_loss_proc_is_read_again, what_began_before_a_loss_was_noticed_is_read_again,
    an_unknown_process_is_looked_up, processes_and_ranges_are_bounded,
    holes_in_a_mapping_are_bounded, all_mappings_together_are_bounded,
    who_has_most_mappings_gives_way, the_dead_give_way_first, who_has_most_processes_gives_way,
    builds_of_a_process_outlive_it, builds_are_looked_up_without_samples,
    a_command_line_is_the_childs_too_until_exec, a_lost_command_line_is_not_one_of_none,
    UNIT_CASE(0, setup_machine, teardown),
    a_short_process_is_its_callers_unless_it_may_have_changed_that,
    a_gone_process_has_the_file_at_its_path_if_it_is_that,
    who_runs_with_anothers_rights_is_that_one, another_namespaces_file_counts_for_its_own_name_only,
    files_of_two_namespaces_are_two, a_user_namespace_is_another_view,
    a_thread_that_left_takes_the_process_along, a_process_of_unknown_view_that_is_gone_is_outside,
    a_replaced_file_counts_for_its_name, a_replaced_file_of_another_owner_does_not,
    a_file_called_deleted_is_not_another, samples_from_before_the_check_are_outside,
    what_hangs_costs_its_user_alone, a_newline_in_a_path_has_no_place)
