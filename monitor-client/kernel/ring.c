/*
 * Records, all little-endian, padded to 8 bytes: u32 type, u16 misc, u16 size
 * (with this header), then
 *   SAMPLE    of a clock u64 ip first; then u32 pid, u32 tid, u64 time, of a tick
 *             with a call chain u64 n and n addresses, then u64 abi, and unless abi is 0 the
 * registers of RING_REGS by ascending bit: cx ip flags r11; full: ax bx cx dx si di bp sp ip flags
 * r8 … r15, then u64 size of the stack's copy, and unless that is 0 its bytes and u64 how many of
 * them are valid; of an exec's: u64 sp, and the stack MMAP2     u32 pid, u32 tid, u64 addr, u64
 * len, u64 pgoff, u32 maj, u32 min, u64 ino, u64 generation, or with the misc bit BUILD_ID: u8
 * size, 3 bytes, u8 id[20]; u32 prot, u32 flags, path COMM      u32 pid, u32 tid, name FORK EXIT
 * u32 pid, u32 ppid, u32 tid, u32 ptid, u64 time LOST      u64 id, u64 lost NAMESPACES u32 pid, u32
 * tid, u64 n, then n times u64 dev, u64 ino, in the order of enum perf_ns_index of perf_event.h and
 * after every one but SAMPLE: u32 pid, u32 tid, u64 time.
 */
#include "monitor-client/kernel/ring.h"
#include "common/le.h"
#include "monitor-client/kernel/cmdline.h"

#include <asm/perf_regs.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RECORD_MAX = 1 << 16, TRAILER = 16, MMAP2_PATH = 64 };

const uint64_t RING_REGS = 1u << PERF_REG_X86_CX | 1u << PERF_REG_X86_IP |
			   1u << PERF_REG_X86_FLAGS | 1u << PERF_REG_X86_R11;
const uint64_t RING_REGS_EXEC = 1u << PERF_REG_X86_SP;
const uint64_t RING_REGS_FULL = ((1u << (PERF_REG_X86_FLAGS + 1)) - 1) | 0xffu << PERF_REG_X86_R8;

/* Where registers lie in a sample, in words after abi. */
static const struct form {
	unsigned cx, ip, flags, r11, n;
} few = {0, 1, 2, 3, 4}, full = {2, 8, 9, 13, 18};

int ring_open(struct ring *r, int fd, unsigned pages, struct err *e)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = (1 + (size_t)pages) * page;
	void *base = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (base == MAP_FAILED)
		return err_sys(e, "mapping a perf ring of %u pages", pages);
	ring_attach(r, base, n - page);
	r->data = (uint8_t *)base + page;
	r->mapped = n;
	return 0;
}

void ring_attach(struct ring *r, void *base, size_t size)
{
	*r = (struct ring){.page = base, .size = size, .copy = xmalloc(RECORD_MAX)};
	r->data = (uint8_t *)base + sysconf(_SC_PAGESIZE);
}

void ring_close(struct ring *r)
{
	if (r->mapped)
		munmap(r->page, r->mapped);
	free(r->copy);
	*r = (struct ring){0};
}

static enum sample_mode mode_of(uint16_t misc)
{
	switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_USER:
		return MODE_USER;
	case PERF_RECORD_MISC_KERNEL:
	case PERF_RECORD_MISC_HYPERVISOR:
	case PERF_RECORD_MISC_GUEST_KERNEL:
		return MODE_KERNEL;
	default:
		return MODE_OTHER;
	}
}

static uint64_t word(const uint8_t *p, unsigned n)
{
	return get_le64(p + 8 * n);
}

/*
 * The registers of a program that is in a system call, or just after it: the
 * SYSCALL instruction leaves RIP in RCX and RFLAGS in R11.
 */
static bool at_system_call(const uint8_t *reg, const struct form *f)
{
	return word(reg, f->cx) == word(reg, f->ip) && word(reg, f->r11) == word(reg, f->flags);
}

/* Takes all registers, and the stack after them, of a 64-bit program. */
static void take_full(struct ring *r, const uint8_t *reg, const uint8_t *end, struct event *ev)
{
	const uint8_t *p = reg + 8 * full.n;
	struct event_regs *to = &r->regs;
	uint64_t size, valid;
	uint32_t i;

	/* IP and FLAGS lie between the first eight and the others. */
	for (i = 0; i < WIRE_GPRS; i++)
		to->gpr[i] = word(reg, i < full.ip ? i : i + 2);
	to->ip = word(reg, full.ip) - at_system_call(reg, &full);
	to->flags = (uint32_t)word(reg, full.flags);
	to->nword = 0;
	ev->sample.regs = to;
	if (end - p < 8 || (size = get_le64(p)) > RING_STACK || (uint64_t)(end - p) < size + 16)
		return;
	valid = get_le64(p + 8 + size);
	to->nword = (uint32_t)((valid < size ? valid : size) / 8);
	memcpy(to->word, p + 8, 8 * to->nword);
}

/* p: abi and what follows, up to end. Tells whether the registers say user
 * mode, where there are any; *ip gets the program's. */
static bool in_user_mode(
    struct ring *r, const uint8_t *p, const uint8_t *end, struct event *ev, uint64_t *ip)
{
	const struct form *f = r->full ? &full : &few;
	uint64_t abi = get_le64(p);

	p += 8;
	if (abi == PERF_SAMPLE_REGS_ABI_NONE || end - p < 8 * f->n)
		return false;
	*ip = word(p, f->ip);
	if (r->full && abi == PERF_SAMPLE_REGS_ABI_64)
		take_full(r, p, end, ev);
	return !at_system_call(p, f);
}

/*
 * A timer's sample says its mode. But a timer that expires while the kernel
 * has interrupts off strikes at the first instruction after the system call,
 * which would get the time of the kernel's way out.
 */
static enum record_kind sample_clock(
    struct ring *r, const uint8_t *p, size_t n, uint16_t misc, struct event *ev)
{
	uint64_t ip = 0;
	bool user;

	if (n < 32)
		return REC_SKIP;
	ev->sample.ip = get_le64(p);
	ev->pid = get_le32(p + 8);
	ev->tid = get_le32(p + 12);
	ev->time = get_le64(p + 16);
	ev->sample.mode = mode_of(misc);
	if (ev->sample.mode == MODE_KERNEL &&
	    (misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_KERNEL)
		ev->sample.ip = 0; /* another kernel's */
	user = in_user_mode(r, p + 24, p + n, ev, &ip);
	if (ev->sample.mode == MODE_USER && !user && ip)
		ev->sample.mode = MODE_KERNEL;
	return REC_EVENT;
}

/*
 * The tracepoint itself runs in the kernel; the saved user registers are those
 * of the interrupted instruction, or of the system call. A page fault keeps
 * the faulting instruction, which is where that time belongs. Kernel threads
 * have none.
 */
static enum record_kind sample_tick(struct ring *r, const uint8_t *p, size_t n, struct event *ev)
{
	enum { PID = 0, TID = 4, TIME = 8, HEAD = 16, ABI_SIZE = 8 };
	uint64_t chain[CALLCHAIN_MAX + 1]; /* with perf's mark */
	size_t i, nchain = 0;

	if (n < HEAD + ABI_SIZE)
		return REC_SKIP;
	ev->pid = get_le32(p + PID);
	ev->tid = get_le32(p + TID);
	ev->time = get_le64(p + TIME);
	p += HEAD;
	n -= HEAD;
	if (r->chain) {
		nchain = get_le64(p);
		if (nchain > (n - ABI_SIZE) / 8 || n - ABI_SIZE - 8 * nchain < ABI_SIZE)
			return REC_SKIP;
		for (i = 0; i < nchain && i <= CALLCHAIN_MAX; i++)
			chain[i] = word(p + 8, (unsigned)i);
		p += 8 + 8 * nchain;
		n -= 8 + 8 * nchain;
		nchain = i;
	}
	ev->sample.mode = MODE_KERNEL;
	if (in_user_mode(r, p, p + n, ev, &ev->sample.ip)) {
		ev->sample.mode = MODE_USER;
		if (r->chain)
			callchain_user(r->chain, chain, nchain);
	} else if (r->chain) {
		ev->sample.ip = callchain_kernel(r->chain, chain, nchain);
	}
	return REC_EVENT;
}

/* Where a tick would have fallen, so that both tell of the same time. */
static enum record_kind sample_extra(struct ring *r, const uint8_t *p, size_t n, struct event *ev)
{
	ev->sample.extra = true;
	return sample_tick(r, p, n, ev);
}

/* At the end of an exec: nothing of the stack stays but its shape. */
static enum record_kind sample_exec(const uint8_t *p, size_t n, struct event *ev)
{
	enum { PID = 0, TID = 4, TIME = 8, ABI = 16, SP = 24, SIZE = 32, STACK = 40 };
	uint64_t size, valid;

	if (n < STACK + 8 || get_le64(p + ABI) != PERF_SAMPLE_REGS_ABI_64)
		return REC_SKIP;
	size = get_le64(p + SIZE);
	if (!size || size > n - STACK - 8)
		return REC_SKIP;
	valid = get_le64(p + STACK + size);
	ev->kind = EV_ARGS;
	ev->pid = get_le32(p + PID);
	ev->tid = get_le32(p + TID);
	ev->time = get_le64(p + TIME);
	ev->args = cmdline_shape(p + STACK, valid < size ? valid : size, get_le64(p + SP));
	/* It ends at a page that nobody has touched yet, if not at the top of the stack. */
	if (!ev->args && valid < size)
		ev->args = CMDLINE_CUT;
	return ev->args ? REC_EVENT : REC_SKIP;
}

static enum record_kind map_record(
    const struct ring *r, uint8_t *p, size_t n, uint16_t misc, struct event *ev)
{
	struct event_map *m = &ev->map;
	uint64_t len;

	if (n <= MMAP2_PATH || !memchr(p + MMAP2_PATH, 0, n - MMAP2_PATH))
		return REC_SKIP;
	*m = (struct event_map){.start = get_le64(p + 8), .pgoff = get_le64(p + 24)};
	len = get_le64(p + 16);
	if (__builtin_add_overflow(m->start, len, &m->end))
		return REC_SKIP;
	if (r->build_ids && misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		m->id.n = p[32] <= 20 ? p[32] : 20;
		memcpy(m->id.b, p + 36, m->id.n);
	} else {
		m->maj = get_le32(p + 32);
		m->min = get_le32(p + 36);
		m->ino = get_le64(p + 40);
		m->gen = get_le64(p + 48);
	}
	m->path = (char *)p + MMAP2_PATH;
	ev->kind = EV_MAP;
	return REC_EVENT;
}

static enum record_kind task_record(const uint8_t *p, size_t n, uint32_t type, struct event *ev)
{
	uint32_t pid, ppid, tid;

	if (n < 24)
		return REC_SKIP;
	pid = get_le32(p);
	ppid = get_le32(p + 4);
	tid = get_le32(p + 8);
	ev->pid = pid;
	ev->tid = tid;
	if (type == PERF_RECORD_FORK) {
		ev->kind = EV_FORK;
		ev->parent = ppid;
		return pid == ppid ? REC_THREAD : REC_EVENT;
	}
	ev->kind = EV_EXIT;
	return pid == tid ? REC_EVENT : REC_SKIP;
}

/* A program's name ends with a NUL, and is padded. */
static enum record_kind exec_record(const uint8_t *p, size_t n, uint16_t misc, struct event *ev)
{
	enum { NAME = 8 };

	ev->kind = EV_EXEC;
	if (n > NAME)
		memcpy(ev->comm, p + NAME, n - NAME < sizeof ev->comm ? n - NAME : sizeof ev->comm);
	ev->comm[sizeof ev->comm - 1] = '\0';
	return misc & PERF_RECORD_MISC_COMM_EXEC ? REC_EVENT : REC_SKIP;
}

/* Of the side-band's own event, which then counts CPU time. */
static enum record_kind read_record(const uint8_t *p, size_t n, struct event *ev)
{
	enum { PID = 0, TID = 4, VALUE = 8 };

	if (n < VALUE + 8)
		return REC_SKIP;
	ev->kind = EV_USED;
	ev->pid = get_le32(p + PID);
	ev->tid = get_le32(p + TID);
	ev->cpu_ns = get_le64(p + VALUE);
	return REC_EVENT;
}

static enum record_kind ns_record(const uint8_t *p, size_t n, struct event *ev)
{
	enum { FIXED = 16, EACH = 16, INO = 8 };

	if (n < FIXED + EACH * (MNT_NS_INDEX + 1) || get_le64(p + 8) <= MNT_NS_INDEX)
		return REC_SKIP;
	ev->pid = get_le32(p);
	ev->tid = get_le32(p + 4);
	ev->ns.user = get_le64(p + FIXED + EACH * USER_NS_INDEX + INO);
	ev->ns.mnt = get_le64(p + FIXED + EACH * MNT_NS_INDEX + INO);
	ev->kind = EV_NS;
	return REC_EVENT;
}

/* p: what follows the header. */
static enum record_kind decode(struct ring *r, uint8_t *p, size_t n, uint32_t type, uint16_t misc,
    enum sample_shape shape, struct event *ev, uint64_t *lost)
{
	if (type == PERF_RECORD_SAMPLE) {
		ev->kind = EV_SAMPLE;
		return shape == SHAPE_CLOCK   ? sample_clock(r, p, n, misc, ev)
		       : shape == SHAPE_TICK  ? sample_tick(r, p, n, ev)
		       : shape == SHAPE_EXTRA ? sample_extra(r, p, n, ev)
		       : shape == SHAPE_EXEC  ? sample_exec(p, n, ev)
					      : REC_SKIP;
	}
	if (n < TRAILER)
		return REC_SKIP;
	n -= TRAILER;
	ev->pid = get_le32(p + n);
	ev->tid = get_le32(p + n + 4);
	ev->time = get_le64(p + n + 8);
	switch (type) {
	case PERF_RECORD_MMAP2:
		return map_record(r, p, n, misc, ev);
	case PERF_RECORD_COMM:
		return exec_record(p, n, misc, ev);
	case PERF_RECORD_READ:
		return read_record(p, n, ev);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return task_record(p, n, type, ev);
	case PERF_RECORD_NAMESPACES:
		return ns_record(p, n, ev);
	case PERF_RECORD_LOST:
		*lost = n < 16 ? 0 : get_le64(p + 8);
		return REC_LOST;
	case PERF_RECORD_THROTTLE:
		return REC_THROTTLE;
	default:
		return REC_SKIP;
	}
}

/* n bytes at the tail as one run. */
static uint8_t *run_at(struct ring *r, size_t n)
{
	size_t at = r->tail & (r->size - 1), first = r->size - at;

	if (n <= first)
		first = n;
	memcpy(r->copy, r->data + at, first);
	memcpy(r->copy + first, r->data, n - first);
	return r->copy;
}

enum record_kind ring_next(
    struct ring *r, enum sample_shape shape, struct event *ev, uint64_t *lost)
{
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	struct perf_event_header h;
	enum record_kind k;

	if (r->full)
		explicit_bzero(&r->regs, event_regs_size(&r->regs));
	if (head == r->tail)
		return REC_END;
	if (head - r->tail >= sizeof h)
		memcpy(&h, run_at(r, sizeof h), sizeof h);
	if (head - r->tail < sizeof h || h.size < sizeof h || h.size > head - r->tail) {
		r->tail = head;
		return REC_BROKEN;
	}
	*ev = (struct event){0};
	run_at(r, h.size);
	r->tail += h.size;
	k = decode(r, r->copy + sizeof h, h.size - sizeof h, h.type, h.misc, shape, ev, lost);
	if ((r->full || shape == SHAPE_EXEC) && h.type == PERF_RECORD_SAMPLE)
		explicit_bzero(r->copy, h.size);
	return k;
}

void ring_release(struct ring *r)
{
	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
}
