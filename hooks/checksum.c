#include "hooks/checksum.h"
#include "common/elf/elf.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/publish.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The offset of the checksum in the object, 0 = none, -1 = error. */
static ssize_t checksum_offset(const uint8_t *p, size_t n, const char *name, struct err *e)
{
	struct elf *f = elf_mem_open(p, n, name, e);
	struct elf_section s;
	ssize_t at = 0;
	int r;

	if (!f)
		return -1;
	r = elf_file_section(f, CHECKSUM_SECTION, &s, e);
	if (r < 0)
		at = -1;
	else if (r > 0 && s.size == sizeof(struct hash128) && s.data && s.data > p &&
		 s.data + s.size <= p + n)
		at = s.data - p;
	elf_file_close(f);
	return at;
}

static struct hash128 checksum_of(uint8_t *p, size_t n, size_t at)
{
	struct hash128 kept, sum;

	memcpy(kept.b, p + at, sizeof kept);
	memset(p + at, 0, sizeof kept);
	sum = hash_bytes(p, n);
	memcpy(p + at, kept.b, sizeof kept);
	return sum;
}

int checksum_file(const char *path, struct err *e)
{
	struct hash128 sum;
	struct buf b = {0};
	ssize_t at;
	int fd, r = -1;

	if (file_read(path, 0, &b, e) < 0)
		return -1;
	at = checksum_offset((uint8_t *)b.p, b.n, path, e);
	if (at == 0)
		err_set(e, "%s: no section %s", path, CHECKSUM_SECTION);
	if (at > 0) {
		sum = checksum_of((uint8_t *)b.p, b.n, (size_t)at);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd >= 0 && pwrite(fd, sum.b, sizeof sum, at) == sizeof sum)
			r = 0;
		else
			err_sys(e, "%s", path);
		if (fd >= 0)
			close(fd);
	}
	buf_free(&b);
	return r;
}

int checksum_check(void *object, size_t n, const char *name, struct err *e)
{
	ssize_t at = checksum_offset(object, n, name, e);
	struct hash128 sum;

	if (at <= 0)
		return (int)at;
	sum = checksum_of(object, n, (size_t)at);
	return !memcmp(sum.b, (uint8_t *)object + at, sizeof sum);
}
