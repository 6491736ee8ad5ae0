/*
 * The smallest modules: static executables of one page that exit with a
 * status, perhaps after pause(2), and carry a build-id. What a test swaps.
 */
#ifndef TEST_TINYELF_H
#define TEST_TINYELF_H

#include "common/elf/elf.h"
#include "common/publish.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TINY_BASE = 0x400000, TINY_ID = 20 };

/* Every byte of the build-id is the status. */
static inline struct build_id tiny_id(uint8_t status)
{
	struct build_id id = {.n = TINY_ID};

	memset(id.b, status, TINY_ID);
	return id;
}

static inline void tiny_bytes(struct buf *out, uint8_t status, bool pauses, size_t size)
{
	static const uint8_t pause_code[] = {0xb8, 34, 0, 0, 0, 0x0f, 0x05};
	const uint8_t exit_code[] = {0xbf, status, 0, 0, 0, 0xb8, 60, 0, 0, 0, 0x0f, 0x05};
	struct {
		Elf64_Ehdr eh;
		Elf64_Phdr ph[2];
		Elf64_Nhdr nh;
		char name[4];
		uint8_t id[TINY_ID];
		uint8_t code[32];
		Elf64_Shdr sh[2] __attribute__((aligned(8)));
	} m = {
	    .eh = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof m.eh,
		.e_ehsize = sizeof m.eh,
		.e_phentsize = sizeof m.ph[0],
		.e_phnum = 2,
		.e_shoff = offsetof(__typeof__(m), sh),
		.e_shentsize = sizeof m.sh[0],
		.e_shnum = 2,
		.e_entry = TINY_BASE + offsetof(__typeof__(m), code)},
	    .ph = {{.p_type = PT_LOAD,
		       .p_flags = PF_R | PF_X,
		       .p_vaddr = TINY_BASE,
		       .p_filesz = sizeof m,
		       .p_memsz = sizeof m,
		       .p_align = 0x1000},
		{.p_type = PT_NOTE,
		    .p_flags = PF_R,
		    .p_align = 4,
		    .p_offset = offsetof(__typeof__(m), nh),
		    .p_vaddr = TINY_BASE + offsetof(__typeof__(m), nh),
		    .p_filesz = sizeof m.nh + 4 + TINY_ID,
		    .p_memsz = sizeof m.nh + 4 + TINY_ID}},
	    .nh = {.n_namesz = 4, .n_descsz = TINY_ID, .n_type = NT_GNU_BUILD_ID},
	    .name = "GNU",
	    .sh = {{0}, {.sh_type = SHT_NOTE,
			    .sh_flags = SHF_ALLOC,
			    .sh_addralign = 4,
			    .sh_offset = offsetof(__typeof__(m), nh),
			    .sh_addr = TINY_BASE + offsetof(__typeof__(m), nh),
			    .sh_size = sizeof m.nh + 4 + TINY_ID}},
	};

	memset(m.id, status, TINY_ID);
	if (pauses)
		memcpy(m.code, pause_code, sizeof pause_code);
	memcpy(m.code + (pauses ? sizeof pause_code : 0), exit_code, sizeof exit_code);
	buf_add(out, &m, sizeof m);
	if (size > out->n) {
		size -= out->n;
		memset(buf_grow(out, size), status, size);
	}
}

static inline int tiny_write(const char *path, uint8_t status, bool pauses, size_t size)
{
	struct buf b = {0};
	int r;

	tiny_bytes(&b, status, pauses, size);
	r = publish_bytes(path, b.p, b.n, 0755, NULL);
	buf_free(&b);
	return r;
}

/* Runs it; its exit status, or -1. */
static inline int tiny_run(const char *path)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		execl(path, path, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

#endif
