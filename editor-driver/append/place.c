#include "editor-driver/append/place.h"

#include <string.h>

enum { LINE = 64 };
/* Bytes of the file, holes, that a program's zeroed data may cost. */
static const uint64_t HOLE_MAX = 64 << 20;

static uint64_t align(uint64_t n, uint64_t to)
{
	return (n + to - 1) & -to;
}

static const Elf64_Phdr *find(const struct original *o, uint32_t type)
{
	const Elf64_Phdr *p;

	for (p = o->segment.v; p < o->segment.v + o->segment.n; p++)
		if (p->p_type == type)
			return p;
	return NULL;
}

/* A PT_NOTE of which nothing is lost without it, or NULL. */
static const Elf64_Phdr *spare(const struct original *o)
{
	const Elf64_Phdr *property = find(o, PT_GNU_PROPERTY), *p;

	for (p = o->segment.v; property && p < o->segment.v + o->segment.n; p++)
		if (p->p_type == PT_NOTE && p->p_offset == property->p_offset &&
		    p->p_filesz == property->p_filesz)
			return p;
	return NULL;
}

/* The table with a new PT_LOAD after the others, and with an index. */
static void make_table(const struct original *o, const Elf64_Phdr *left_out, struct place *w)
{
	const Elf64_Phdr *p, *last = NULL;

	for (p = o->segment.v; p < o->segment.v + o->segment.n; p++)
		if (p->p_type == PT_LOAD)
			last = p;
	w->index = SIZE_MAX;
	for (p = o->segment.v; p < o->segment.v + o->segment.n; p++) {
		if (p->p_type == PT_GNU_EH_FRAME)
			w->index = w->segment.n;
		if (p != left_out)
			vec_push(&w->segment, *p);
		if (p != last)
			continue;
		w->load = w->segment.n;
		vec_push(&w->segment,
		    (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_align = PAGE});
	}
	if (w->index == SIZE_MAX) {
		w->index = w->segment.n;
		vec_push(&w->segment,
		    (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME, .p_flags = PF_R, .p_align = 4});
	}
}

/* At the begin of the new segment. */
static int move_table(const struct original *o, struct place *w, struct err *e)
{
	const Elf64_Phdr *first = find(o, PT_LOAD);
	uint64_t apart = first->p_vaddr - first->p_offset, size = w->segment.n * sizeof *first;
	size_t i;

	if (w->addr < w->offset + apart)
		w->addr = w->offset + apart;
	w->offset = w->addr - apart;
	w->code = align(w->addr + size, LINE);
	if (w->offset - o->file.n > HOLE_MAX + PAGE)
		return err_set(e,
		    "%s: code cannot be added to it: its zeroed data would take %llu MiB of the "
		    "file, where there is no room for another program header",
		    o->path, (unsigned long long)(w->offset - o->file.n) >> 20);
	for (i = 0; i < w->segment.n; i++) {
		if (w->segment.v[i].p_type != PT_PHDR)
			continue;
		w->segment.v[i].p_offset = w->offset;
		w->segment.v[i].p_vaddr = w->segment.v[i].p_paddr = w->addr;
		w->segment.v[i].p_filesz = w->segment.v[i].p_memsz = size;
	}
	return 0;
}

int place_find(const struct original *o, struct place *w, struct err *e)
{
	Elf64_Phdr *load;

	*w = (struct place){.addr = align(o->end, PAGE), .offset = align(o->file.n, PAGE)};
	w->code = w->addr;
	make_table(o, spare(o), w);
	w->moved = w->segment.n > o->segment.n;
	if (w->moved) {
		w->segment.n = 0;
		make_table(o, NULL, w);
		if (move_table(o, w, e))
			return -1;
	}
	if (w->segment.n >= PN_XNUM)
		return err_set(
		    e, "%s: code cannot be added to it: too many program headers", o->path);
	load = &w->segment.v[w->load];
	load->p_offset = w->offset;
	load->p_vaddr = load->p_paddr = w->addr;
	return 0;
}

void place_free(struct place *w)
{
	vec_free(&w->segment);
}
