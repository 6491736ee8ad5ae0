/*
 * What children do (confined.h): read a file that is open as CONFINED_FILE and say what is at n
 * offsets or addresses, in ascending order and each once. Each adds n locations to an empty
 * recording, in that order, with the frames of each; -1 where the file is of no use.
 */
#ifndef MORPH_REPORT_READERS_H
#define MORPH_REPORT_READERS_H

#include "common/err.h"
#include "morphctl/report/recording/recording.h"

struct request {
	const struct recording_file *file;
	const char *debug; /* the name of CONFINED_FOLDER, or NULL */
	bool lines;        /* and inlined functions, of ELF */
	const uint64_t *at;
	size_t n;
};

/* An ELF file, or where that is another build than file->id the one that CONFINED_FOLDER has. */
int read_elf(const struct request *q, struct recording *r, struct err *e);
/* The text of /proc/kallsyms. Fails where there are no addresses in it. */
int read_kallsyms(
    const struct request *q, const char *text, size_t n, struct recording *r, struct err *e);
/* The text of a JIT compiler's perf-PID.map. */
void read_perfmap(const struct request *q, const char *text, size_t n, struct recording *r);

/* The n pieces, in ascending order. It reads no file. */
void read_pieces(
    const struct request *q, const struct recording_piece *p, size_t n, struct recording *r);

/* Appends what there is in CONFINED_FILE; fails beyond max bytes. */
int reader_bytes(size_t max, struct buf *out, struct err *e);
/* A function, by its linkage name. */
uint32_t reader_function(struct recording *r, const char *linkage, uint64_t start, uint64_t size);
/* The next location: in that function, or RECORDING_NONE. */
void reader_location(struct recording *r, uint32_t function);

#endif
