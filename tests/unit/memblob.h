/* A blob of some bytes. */
#include "common/publish.h"
#include "managerd/priv/blob.h"

#include <check.h>
#include <sys/mman.h>
#include <unistd.h>

static struct blob memblob(const void *p, size_t n)
{
	int fd = memfd_create("blob", MFD_CLOEXEC);
	struct blob b;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write_all(fd, p, n), 0);
	b = blob_of_fd(fd);
	close(fd);
	return b;
}
