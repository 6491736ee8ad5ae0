#include "managerd/priv/blob.h"

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

enum { RELEASE_STEP = 1 << 20, PAGE = 4096 }; /* bytes */

struct blob blob_of_fd(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	void *at = MAP_FAILED;

	if (size > 0)
		at = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return (struct blob){0};
	return (struct blob){.p = at, .n = (size_t)size, .base = at, .size = (size_t)size};
}

struct blob blob_part(const struct blob *b, uint64_t at, uint64_t n)
{
	if (!n || n > b->n || at > b->n - n)
		return (struct blob){0};
	return (struct blob){.p = b->p + at, .n = (size_t)n};
}

void blob_narrow(struct blob *b, const struct blob *part)
{
	b->p = part->p;
	b->n = part->n;
}

struct blob blob_take(struct blob *b)
{
	struct blob taken = *b;

	*b = (struct blob){0};
	return taken;
}

void blob_release(struct blob *b, const void *end)
{
	size_t past = b->base ? (size_t)((const uint8_t *)end - b->base) & -(size_t)PAGE : 0;

	if (past < b->released + RELEASE_STEP)
		return;
	madvise(b->base + b->released, past - b->released, MADV_DONTNEED);
	b->released = past;
}

void blob_free(struct blob *b)
{
	if (b->base)
		munmap(b->base, b->size);
	*b = (struct blob){0};
}
