/*
 * Names for code: functions, lines and what was inlined, by symbol tables, DWARF (elfutils),
 * separate debug files by build-id or .gnu_debuglink, .gnu_debugdata, /proc/kallsyms and JIT
 * compilers' /tmp/perf-PID.map.
 *
 * Whoever asks may be root, and files are whoever's: each is read by a child that has become the
 * file's owner and given up everything except reading files, before its first byte is read. A child
 * that crashes or takes too long leaves its locations unnamed, with one warning that names the
 * file.
 */
#ifndef MORPH_REPORT_SYMBOLS_H
#define MORPH_REPORT_SYMBOLS_H

#include "common/err.h"
#include "morphctl/report/recording/recording.h"

struct symbols_options {
	const char *debug;    /* folder of separate debug files, NULL = /usr/lib/debug */
	const char *kallsyms; /* NULL = /proc/kallsyms */
	const char *maps; /* folder of perf-PID.map, NULL = /tmp. A map counts where it belongs to
			     who asks, or to the user of the process while that runs */
	bool lines;       /* source lines and inlined functions too, not functions alone */
};

/*
 * Resolves all locations that are not yet. A file that is gone, or has another build-id by now, is
 * looked for by its build-id among those that the manager keeps and debug files; what has no name
 * then may be in a piece that the recording names, and else gets no frames.
 *
 * A function's source is the file that the line is in: one that is made of several files (#include,
 * #line) is a function for each, with one start, and the line of its definition in one of them.
 * Warnings are logged (common/log.h), one for each file.
 */
void symbols_resolve(struct recording *r, const struct symbols_options *o);

/* A function's instructions, for annotation. */
struct symbols_insn {
	uint64_t offset;    /* in the file */
	uint32_t size;      /* bytes */
	const char *text;   /* AT&T syntax, as GNU as reads it; a direct target as a hexadecimal
			       file offset */
	const char *source; /* file and line of it, or NULL and 0 */
	uint32_t line;
};
/* Those of [start, end) of an ELF file, and the text of source lines among them, which belong to
 * mem. Read by such a child, too. -1 when it cannot be. */
int symbols_disassemble(const struct recording_file *f, uint64_t start, uint64_t end,
    const struct symbols_options *o, struct arena *mem, struct symbols_insn **insn, size_t *n,
    struct err *e);
/* Lines [from, from + n) of a source file, from >= 1, as the child that has become owner (the uid
 * of the module that names it) may read it; who cannot become that user reads only what everybody
 * or the owner may. Each is NUL-terminated without a newline, with spaces for tabs; NULL beyond the
 * end. */
int symbols_source(const char *path, uint32_t owner, uint32_t from, uint32_t n, struct arena *mem,
    const char ***line, struct err *e);

/* A mangled name of C++, Rust or D as people write it, to free; or a copy of it, also where that
 * would be longer than 16 KiB. */
char *symbols_demangle(const char *linkage);

#endif
