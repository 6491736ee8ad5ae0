#include "morphctl/report/symbols/open.h"
#include "common/le.h"
#include "common/log.h"
#include "common/places.h"
#include "common/publish.h"
#include "morphctl/report/confined/confined.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOTES_MAX = 1 << 20 };
/* Of the machine's manager. */
#define MACHINE_STATE "/var/lib/morph"

const char *open_debug_folder(const struct symbols_options *o)
{
	return o->debug ? o->debug : "/usr/lib/debug";
}

static int open_debug(const char *hex, const struct symbols_options *o)
{
	char *path = xasprintf("%s/.build-id/%.2s/%s.debug", open_debug_folder(o), hex, hex + 2);
	int fd = confined_open(path, 0);

	if (fd < 0) {
		path[strlen(path) - strlen(".debug")] = '\0';
		fd = confined_open(path, 0);
	}
	free(path);
	return fd;
}

/* A build that another took the place of: STATE/builds/KEY/BUILD-ID
 * (managerd/parent/swap/builds.h). Whose manager it is may search there, and root. */
static int open_kept(const char *state, const char *hex)
{
	char *folder = xasprintf("%s/builds", state), *path;
	DIR *d = opendir(folder);
	struct dirent *de;
	int fd = -1;

	while (fd < 0 && d && (de = readdir(d))) {
		path = xasprintf("%s/%s/%s", folder, de->d_name, hex);
		fd = de->d_name[0] == '.' ? -1 : confined_open(path, O_NOFOLLOW);
		free(path);
	}
	if (d)
		closedir(d);
	free(folder);
	return fd;
}

/* What is at the path may be another build by now; where it is gone its debug file may have names.
 */
static int open_elf(const struct recording_file *f, const struct symbols_options *o)
{
	char hex[BUILD_ID_HEX], *own = places_state();
	int fd = -1;

	build_id_hex(&f->id, hex);
	if (f->id.n > 1 && own)
		fd = open_kept(own, hex);
	if (f->id.n > 1 && fd < 0)
		fd = open_kept(MACHINE_STATE, hex);
	if (fd < 0 && f->path[0] == '/')
		fd = confined_open(f->path, 0);
	if (fd < 0 && f->id.n > 1)
		fd = open_debug(hex, o);
	free(own);
	return fd;
}

/* The build-id of the running kernel, in its notes; n = 0: not known. */
static struct build_id kernel_id(void)
{
	struct build_id id = {0};
	struct buf b = {0};
	uint64_t at, name, desc, size;

	if (file_read("/sys/kernel/notes", NOTES_MAX, &b, NULL))
		return id;
	for (at = 0; at + 12 <= b.n && !id.n; at = desc + ((size + 3) & ~UINT64_C(3))) {
		name = get_le32(b.p + at);
		size = get_le32(b.p + at + 4);
		desc = at + 12 + ((name + 3) & ~UINT64_C(3));
		if (desc + size > b.n)
			break;
		if (get_le32(b.p + at + 8) != NT_GNU_BUILD_ID || size > sizeof id.b || name != 4 ||
		    memcmp(b.p + at + 12, "GNU", 4))
			continue;
		id.n = (uint8_t)size;
		memcpy(id.b, b.p + desc, size);
	}
	buf_free(&b);
	return id;
}

/* Of another kernel the addresses mean something else. */
static int open_kallsyms(const struct recording_file *f, const struct symbols_options *o)
{
	struct build_id here;

	if (o->kallsyms)
		return confined_open(o->kallsyms, 0);
	here = kernel_id();
	if (f->id.n && here.n && strncmp(f->path, "[kernel", 7) == 0 &&
	    !build_id_equal(&f->id, &here)) {
		log_warn("functions of the kernel are not named: another one is running now");
		return -1;
	}
	return confined_open("/proc/kallsyms", 0);
}

/* Anybody can make a file of that name: it must be of who asks, or of the process's user. */
static int open_perfmap(const struct recording_file *f, const struct symbols_options *o)
{
	char *path = xasprintf("%s/perf-%" PRIu32 ".map", o->maps ? o->maps : "/tmp", f->pid);
	int fd = confined_open(path, O_NOFOLLOW);
	struct stat st, process;
	char proc[32];

	snprintf(proc, sizeof proc, "/proc/%" PRIu32, f->pid);
	if (fd >= 0 &&
	    (fstat(fd, &st) || (st.st_uid != geteuid() &&
				   (stat(proc, &process) || process.st_uid != st.st_uid)))) {
		log_warn("%s: not used: it belongs neither to you nor to the user of that process",
		    path);
		fd_close(&fd);
	}
	free(path);
	return fd;
}

int open_for(const struct recording_file *f, const struct symbols_options *o)
{
	switch (f->kind) {
	case RECORDING_ELF:
		return open_elf(f, o);
	case RECORDING_KERNEL:
		return open_kallsyms(f, o);
	case RECORDING_ANON:
		return open_perfmap(f, o);
	default:
		return -1;
	}
}
