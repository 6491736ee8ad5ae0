#include "editor-driver/proof/appended/frames.h"
#include "common/le.h"
#include "common/sort.h"
#include "common/unwind/ehrows.h"

#include <string.h>

/* ---- the index ---- */

/*
 * .eh_frame_hdr (Linux Standard Base 5): version, encodings of the three that follow: address of
 * .eh_frame, number of entries, and entries: of code and FDE, as distances from the index.
 */
enum { HEADER = 12, ENTRY = 8 };
static const uint8_t usual[4] = {1, 0x1b, 0x03, 0x3b};

static int odd_index(uint64_t addr, struct err *e)
{
	return err_set(e, "the index of unwind information at %#llx is not of the usual form",
	    (unsigned long long)addr);
}

static int read_index(
    struct loaded *im, const Elf64_Phdr *ph, struct frame_index *out, struct err *e)
{
	uint64_t n, i, addr = ph->p_vaddr;
	const uint8_t *p = loaded_at(im, addr, HEADER);

	if (!p || memcmp(p, usual, sizeof usual))
		return odd_index(addr, e);
	out->frames = addr + 4 + (uint64_t)(int32_t)get_le32(p + 4);
	n = get_le32(p + 8);
	p = loaded_at(im, addr, HEADER + ENTRY * n);
	if (!p || ph->p_filesz != HEADER + ENTRY * n || ph->p_memsz != ph->p_filesz)
		return odd_index(addr, e);
	for (i = 0, p += HEADER; i < n; i++, p += ENTRY)
		vec_push(&out->entry, (struct frame_entry){addr + (uint64_t)(int32_t)get_le32(p),
					  addr + (uint64_t)(int32_t)get_le32(p + 4)});
	for (i = 1; i < n; i++)
		if (out->entry.v[i].pc < out->entry.v[i - 1].pc)
			return err_set(e,
			    "the index of unwind information is not in order at %#llx",
			    (unsigned long long)(addr + HEADER + ENTRY * i));
	return 0;
}

static int by_pc(const void *a, const void *b)
{
	const struct frame_entry *x = a, *y = b;

	return ORDER(x->pc, y->pc) ?: ORDER(x->fde, y->fde);
}

/* Static programs register this section as they start, and have no index. */
static int read_section(struct loaded *im, struct frame_index *out, struct err *e)
{
	struct elf_section s;
	struct eh_frames all;
	struct eh_fde f;
	int rc = elf_file_section(im->f, ".eh_frame", &s, e);

	if (rc <= 0 || !s.data)
		return err_set(e, "no unwind information");
	out->frames = s.addr;
	all = (struct eh_frames){.p = s.data, .size = s.size, .addr = s.addr};
	while ((rc = eh_frames_next(&all, &f)) > 0)
		vec_push(&out->entry, (struct frame_entry){f.pc, f.at});
	vec_sort(&out->entry, by_pc);
	return rc ? err_set(e, "unwind information of another form than DWARF's") : 0;
}

int frame_index_read(struct loaded *im, struct frame_index *out, struct err *e)
{
	size_t i;

	for (i = 0; i < im->ph.n; i++)
		if (im->ph.v[i].p_type == PT_GNU_EH_FRAME)
			return read_index(im, &im->ph.v[i], out, e);
	return read_section(im, out, e);
}

/* ---- records ---- */

static int read_record(struct loaded *im, const struct frame_entry *entry, struct frame *f)
{
	const Elf64_Phdr *ph = loaded_segment(im, entry->fde);
	struct eh_frames one;

	if (!ph || entry->fde - ph->p_vaddr >= ph->p_filesz)
		return -1;
	one = (struct eh_frames){.p = (const uint8_t *)im->file.p + ph->p_offset,
	    .size = ph->p_filesz,
	    .addr = ph->p_vaddr,
	    .next = entry->fde - ph->p_vaddr};
	return eh_frames_next(&one, &f->fde) > 0 && f->fde.at == entry->fde &&
		       f->fde.pc == entry->pc
		   ? 0
		   : -1;
}

int frames_open(struct frames *f, struct loaded *im, const struct frame_entry *entry, size_t n,
    struct htab *row_names, struct err *e)
{
	struct frame one;
	uint64_t end = 0;
	size_t i;

	*f = (struct frames){.im = im, .row_names = row_names};
	for (i = 0; i < n; i++) {
		one = (struct frame){.read = false};
		if (read_record(im, &entry[i], &one) || entry[i].pc < end)
			return err_set(e,
			    "the index of unwind information names no record of the function at "
			    "%#llx, or two",
			    (unsigned long long)entry[i].pc);
		end = one.fde.pc + one.fde.size;
		vec_push(&f->frame, one);
	}
	return 0;
}

void frames_free(struct frames *f)
{
	size_t i;

	for (i = 0; i < f->frame.n; i++) {
		vec_free(&f->frame.v[i].row);
		eh_table_free(&f->frame.v[i].table);
	}
	vec_free(&f->frame);
}

struct frame *frames_find(struct frames *f, uint64_t addr)
{
	size_t n;

	if (f->last && addr - f->last->fde.pc < f->last->fde.size)
		return f->last;
	n = partition_point(0, f->frame.n, i, f->frame.v[i].fde.pc <= addr);
	if (!n || addr - f->frame.v[n - 1].fde.pc >= f->frame.v[n - 1].fde.size)
		return NULL;
	return f->last = &f->frame.v[n - 1];
}

/* ---- rows and tables ---- */

struct naming {
	struct frame *f;
	struct htab *names;
	struct buf says;
};

static int add_row(const struct eh_row *r, void *arg)
{
	struct naming *n = arg;
	uint64_t *number;
	bool fresh;

	n->says.n = 0;
	eh_row_put(r, &n->says);
	number = htab_put(n->names, n->says.p, n->says.n, &fresh);
	if (fresh)
		*number = n->names->n;
	vec_push(&n->f->row, (struct frame_row){r->begin, (uint32_t)*number});
	return 0;
}

static int read_table(struct frames *f, struct frame *of)
{
	uint64_t n;
	const uint8_t *p;
	int rc;

	if (!of->fde.lsda)
		return 0;
	p = loaded_bytes(f->im, of->fde.lsda, &n);
	rc = p ? eh_table_read(p, p + n, of->fde.lsda, of->fde.pc, &of->table) : -1;
	/* Tables lie one after the other: those that overlap are none. */
	f->sites += of->table.site.n;
	return rc || f->sites > f->im->file.n ? -1 : 0;
}

int frames_read(struct frames *f, struct frame *of, struct err *e)
{
	struct naming n = {.f = of, .names = f->row_names};
	int rc;

	if (of->read)
		return 0;
	rc = eh_rows(&of->fde, add_row, &n);
	buf_free(&n.says);
	if (rc)
		return err_set(e, "unwind information at %#llx is not understood",
		    (unsigned long long)of->fde.at);
	if (read_table(f, of))
		return err_set(e, "the exception table at %#llx is not understood",
		    (unsigned long long)of->fde.lsda);
	of->read = true;
	return 0;
}

static bool holds(const struct frame *f, size_t row, uint64_t addr)
{
	return f->row.v[row].begin <= addr &&
	       (row + 1 == f->row.n || addr < f->row.v[row + 1].begin);
}

uint32_t frame_row(struct frame *f, uint64_t addr)
{
	size_t n;

	if (!f->row.n)
		return 0;
	if (!holds(f, f->last, addr)) {
		n = partition_point(0, f->row.n, i, f->row.v[i].begin <= addr);
		f->last = n ? n - 1 : 0;
	}
	return f->row.v[f->last].says;
}
