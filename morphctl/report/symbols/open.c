#include "morphctl/report/symbols/open.h"
#include "common/log.h"
#include "common/publish.h"
#include "morphctl/report/child/child.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *open_debug_folder(const struct symbols_options *o)
{
	return o->debug ? o->debug : "/usr/lib/debug";
}

/* Where the file is gone its debug file may have names. */
static int open_elf(const struct recording_file *f, const struct symbols_options *o)
{
	int fd = f->path[0] == '/' ? child_open(f->path, 0) : -1;
	char hex[BUILD_ID_HEX], *path;

	if (fd >= 0 || f->id.n < 2)
		return fd;
	build_id_hex(&f->id, hex);
	path = xasprintf("%s/.build-id/%.2s/%s.debug", open_debug_folder(o), hex, hex + 2);
	fd = child_open(path, 0);
	if (fd < 0) {
		path[strlen(path) - strlen(".debug")] = '\0';
		fd = child_open(path, 0);
	}
	free(path);
	return fd;
}

/* Anybody can make a file of that name: it must be of who asks, or of the process's user. */
static int open_perfmap(const struct recording_file *f, const struct symbols_options *o)
{
	char *path = xasprintf("%s/perf-%" PRIu32 ".map", o->maps ? o->maps : "/tmp", f->pid);
	int fd = child_open(path, O_NOFOLLOW);
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
		return child_open(o->kallsyms ? o->kallsyms : "/proc/kallsyms", 0);
	case RECORDING_ANON:
		return open_perfmap(f, o);
	default:
		return -1;
	}
}
