/* What the kernel says of a mapping of a file, from one of ours. */
#ifndef MORPH_TEST_MAPPING_H
#define MORPH_TEST_MAPPING_H

#include "monitor-client/kernel/procfs.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static void mapping_see(const struct event_map *map, void *arg)
{
	struct event_map *m = arg;

	if (map->start <= m->start && m->start < map->end)
		*m = *map;
}

/* At 0x1000 to 0x2000; gen is 0 where the file system does not tell. */
static inline struct event_map mapping_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	struct event_map m = {.start = (uint64_t)(uintptr_t)at};
	long gen = 0;

	ck_assert(at != MAP_FAILED);
	ck_assert_int_eq(
	    procfs_maps(open("/proc/self/maps", O_RDONLY | O_CLOEXEC), mapping_see, &m), 0);
	ck_assert_uint_ne(m.ino, 0);
	if (ioctl(fd, FS_IOC_GETVERSION, &gen))
		gen = 0;
	munmap(at, 4096);
	close(fd);
	return (struct event_map){.start = 0x1000,
	    .end = 0x2000,
	    .maj = m.maj,
	    .min = m.min,
	    .ino = m.ino,
	    .gen = (uint32_t)gen,
	    .path = (char *)path};
}

#endif
