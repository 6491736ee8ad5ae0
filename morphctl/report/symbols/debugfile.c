/*
 * Separate debug files below CONFINED_FOLDER:
 *	.build-id/xx/yyyy….debug	or without .debug, by build-id
 *	DIR/NAME			NAME in .gnu_debuglink of a file in DIR, with the CRC of all
 *	.dwz/…				in .gnu_debugaltlink, with a build-id
 * and .gnu_debugdata, which is such a file in xz within the program ("MiniDebugInfo").
 */
#include "common/elf/elf.h"
#include "common/pack.h"
#include "common/publish.h"
#include "morphctl/report/confined/confined.h"
#include "morphctl/report/symbols/program.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <lzma.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WITHIN_MAX = 256 << 20, CRC_CHUNK = 64 << 10 };

static int open_below(const char *path)
{
	struct stat st;
	int fd;

	while (*path == '/')
		path++;
	fd = openat(CONFINED_FOLDER, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode)))
		fd_close(&fd);
	return fd;
}

/* A file there of that build-id. */
static Elf *open_identified(const char *path, const struct build_id *id)
{
	int fd = open_below(path);
	struct elf *f = fd < 0 ? NULL : elf_file_open(path, fd, NULL);
	struct build_id own;

	if (!f)
		return NULL;
	own = elf_file_build_id(f);
	if (build_id_equal(&own, id))
		return elf_begin(fd, ELF_C_READ_MMAP, NULL);
	elf_file_close(f);
	return NULL;
}

Elf *debugfile_of_id(const struct build_id *id)
{
	char hex[BUILD_ID_HEX], *path;
	Elf *elf;

	if (id->n < 2)
		return NULL;
	build_id_hex(id, hex);
	path = xasprintf(".build-id/%.2s/%s.debug", hex, hex + 2);
	elf = open_identified(path, id);
	if (!elf) {
		path[strlen(path) - strlen(".debug")] = '\0';
		elf = open_identified(path, id);
	}
	free(path);
	return elf;
}

static bool crc_is(int fd, uint32_t crc)
{
	uint8_t b[CRC_CHUNK];
	uint32_t found = 0;
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, b, sizeof b, at)) > 0) {
		found = lzma_crc32(b, (size_t)n, found);
		at += n;
	}
	return !n && found == crc;
}

Elf *debugfile_of_link(Elf *elf, const char *path, const struct build_id *id)
{
	GElf_Word crc;
	const char *name = dwelf_elf_gnu_debuglink(elf, &crc);
	char *dir, *whole;
	Elf *found = NULL;
	int fd;

	if (!name || strchr(name, '/'))
		return NULL;
	dir = path_dir(path);
	whole = xasprintf("%s/%s", dir, name);
	if (id->n) {
		found = open_identified(whole, id);
	} else {
		fd = open_below(whole);
		found = fd >= 0 && crc_is(fd, crc) ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	}
	free(whole);
	free(dir);
	return found;
}

Elf *debugfile_of_alt(Dwarf *dwarf, const char *folder)
{
	const char *name, *below;
	const void *bytes;
	ssize_t n = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &bytes);
	struct build_id id = {0};
	Elf *found;

	if (n <= 0 || (size_t)n > sizeof id.b)
		return NULL;
	id.n = (uint8_t)n;
	memcpy(id.b, bytes, id.n);
	found = debugfile_of_id(&id);
	below = strstr(name, "/.dwz/");
	if (!found && folder && strncmp(name, folder, strlen(folder)) == 0)
		found = open_identified(name + strlen(folder), &id);
	if (!found && below)
		found = open_identified(below, &id);
	return found;
}

Elf *debugfile_within(Elf *elf)
{
	Elf_Scn *s = program_section(elf, ".gnu_debugdata");
	Elf_Data *d = s ? elf_rawdata(s, NULL) : NULL;
	struct buf b = {0};

	if (!d || !d->d_buf || unpack_xz(d->d_buf, d->d_size, WITHIN_MAX, &b))
		return NULL;
	return elf_memory(b.p, b.n);
}
