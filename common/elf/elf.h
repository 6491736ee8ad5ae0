/*
 * Reading ELF files (x86-64, little-endian). Files are foreign input: every
 * function checks what it reads and fails with one clear line. Headers and notes
 * are read in memory of fixed size, whatever the file says; what sections and
 * symbols take (libelf) is bounded by the file's size, each section loaded once.
 * Pure reading; nothing here writes a file.
 */
#ifndef MORPH_ELF_H
#define MORPH_ELF_H

#include "common/elf/buildid.h"
#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct elf;

/* Opens path (file_open()), or, when fd >= 0, takes it over, also when it fails;
 * path is then only for messages. */
struct elf *elf_file_open(const char *path, int fd, struct err *e);
/* Over bytes in memory that outlive the handle (an object inside an archive). */
struct elf *elf_mem_open(const void *p, size_t n, const char *name, struct err *e);
void elf_file_close(struct elf *f);

enum elf_kind { ELF_OBJECT, ELF_EXEC, ELF_PIE, ELF_SHARED, ELF_OTHER };
enum elf_kind elf_file_kind(struct elf *f);
/* The address where it begins; 0 = it does not say. */
uint64_t elf_file_entry(struct elf *f);

/* The NT_GNU_BUILD_ID note; n = 0 when there is none. Sections of notes beyond
 * 64 KiB are not looked through; without section headers segments are. A program with a block map
 * and without a note is named by its content: the hash of what is loaded (FORMATS.md, "Names by
 * content"). */
struct build_id elf_file_build_id(struct elf *f);
/* That note alone; *at: where its bytes are in the file. */
struct build_id elf_file_build_id_note(struct elf *f, uint64_t *at);
/* Does it have that note? */
bool elf_file_has_build_id(struct elf *f);
/* The build-id of the build that this one was laid out from (FORMATS.md,
 * ".note.morph"); n = 0 when this is no laid-out build. */
struct build_id elf_file_origin(struct elf *f);
/* The build-id of the build whose executions this one counts; n = 0 when this
 * is no counting build. */
struct build_id elf_file_counted(struct elf *f);

struct elf_section {
	const char *name;                   /* lives as long as the handle */
	uint64_t addr, offset, size, flags; /* offset in the file */
	uint32_t type, index;
	const uint8_t *data; /* NULL for SHT_NOBITS; lives as long as the handle */
};
/* Finds a section by name. Returns 1 found, 0 absent, -1 error. The data is
 * raw: relocations are not applied. */
int elf_file_section(struct elf *f, const char *name, struct elf_section *s, struct err *e);
/* Calls fn for every section in file order until it returns non-zero, and
 * returns that; -1 also for a section that exceeds the file. */
int elf_file_sections(struct elf *f, int (*fn)(const struct elf_section *, void *), void *arg);

struct elf_segment { /* one executable PT_LOAD */
	uint64_t offset, vaddr, filesz;
};
size_t elf_file_exec_segments(struct elf *f, struct elf_segment *seg, size_t max);
/* The PF_* flags of the first segment of a type (PT_*). Returns 1, or 0 when
 * there is none. */
int elf_file_segment_flags(struct elf *f, uint32_t type, uint32_t *flags);

struct elf_symbol {
	const char *name; /* lives as long as the handle */
	uint64_t value, size;
	uint8_t type, bind, visibility; /* STT_*, STB_*, STV_* */
	uint16_t shndx;
	const char *version; /* dynamic symbols: "GLIBC_2.2.5", or NULL */
};
/* Calls fn for every symbol of .symtab (dynamic = false) or .dynsym until it
 * returns non-zero, and returns that; -1 also for a damaged table. */
int elf_file_symbols(
    struct elf *f, bool dynamic, int (*fn)(const struct elf_symbol *, void *), void *arg);

/*
 * What the dynamic loader and other modules can see of a module. Two builds
 * of one program must agree in all of it before one may replace the other.
 */
struct elf_face {
	struct arena mem; /* owns all strings */
	enum elf_kind kind;
	char *interp, *soname, *rpath, *runpath; /* NULL = none */
	uint64_t flags, flags_1;                 /* DT_FLAGS, DT_FLAGS_1 */
	bool textrel, execstack;
	VEC(char *) needed;  /* in order */
	VEC(char *) symbols; /* sorted: "D|U name@version type bind visibility size-of-objects" */
};
int elf_face_read(struct elf *f, struct elf_face *face, struct err *e);
void elf_face_free(struct elf_face *face);
/* 0 when equal, else -1 and the first difference in e. */
int elf_face_compare(const struct elf_face *a, const struct elf_face *b, struct err *e);

/* ---- for the relink ---- */

/*
 * Appends what runs of the executable or shared library p: the ELF header but
 * for where the sections are, the program headers (of PT_TLS and PT_GNU_RELRO without the offset,
 * which nobody reads), the bytes of every PT_LOAD segment. Two files with equal images run alike,
 * unless they read their own file. *surplus: bytes after all that the headers name.
 */
int elf_image(const void *p, size_t n, struct buf *out, size_t *surplus, struct err *e);

/*
 * Appends a copy of the shared library p that keeps only what a linker reads:
 * headers, dynamic symbols, versions, needed libraries, notes. All other bytes
 * are zero, and what follows the last byte that is kept is cut off, so
 * that it compresses to little. Linking against it gives the same bytes as
 * against the library itself. A library without DT_SONAME is called by the
 * path it was linked by: name, when not NULL, becomes its DT_SONAME, so that
 * this does not depend on where the copy lies.
 */
int elf_thin_shared(const void *p, size_t n, const char *name, struct buf *out, struct err *e);

/* Names in the shared libraries of one link. A zero-filled struct is an empty one. */
struct elf_names {
	struct htab kept;  /* those that something else than a shared library may refer to */
	struct htab given; /* others -> number, by which they are called */
	uint64_t n;        /* the next number */
};
void elf_names_free(struct elf_names *names);

/*
 * Appends a copy of the shared library p, as elf_thin_shared() makes them, in which other symbols
 * than names->kept have names that compress to nothing, in all libraries of the link the same, and
 * those that it defines are all alike, but other names of data that is kept. The linker has as many
 * symbols as before and finds definitions for the same references; those that reach its output are
 * called as before, and (but by gold) ordered as before.
 */
int elf_rename(struct elf_names *names, const void *p, size_t n, struct buf *out, struct err *e);

#endif
