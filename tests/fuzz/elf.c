/*
 * cov >= 300
 * ELF files: everything the readers offer, on bytes as they come.
 */
#include "common/elf/elf.h"
#include "common/elf/blockmap.h"

#include <stdlib.h>

static int see_section(const struct elf_section *s, void *arg)
{
	return !s->name;
}

static int see_symbol(const struct elf_symbol *s, void *arg)
{
	return !s->name;
}

static void read_all(struct elf *f)
{
	struct elf_face face;
	struct blockmap m;
	struct err e;

	elf_file_build_id(f);
	elf_file_origin(f);
	elf_file_sections(f, see_section, NULL);
	elf_file_symbols(f, false, see_symbol, NULL);
	if (!elf_face_read(f, &face, &e)) {
		if (elf_face_compare(&face, &face, &e))
			abort();
		elf_face_free(&face);
	}
	if (!blockmap_from_elf(f, &m, &e))
		blockmap_free(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct buf thin = {0}, image = {0};
	size_t surplus;
	struct elf *f;
	struct err e;

	f = elf_mem_open(p, n, "fuzz", &e);
	if (f)
		read_all(f);
	elf_file_close(f);
	elf_thin_shared(p, n, "name", &thin, &e);
	buf_free(&thin);
	if (!elf_image(p, n, &image, &surplus, &e) && surplus > n)
		abort();
	buf_free(&image);
	return 0;
}
