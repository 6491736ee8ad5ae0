#include "morphctl/report/in/perf/stacks.h"
#include "common/le.h"
#include "common/log.h"
#include "morphctl/report/confined/confined.h"
#include "morphctl/report/unwind/unwind.h"

#include <asm/perf_regs.h>
#include <elf.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The answer: number of frames; each: caller, address; number of samples; each: its innermost
 * frame. All numbers are uleb.
 */

bool stacks_copied(const struct perf_sample *s)
{
	return s->regs && s->nstack;
}

static bool has_any(const struct perf *f)
{
	const uint64_t both = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	size_t i;

	for (i = 0; i < f->attr.n; i++)
		if ((f->attr.v[i].sample_type & both) == both)
			return true;
	return false;
}

/* ---- files that were mapped ---- */

struct images {
	VEC(struct unwind_image) v;
	struct htab index; /* struct image_key -> index in v */
};

struct image_key {
	const char *path;
	struct build_id id;
};

/* This machine's: the same code where it has the same build-id. */
static struct unwind_image vdso(void)
{
	const uint8_t *p = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)p;

	return (struct unwind_image){
	    .p = p, .n = p ? h->e_shoff + (uint64_t)h->e_shnum * h->e_shentsize : 0};
}

static struct unwind_image open_image(const char *path)
{
	int fd = path[0] == '/' ? confined_open(path, 0) : -1;
	struct unwind_image m = {0};
	struct stat st;
	void *p;

	if (strcmp(path, "[vdso]") == 0)
		return vdso();
	if (fd < 0)
		return m;
	if (!fstat(fd, &st) && st.st_size > 0) {
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (p != MAP_FAILED)
			m = (struct unwind_image){.p = p, .n = (size_t)st.st_size};
	}
	close(fd);
	return m;
}

static uint32_t image_of(struct images *all, const struct perf *f, const struct mapping *m)
{
	const struct build_id *said = m->id.n ? &m->id : perf_build_id(f, m->path);
	struct image_key key;
	struct unwind_image new;
	uint64_t *at;
	bool fresh;

	memset(&key, 0, sizeof key);
	key.path = m->path;
	if (said)
		key.id = *said;
	at = htab_put(&all->index, &key, sizeof key, &fresh);
	if (fresh) {
		new = open_image(m->path);
		new.id = key.id;
		*at = all->v.n;
		vec_push(&all->v, new);
	}
	return (uint32_t)*at;
}

static void open_images(struct images *all, const struct perf *f, struct tasks *t)
{
	struct mapping *m;
	size_t i, k;

	for (i = 0; i < t->epoch.n; i++) {
		for (k = 0; k < t->epoch.v[i].map.n; k++) {
			m = &t->epoch.v[i].map.v[k];
			if (!(m->start >> 63)) /* the kernel's are not unwound */
				m->image = image_of(all, f, m);
		}
	}
}

static void close_images(struct images *all)
{
	const struct unwind_image own = vdso();
	size_t i;

	for (i = 0; i < all->v.n; i++)
		if (all->v.v[i].p && all->v.v[i].p != own.p)
			munmap((void *)(uintptr_t)all->v.v[i].p, all->v.v[i].n);
	vec_free(&all->v);
	htab_free(&all->index);
}

/* ---- the child ---- */

struct work {
	struct perf *f;
	const struct tasks *t;
	struct images images;
	struct unwind *unwind;
	struct htab index; /* struct stacks_frame -> its number */
	struct buf frames, chains;
	uint64_t nchain;
	/* Of the sample at hand. */
	uint64_t time;
	uint32_t epoch;
	bool in_kernel;
};

static bool find_mapping(void *arg, uint64_t addr, uint32_t *image, uint64_t *offset)
{
	const struct work *w = arg;
	const struct mapping *m = tasks_find(w->t, w->epoch, w->time, addr, w->in_kernel);

	if (!m)
		return false;
	*image = m->image;
	*offset = addr - m->start + m->pgoff;
	return true;
}

/* DWARF's number of each register, by perf's. */
static const uint8_t NUMBER[] = {[PERF_REG_X86_AX] = 0,
    [PERF_REG_X86_DX] = 1,
    [PERF_REG_X86_CX] = 2,
    [PERF_REG_X86_BX] = 3,
    [PERF_REG_X86_SI] = 4,
    [PERF_REG_X86_DI] = 5,
    [PERF_REG_X86_BP] = UNWIND_RBP,
    [PERF_REG_X86_SP] = UNWIND_RSP,
    [PERF_REG_X86_IP] = UNWIND_RIP,
    [PERF_REG_X86_FLAGS] = UNWIND_REGS,
    [PERF_REG_X86_CS] = UNWIND_REGS,
    [PERF_REG_X86_SS] = UNWIND_REGS,
    [PERF_REG_X86_DS] = UNWIND_REGS,
    [PERF_REG_X86_ES] = UNWIND_REGS,
    [PERF_REG_X86_FS] = UNWIND_REGS,
    [PERF_REG_X86_GS] = UNWIND_REGS,
    [PERF_REG_X86_R8] = 8,
    [PERF_REG_X86_R9] = 9,
    [PERF_REG_X86_R10] = 10,
    [PERF_REG_X86_R11] = 11,
    [PERF_REG_X86_R12] = 12,
    [PERF_REG_X86_R13] = 13,
    [PERF_REG_X86_R14] = 14,
    [PERF_REG_X86_R15] = 15};

static void get_registers(struct unwind_stack *to, uint64_t which, const uint8_t *p)
{
	size_t i;

	for (i = 0; i < sizeof NUMBER; i++) {
		if (!(which >> i & 1))
			continue;
		if (NUMBER[i] < UNWIND_REGS) {
			to->reg[NUMBER[i]] = get_le64(p);
			to->known |= 1u << NUMBER[i];
		}
		p += 8;
	}
}

/* The number of a frame, written where it is new. */
static uint32_t frame_number(struct work *w, uint32_t caller, uint64_t addr)
{
	const uint64_t key[2] = {caller, addr};
	uint64_t *at;
	bool fresh;

	at = htab_put(&w->index, key, sizeof key, &fresh);
	if (fresh) {
		*at = w->index.n;
		buf_uleb(&w->frames, caller);
		buf_uleb(&w->frames, addr);
	}
	return (uint32_t)*at;
}

static void unwind_sample(struct work *w, const struct perf_record *rec, const struct perf_attr *a,
    const struct perf_sample *s)
{
	struct unwind_stack stack = {.p = s->stack, .n = s->nstack, .find = find_mapping, .arg = w};
	const uint64_t *addr;
	uint32_t frame = 0;
	size_t n;

	w->time = perf_sample_time(a, rec, s->time);
	w->epoch = tasks_epoch(w->t, s->pid, w->time);
	w->in_kernel = (rec->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	stack.space = w->epoch;
	get_registers(&stack, a->user_regs, s->regs);
	n = unwind_chain(w->unwind, &stack, &addr);
	while (n--)
		frame = frame_number(w, frame, addr[n]);
	buf_uleb(&w->chains, frame);
	w->nchain++;
}

static int see_record(struct perf *f, const struct perf_record *rec, void *arg, struct err *e)
{
	struct perf_attr *attr;
	struct perf_sample s;

	if (rec->type != PERF_RECORD_SAMPLE)
		return 0;
	if (perf_get_sample(f, rec, &attr, &s, e))
		return -1;
	if (attr && stacks_copied(&s))
		unwind_sample(arg, rec, attr, &s);
	return 0;
}

/* Up to what is wrong in the file: whoever reads its samples afterwards says so. */
static int unwind_all(void *arg, struct buf *answer, struct err *e)
{
	struct work *w = arg;

	w->unwind = unwind_open(w->images.v.v, w->images.v.n);
	perf_each_record(w->f, see_record, w, e);
	unwind_close(w->unwind);
	buf_uleb(answer, w->index.n);
	buf_add(answer, w->frames.p, w->frames.n);
	buf_uleb(answer, w->nchain);
	buf_add(answer, w->chains.p, w->chains.n);
	htab_free(&w->index);
	buf_free(&w->frames);
	buf_free(&w->chains);
	return 0;
}

/* ---- the parent ---- */

/* A frame's caller comes before it, so that there is no circle. */
static int take_frames(struct stacks *s, const uint8_t **p, const uint8_t *end)
{
	uint64_t n, i, caller;
	struct stacks_frame f;

	if (uleb_count(p, end, 2, &n) || n > UINT32_MAX)
		return -1;
	for (i = 0; i < n; i++) {
		if (uleb_read(p, end, &caller) || caller > i || uleb_read(p, end, &f.addr))
			return -1;
		f.caller = (uint32_t)caller;
		vec_push(&s->frame, f);
	}
	return 0;
}

static int take_chains(struct stacks *s, const uint8_t **p, const uint8_t *end)
{
	uint64_t n, i, frame;

	if (uleb_count(p, end, 1, &n))
		return -1;
	for (i = 0; i < n; i++) {
		if (uleb_read(p, end, &frame) || frame > s->frame.n)
			return -1;
		vec_push(&s->chain, (uint32_t)frame);
	}
	return *p == end ? 0 : -1;
}

static int take_answer(struct stacks *s, const struct buf *answer, struct err *e)
{
	const uint8_t *p = (const uint8_t *)answer->p, *end = p + answer->n;

	if (answer->n && !take_frames(s, &p, end) && !take_chains(s, &p, end))
		return 0;
	stacks_free(s);
	return err_set(e, "the process that read it gave a wrong answer");
}

void stacks_read(struct stacks *s, struct perf *f, struct tasks *t, perf_child_fn *child)
{
	struct work w = {.f = f, .t = t};
	struct buf answer = {0};
	struct err e;

	if (!has_any(f))
		return;
	open_images(&w.images, f, t);
	if (child(unwind_all, &w, f->n, &answer, &e) || take_answer(s, &answer, &e))
		log_warn("%s: stacks are not unwound: %s", f->name, e.text);
	close_images(&w.images);
	buf_free(&answer);
}

const struct stacks_frame *stacks_next(struct stacks *s)
{
	uint32_t number = s->taken < s->chain.n ? s->chain.v[s->taken++] : 0;

	return number ? &s->frame.v[number - 1] : NULL;
}

const struct stacks_frame *stacks_caller(const struct stacks *s, const struct stacks_frame *f)
{
	return f->caller ? &s->frame.v[f->caller - 1] : NULL;
}

void stacks_free(struct stacks *s)
{
	vec_free(&s->frame);
	vec_free(&s->chain);
	s->taken = 0;
}
