#include "morphctl/report/unwind/unwind.h"
#include "common/elf/elf.h"
#include "common/le.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>

enum { SPACES = 64, SEGMENTS = 16 };

/* How a file is linked; end = 0: it is of no use. */
struct linked {
	bool seen;
	uint64_t begin, end; /* addresses */
	struct elf_segment segment[SEGMENTS];
	size_t nsegment;
};

/* What libdwfl has of a process. */
struct space {
	uint32_t of;
	uint64_t used; /* the last sample that needed it; 0 = empty */
	Dwfl *dwfl;
};

struct unwind {
	const struct unwind_image *image;
	size_t nimage;
	struct linked *linked; /* of each image */
	struct space space[SPACES];
	uint64_t turn;
	Elf *machine; /* says x86-64, and nothing else */
	/* Of the sample at hand. */
	const struct unwind_stack *stack;
	Dwfl *dwfl;
	struct unwind_stack from; /* what libdwfl begins with; again: it is to, with what it lost */
	uint64_t rbx;             /* of the frame that was seen last */
	bool has_rbx, again;
	bool stale; /* something else is mapped where dwfl has a file */
	size_t n;
	uint64_t addr[UNWIND_MAX];
};

/* ---- files ---- */

static Elf *open_image(const struct unwind_image *m)
{
	return elf_memory((char *)(uintptr_t)m->p, m->n);
}

static bool is_build(const struct unwind_image *m, struct linked *l)
{
	struct elf *f = elf_mem_open(m->p, m->n, "", NULL);
	struct build_id id;

	if (!f)
		return false;
	id = elf_file_build_id(f);
	l->nsegment = elf_file_exec_segments(f, l->segment, SEGMENTS);
	elf_file_close(f);
	return !m->id.n || build_id_equal(&id, &m->id);
}

/* From the first segment's page to the end of the last one, as libdwfl counts. */
static void set_range(const struct unwind_image *m, struct linked *l)
{
	Elf *elf = open_image(m);
	bool first = true;
	GElf_Phdr ph;
	size_t n, i;

	if (!elf || elf_getphdrnum(elf, &n))
		n = 0;
	for (i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD)
			continue;
		if (first)
			l->begin = ph.p_vaddr & -ph.p_align;
		first = false;
		if (ph.p_vaddr + ph.p_memsz > l->end)
			l->end = ph.p_vaddr + ph.p_memsz;
	}
	elf_end(elf);
}

static const struct linked *linked(struct unwind *u, uint32_t image)
{
	struct linked *l = &u->linked[image];

	if (!l->seen && is_build(&u->image[image], l))
		set_range(&u->image[image], l);
	l->seen = true;
	return l->end > l->begin ? l : NULL;
}

/* What is to be added to addresses of the file that is mapped at addr. */
static bool find_bias(struct unwind *u, uint64_t addr, uint32_t *image, uint64_t *bias)
{
	const struct linked *l;
	uint64_t offset;
	size_t i;

	if (!u->stack->find(u->stack->arg, addr, image, &offset) || *image >= u->nimage ||
	    !(l = linked(u, *image)))
		return false;
	for (i = 0; i < l->nsegment; i++) {
		if (offset - l->segment[i].offset >= l->segment[i].filesz)
			continue;
		*bias = addr - (offset - l->segment[i].offset + l->segment[i].vaddr);
		return *bias + l->end > *bias + l->begin;
	}
	return false;
}

/* ---- libdwfl's questions ---- */

static int find_elf(
    Dwfl_Module *m, void **image, const char *name, Dwarf_Addr base, char **path, Elf **elf)
{
	*elf = open_image(*image);
	return -1;
}

static int no_debuginfo(Dwfl_Module *m, void **image, const char *name, Dwarf_Addr base,
    const char *path, const char *link, GElf_Word crc, char **found)
{
	return -1;
}

static pid_t no_next(Dwfl *dwfl, void *u, void **thread)
{
	return 0;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *u, void **thread)
{
	*thread = u;
	return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *value, void *arg)
{
	const struct unwind_stack *s = ((struct unwind *)arg)->stack;
	uint64_t at = addr - s->reg[UNWIND_RSP];

	if (at > s->n || s->n - at < sizeof *value)
		return false;
	*value = get_le64(s->p + at);
	return true;
}

static bool set_registers(Dwfl_Thread *t, void *arg)
{
	const struct unwind_stack *s = &((struct unwind *)arg)->from;
	Dwarf_Word v;
	int i;

	for (i = 0; i < UNWIND_REGS; i++) {
		v = s->reg[i];
		if (s->known >> i & 1 && !dwfl_thread_state_registers(t, i, 1, &v))
			return false;
	}
	return true;
}

static const Dwfl_Callbacks FILES = {.find_elf = find_elf, .find_debuginfo = no_debuginfo};
static const Dwfl_Thread_Callbacks THREADS = {.next_thread = no_next,
    .get_thread = get_thread,
    .memory_read = read_memory,
    .set_initial_registers = set_registers};

/* ---- frames ---- */

/* Sees to it that libdwfl knows the file at an address. */
static bool report(struct unwind *u, uint64_t addr)
{
	Dwfl_Module *m = dwfl_addrmodule(u->dwfl, addr);
	const struct unwind_image *mapped;
	Dwarf_Addr start;
	uint64_t bias;
	uint32_t image;
	void **of;

	if (!find_bias(u, addr, &image, &bias))
		return true;
	mapped = &u->image[image];
	start = bias + u->linked[image].begin;
	if (m) {
		dwfl_module_info(m, &of, &bias, NULL, NULL, NULL, NULL, NULL);
		return *of == mapped && bias == start;
	}
	m = dwfl_report_module(u->dwfl, "", start, bias + u->linked[image].end);
	if (m && dwfl_module_info(m, &of, NULL, NULL, NULL, NULL, NULL, NULL))
		*of = (void *)(uintptr_t)mapped;
	return true;
}

/* Whether unwind information finds the frame of the instruction at pc by rbx. */
static bool is_found_by_rbx(struct unwind *u, Dwarf_Addr pc)
{
	Dwarf_Addr bias;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(dwfl_addrmodule(u->dwfl, pc), &bias);
	Dwarf_Frame *f = NULL;
	Dwarf_Op *op;
	size_t n;
	bool is;

	is = cfi && !dwarf_cfi_addrframe(cfi, pc - bias, &f) && !dwarf_frame_cfa(f, &op, &n) && n &&
	     op->atom == DW_OP_bregx && op->number == UNWIND_RBX;
	free(f);
	return is;
}

/*
 * By libdw's rules for x86-64 calls keep rax, and not rbx (elfutils, backends/x86_64_cfi.c). So it
 * does not find the caller of a frame that is found by rbx, as that of ld.so binding a symbol is.
 */
static bool lost_rbx(struct unwind *u, Dwfl_Frame *frame, Dwarf_Addr pc)
{
	Dwarf_Word v;

	if (dwfl_frame_reg(frame, UNWIND_RBX, &v) == 0) {
		u->rbx = v;
		u->has_rbx = true;
		return false;
	}
	return u->has_rbx && is_found_by_rbx(u, pc);
}

/* The frame's registers, and rbx as it was in the frames before. */
static void begin_again_at(struct unwind *u, Dwfl_Frame *frame, Dwarf_Addr pc)
{
	Dwarf_Word v;
	unsigned i;

	u->again = true;
	u->from.known = 1u << UNWIND_RBX | 1u << UNWIND_RIP;
	for (i = 0; i < UNWIND_RIP; i++) {
		if (dwfl_frame_reg(frame, i, &v) != 0)
			continue;
		u->from.reg[i] = v;
		u->from.known |= 1u << i;
	}
	u->from.reg[UNWIND_RBX] = u->rbx;
	u->from.reg[UNWIND_RIP] = pc;
}

/* A return address may be that of the next function, or file. */
static int see_frame(Dwfl_Frame *frame, void *arg)
{
	struct unwind *u = arg;
	bool interrupted;
	uint64_t offset;
	uint32_t image;
	Dwarf_Addr pc;

	if (u->n == UNWIND_MAX || !dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	u->stale = !report(u, pc) || !report(u, pc - 1);
	if (u->stale || !dwfl_frame_pc(frame, &pc, &interrupted))
		return DWARF_CB_ABORT;
	pc -= !interrupted;
	if (u->n && !u->stack->find(u->stack->arg, pc, &image, &offset))
		return DWARF_CB_ABORT;
	if (lost_rbx(u, frame, pc)) {
		begin_again_at(u, frame, pc);
		return DWARF_CB_ABORT;
	}
	u->addr[u->n++] = pc;
	return DWARF_CB_OK;
}

/* ---- processes ---- */

static void forget(struct space *s)
{
	dwfl_end(s->dwfl);
	*s = (struct space){0};
}

/* The space of a process, or the one to be used for it: that which was not for longest. */
static struct space *find_space(struct unwind *u, uint32_t of)
{
	struct space *oldest = u->space, *s;

	for (s = u->space; s < u->space + SPACES; s++) {
		if (s->used && s->of == of)
			return s;
		if (s->used < oldest->used)
			oldest = s;
	}
	return oldest;
}

static Dwfl *enter(struct unwind *u, bool fresh)
{
	struct space *s = find_space(u, u->stack->space);

	if (s->used && (fresh || s->of != u->stack->space))
		forget(s);
	if (!s->dwfl) {
		s->dwfl = dwfl_begin(&FILES);
		if (s->dwfl && !dwfl_attach_state(s->dwfl, u->machine, 1, &THREADS, u))
			forget(s);
	}
	s->of = u->stack->space;
	s->used = ++u->turn;
	return s->dwfl;
}

static void walk(struct unwind *u, bool fresh)
{
	u->n = 0;
	u->stale = u->has_rbx = false;
	u->from = *u->stack;
	u->dwfl = enter(u, fresh);
	do {
		u->again = false;
		if (u->dwfl)
			dwfl_getthread_frames(u->dwfl, 1, see_frame, u);
	} while (u->again);
}

size_t unwind_chain(struct unwind *u, const struct unwind_stack *s, const uint64_t **addr)
{
	u->stack = s;
	*addr = u->addr;
	if (!(s->known >> UNWIND_RIP & 1))
		return 0;
	walk(u, false);
	if (u->stale)
		walk(u, true);
	if (!u->n)
		u->addr[u->n++] = s->reg[UNWIND_RIP];
	return u->n;
}

struct unwind *unwind_open(const struct unwind_image *image, size_t n)
{
	static Elf64_Ehdr machine = {
	    .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
	    .e_type = ET_EXEC,
	    .e_machine = EM_X86_64,
	    .e_version = EV_CURRENT,
	    .e_ehsize = sizeof machine};
	struct unwind *u = xcalloc(1, sizeof *u);

	elf_version(EV_CURRENT);
	u->image = image;
	u->nimage = n;
	u->linked = xcalloc(n + 1, sizeof *u->linked);
	u->machine = elf_memory((char *)&machine, sizeof machine);
	return u;
}

void unwind_close(struct unwind *u)
{
	struct space *s;

	for (s = u->space; s < u->space + SPACES; s++)
		if (s->used)
			forget(s);
	elf_end(u->machine);
	free(u->linked);
	free(u);
}
