/*
 * What unwinding finds at an instruction of a build: the FDEs that its index (.eh_frame_hdr) names,
 * their rows and exception tables, each read when it is first asked for.
 */
#ifndef MORPH_APPENDED_FRAMES_H
#define MORPH_APPENDED_FRAMES_H

#include "common/hash.h"
#include "common/unwind/ehframe.h"
#include "common/unwind/ehtable.h"
#include "editor-driver/proof/appended/loaded.h"

struct frame_row {
	uint64_t begin;
	uint32_t says; /* equal numbers, equal rows, in all frames of the same row_names */
};

struct frame {
	struct eh_fde fde;
	VEC(struct frame_row) row; /* ascending; the first begins with the code */
	size_t last;               /* the row that was asked for last */
	struct eh_table table;     /* where fde.lsda is not 0 */
	bool read;
};

/* An entry of an index. */
struct frame_entry {
	uint64_t pc, fde; /* addresses of code and record */
};
struct frame_index {
	VEC(struct frame_entry) entry;
	uint64_t frames; /* the address of .eh_frame */
};

struct frames {
	struct loaded *im;
	VEC(struct frame) frame; /* ascending by code */
	struct htab *row_names;  /* rows -> numbers; of both builds */
	uint64_t sites;          /* call sites that were read; no more than the file has bytes */
	struct frame *last;
};

/*
 * Reads the index, or where there is none the section .eh_frame. -1: neither, or not of the usual
 * form. Free its entries in both cases.
 */
int frame_index_read(struct loaded *im, struct frame_index *out, struct err *e);

/* Of the records of some entries, ascending. Free in both cases. */
int frames_open(struct frames *f, struct loaded *im, const struct frame_entry *entry, size_t n,
    struct htab *row_names, struct err *e);
void frames_free(struct frames *f);

/* The one that unwinding finds for an address, or NULL. */
struct frame *frames_find(struct frames *f, uint64_t addr);
/* Reads rows and table. -1: not understood. */
int frames_read(struct frames *f, struct frame *of, struct err *e);
/* What the row at an address of it says. */
uint32_t frame_row(struct frame *f, uint64_t addr);

#endif
