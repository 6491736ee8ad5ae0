#include "managerd/os/hugepages.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* Address space that is mapped to nothing, n bytes from a huge page's boundary on. */
static char *reserve(size_t n, void **all, size_t *nall)
{
	*nall = n + HUGE_PAGE;
	*all = mmap(NULL, *nall, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return *all == MAP_FAILED ? NULL
				  : (char *)*all + (HUGE_PAGE - (uintptr_t)*all % HUGE_PAGE) % HUGE_PAGE;
}

int hugepages_load(int fd, struct err *e)
{
	size_t n, nall;
	struct stat st;
	void *all;
	char *p;

	if (fstat(fd, &st) < 0)
		return err_sys(e, "its size");
	/* What is after the last boundary fills no huge page. */
	n = (size_t)st.st_size - (size_t)st.st_size % HUGE_PAGE;
	if (!n)
		return 0;
	p = reserve(n, &all, &nall);
	if (!p)
		return err_sys(e, "mapping it");
	/* Executable: the kernel collapses no other mapping of a file. */
	if (mmap(p, n, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) {
		err_sys(e, "mapping it");
		munmap(all, nall);
		return -1;
	}
	madvise(p, n, MADV_HUGEPAGE);
	madvise(p, n, MADV_POPULATE_READ);
	madvise(p, n, MADV_COLLAPSE);
	munmap(all, nall);
	return 0;
}
