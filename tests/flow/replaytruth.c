/*
 * Runs a program step by step under ptrace, replays forward and backward from
 * the registers at many of the steps, and compares resolved branch outcomes and
 * predecessors, and the frames' return addresses, with what really happens.
 *	replaytruth TABLE ARTIFACT MODULE STEPS EVERY PROGRAM [ARGUMENT…]
 * MODULE is the build that runs (the original or a layout). Prints one line;
 * exit status 1 when anything was wrong, 77 where ptrace is not allowed.
 */
#include "common/artifact/artifact.h"
#include "common/elf/blockmap.h"
#include "common/le.h"
#include "common/publish.h"
#include "managerd/replay/backward.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 512, PENDING = 8192, EXPIRE = 20000, DEPTH = 4096 };

struct place { /* where the program is; func UOPS_NONE = elsewhere */
	uint32_t func, block, offset, uop;
};

struct prediction {
	struct replay_outcome edge[REPLAY_OUTCOMES];
	uint32_t n, next, func;
	uint64_t step, frames; /* when it was made: steps, frames ever made */
	size_t depth;          /* of frames, then */
};

static struct uops table;
static struct artifact *art;
static struct blockmap map;
static uint64_t bias;
static uint32_t *frag_func; /* per fragment: function in the table */
static pid_t child;
static struct prediction pending[PENDING];
static size_t npending;
static struct {
	uint64_t cfa, ret;
} frame[DEPTH];
static struct { /* per frame: where it is, and was before */
	uint32_t func, block, from;
} here[DEPTH + 1];
static size_t depth;
static uint64_t nframes; /* ever made */
static struct {
	uint64_t steps, runs, edges, own, wrong, dropped, frames, bad_frames, no_calls;
	uint64_t near, behind_calls, callers; /* right */
	uint64_t joins, predecessors, bad_predecessors;
} sum;

static void must(int rc, const struct err *e)
{
	if (rc) {
		fprintf(stderr, "%s\n", e->text);
		exit(2);
	}
}

static void must_do(bool ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(2);
	}
}

/* ---- what is where ---- */

static const struct art_func *find_func(const struct bm_frag *frag)
{
	const struct art_tu *tu;
	const struct art_func *f;
	size_t i, n = artifact_funcs(art, &f);

	artifact_tus(art, &tu);
	for (i = 0; i < n; i++)
		if (f[i].ord == frag->func && hash_short(&tu[f[i].tu].hash) == frag->tu)
			return &f[i];
	return NULL;
}

static void open_all(const char *table_path, const char *art_path, const char *module)
{
	const struct art_func *f;
	struct buf b = {0};
	struct err e;
	struct elf *elf;
	size_t i;

	must(file_read(table_path, 0, &b, &e), &e);
	must(uops_decode(b.p, b.n, &table, &e), &e);
	art = artifact_open(art_path, &e);
	must(!art, &e);
	elf = elf_file_open(module, -1, &e);
	must(!elf, &e);
	must(blockmap_from_elf(elf, &map, &e), &e);
	elf_file_close(elf);
	buf_free(&b);
	frag_func = xcalloc(map.frag.n, sizeof *frag_func);
	for (i = 0; i < map.frag.n; i++) {
		f = find_func(&map.frag.v[i]);
		frag_func[i] = f ? uops_find(&table, &f->key) : UOPS_NONE;
	}
}

static uint64_t main_address(void)
{
	const struct art_func *f;
	size_t i;

	for (i = 0; i < map.frag.n; i++) {
		f = find_func(&map.frag.v[i]);
		if (f && !strcmp(f->name, "main") && !map.frag.v[i].fragment)
			return map.frag.v[i].addr;
	}
	fprintf(stderr, "no main\n");
	exit(2);
}

static const char *func_name(uint32_t func)
{
	const struct art_func *f;
	size_t i, n = artifact_funcs(art, &f);

	for (i = 0; i < n; i++)
		if (hash_equal(&f[i].key, &table.func.v[func].key))
			return f[i].name;
	return "?";
}

static struct place block_of(uint64_t address)
{
	const struct bm_block *k = blockmap_find(&map, address - bias);

	if (!k || frag_func[k->frag] == UOPS_NONE)
		return (struct place){UOPS_NONE, 0, 0, UOPS_NONE};
	return (struct place){
	    frag_func[k->frag], k->id, (uint32_t)(address - bias - k->addr), UOPS_NONE};
}

static struct place place_of(uint64_t address)
{
	struct place p = block_of(address);

	p.uop = uops_at(&table, p.func, p.block, p.offset);
	if (p.func != UOPS_NONE && p.uop == UOPS_NONE) {
		fprintf(stderr, "%s block %u: no instruction at offset %u\n", func_name(p.func),
		    p.block, p.offset);
		sum.wrong++;
	}
	return p;
}

static bool place_at(void *arg, uint64_t address, struct replay_place *at)
{
	struct place p = block_of(address);

	*at = (struct replay_place){p.func, p.block, p.offset};
	return p.func != UOPS_NONE;
}

/* Layouts leave out blocks that only jump: the block where something is done. */
static uint32_t behind_jumps(uint32_t func, uint32_t block)
{
	const struct uops_block *b = &table.block.v[table.func.v[func].block + block];
	unsigned n;

	for (n = 0; n < 100 && b->nuop == 1 && b->term == UT_GO; n++) {
		block = b->to;
		b = &table.block.v[table.func.v[func].block + block];
	}
	return block;
}

/* Between the blocks of a function there is padding that is run through. */
static bool in_padding(uint64_t address)
{
	const struct bm_frag *f;
	size_t i;

	address -= bias;
	for (i = 0; i < map.frag.n; i++) {
		f = &map.frag.v[i];
		if (address >= f->addr && address - f->addr < f->size)
			return !blockmap_find(&map, address);
	}
	return false;
}

/* ---- predictions ---- */

static void drop(size_t i)
{
	pending[i] = pending[--npending];
}

static void say_wrong(const struct prediction *p, const struct place *to)
{
	const struct replay_outcome *e = &p->edge[p->next];

	sum.wrong++;
	fprintf(stderr, "%s: %u > %u was resolved %llu steps ago (number %u, %u frames out of %s)",
	    func_name(e->func), e->from, e->to, (unsigned long long)(sum.steps - p->step), p->next,
	    e->out, func_name(p->func));
	if (to)
		fprintf(stderr, ", but it went to block %u+%u of %s\n", to->block, to->offset,
		    to->func == UOPS_NONE ? "?" : func_name(to->func));
	else
		fprintf(stderr, ", but never came there\n");
}

/* The program went from one instruction to the next. */
static void compare(const struct place *from, const struct place *to)
{
	const struct replay_outcome *e;
	struct prediction *p;
	bool right;
	size_t i;

	for (i = 0; i < npending;) {
		p = &pending[i];
		e = &p->edge[p->next];
		/* Beyond a call it may be long until it is decided. */
		if (depth + e->out < p->depth ||
		    (sum.steps - p->step > EXPIRE && !e->out && nframes == p->frames)) {
			say_wrong(p, NULL);
			drop(i);
			continue;
		}
		i++;
		if (from->func != e->func || from->block != e->from || from->uop == UOPS_NONE ||
		    depth + e->out != p->depth || table.uop.v[from->uop].kind != UOP_END ||
		    (to->func == from->func && to->block == from->block &&
			to->offset > from->offset))
			continue;
		right = to->func == e->func && !to->offset &&
			behind_jumps(e->func, to->block) == behind_jumps(e->func, e->to);
		*(e->out                  ? &sum.callers
		    : nframes > p->frames ? &sum.behind_calls
					  : &sum.near) += right;
		if (!right)
			say_wrong(p, to);
		if (!right || ++p->next == p->n)
			drop(--i);
	}
}

static void follow_frames(
    const struct place *from, const struct place *to, const struct user_regs_struct *r)
{
	while (depth && frame[depth - 1].cfa <= r->rsp)
		depth--;
	if (to->func == UOPS_NONE || to->block || to->offset || depth == DEPTH ||
	    (from->func == to->func && from->uop != UOPS_NONE &&
		table.uop.v[from->uop].kind == UOP_END))
		return;
	frame[depth].cfa = r->rsp + 8;
	frame[depth].ret = (uint64_t)ptrace(PTRACE_PEEKDATA, child, r->rsp, NULL);
	if (!depth || frame[depth - 1].cfa != r->rsp + 8) {
		depth++;
		nframes++;
	}
}

/* The return address of the sample's frame, where that is known and copied. */
static bool caller(const struct replay_sample *s, uint64_t *address)
{
	const struct uops_frame *f = uops_frame(&table, s->uop);
	uint64_t at = f ? s->gpr[f->reg] + (uint64_t)(int64_t)f->offset - 8 - s->gpr[UR_SP] : 0;

	if (!f || s->nstack < 8 || at > s->nstack - 8)
		return false;
	*address = get_le64(s->stack + at);
	return true;
}

static void check_caller(const struct replay_sample *s)
{
	uint64_t ret;
	struct place p;

	if (!depth || !caller(s, &ret))
		return;
	sum.frames++;
	if (ret != frame[depth - 1].ret) {
		sum.bad_frames++;
		fprintf(stderr, "%s block %u, uop %u: wrong return address\n", func_name(s->func),
		    s->block, s->uop);
	}
	p = block_of(ret - 1);
	if (p.func != UOPS_NONE &&
	    uops_after_call(&table, p.func, p.block, p.offset + 1) == UOPS_NONE) {
		sum.no_calls++;
		fprintf(stderr, "%s block %u+%u: no call there\n", func_name(p.func), p.block,
		    p.offset);
	}
}

/* The program went on; follow_frames() knows where. */
static void follow_blocks(const struct place *last, const struct place *at)
{
	bool again = last->func == at->func && last->block == at->block && !last->offset &&
		     last->uop != UOPS_NONE && table.uop.v[last->uop].kind != UOP_END;

	if (at->func == UOPS_NONE || (at->offset && here[depth].func == at->func))
		return;
	if (here[depth].func != at->func || !at->block || at->offset)
		here[depth].from = UOPS_NONE;
	else if (!again)
		here[depth].from = here[depth].block;
	here[depth].func = at->func;
	here[depth].block = at->block;
}

/* Layouts leave out blocks that only jump. */
static bool leads_through(uint32_t func, uint32_t from, uint32_t by, uint32_t to)
{
	const struct uops_block *all = table.block.v + table.func.v[func].block, *b = &all[from];
	uint32_t at;
	unsigned n, way;
	bool passed;

	for (way = 0; way < (b->term == UT_COND ? 2 : 1); way++) {
		at = way || b->term == UT_COND_OUT ? b->other : b->to;
		for (n = 0, passed = false; n < 100 && at != to; n++, at = all[at].to) {
			passed |= at == by;
			if (all[at].nuop > 1 || all[at].term != UT_GO)
				break;
		}
		if (at == to && passed)
			return true;
	}
	return false;
}

static void check_back(const struct replay_sample *s)
{
	uint32_t from = 0, was = here[depth].from;
	enum replay_entry entry = replay_backward(&table, s, &from);

	if (entry == REPLAY_NO_JOIN || here[depth].func != s->func ||
	    here[depth].block != s->block || was == UOPS_NONE)
		return;
	sum.joins++;
	if (entry != REPLAY_RESOLVED)
		return;
	sum.predecessors++;
	if (from == was || leads_through(s->func, was, from, s->block))
		return;
	sum.bad_predecessors++;
	fprintf(stderr, "%s: block %u, uop %u came from %u, not %u\n", func_name(s->func), s->block,
	    s->uop, was, from);
}

static void evaluate(const struct place *at, const struct user_regs_struct *r)
{
	uint8_t stack[STACK];
	struct iovec local = {stack, STACK}, remote = {(void *)r->rsp, STACK};
	ssize_t n = process_vm_readv(child, &local, 1, &remote, 1, 0);
	struct replay_sample s = {.func = at->func,
	    .block = at->block,
	    .uop = at->uop,
	    .gpr = {r->rax, r->rbx, r->rcx, r->rdx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8, r->r9,
		r->r10, r->r11, r->r12, r->r13, r->r14, r->r15},
	    .flags = r->eflags,
	    .stack = stack,
	    .nstack = n > 0 ? (size_t)n : 0,
	    .place_at = place_at};
	struct prediction *p = &pending[npending];
	bool own;

	check_caller(&s);
	check_back(&s);
	if (npending == PENDING) {
		sum.dropped++;
		return;
	}
	*p = (struct prediction){
	    .func = at->func, .step = sum.steps, .frames = nframes, .depth = depth};
	p->n = replay_forward(&table, &s, p->edge, &own);
	sum.runs++;
	sum.edges += p->n;
	sum.own += own;
	npending += p->n > 0;
}

/* ---- the program ---- */

static bool wait_stop(void)
{
	int status;

	must_do(waitpid(child, &status, 0) == child, "waitpid");
	if (WIFSTOPPED(status) && WSTOPSIG(status) != SIGTRAP) {
		fprintf(stderr, "stopped by signal %d\n", WSTOPSIG(status));
		exit(2);
	}
	return WIFSTOPPED(status);
}

static void find_bias(const char *module)
{
	char *path = xasprintf("/proc/%d/maps", child), *real = realpath(module, NULL),
	     *line = NULL;
	unsigned long long start, offset;
	FILE *f = fopen(path, "r");
	size_t cap = 0, i;
	char mode[8];

	must_do(f && real, path);
	while (getline(&line, &cap, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%llx-%*x %7s %llx", &start, mode, &offset) != 3 ||
		    mode[2] != 'x' || !strstr(line, real))
			continue;
		for (i = 0; i < map.seg.n; i++)
			if (offset <= map.seg.v[i].offset && map.seg.v[i].offset - offset < 4096)
				bias = start + (map.seg.v[i].offset - offset) - map.seg.v[i].vaddr;
	}
	fclose(f);
	free(line);
	free(real);
	free(path);
}

/* Lets it run to an address. */
static void run_to(uint64_t address)
{
	struct user_regs_struct r;
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, child, address, NULL);
	must_do(!errno, "PTRACE_PEEKTEXT");
	ptrace(PTRACE_POKETEXT, child, address, (word & ~0xffL) | 0xcc);
	ptrace(PTRACE_CONT, child, NULL, NULL);
	must_do(wait_stop(), "the program did not come to main");
	ptrace(PTRACE_POKETEXT, child, address, word);
	ptrace(PTRACE_GETREGS, child, NULL, &r);
	r.rip = address;
	ptrace(PTRACE_SETREGS, child, NULL, &r);
}

/* Each step goes there and back: on one processor that is a switch, not a wait. */
static void stay_here(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof set, &set);
}

static void start(char **argv)
{
	stay_here();
	child = fork();
	must_do(child >= 0, "fork");
	if (!child) {
		personality(ADDR_NO_RANDOMIZE);
		if (!ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			execv(argv[0], argv);
		_exit(127);
	}
	if (!wait_stop()) {
		fprintf(stderr, "ptrace is not allowed here\n");
		exit(77);
	}
	ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL);
}

int main(int argc, char **argv)
{
	struct place at, last = {UOPS_NONE, 0, 0, UOPS_NONE};
	uint64_t steps, every, all;
	struct user_regs_struct r;

	must_do(argc > 6, "arguments");
	steps = strtoull(argv[4], NULL, 10);
	every = strtoull(argv[5], NULL, 10);
	open_all(argv[1], argv[2], argv[3]);
	start(argv + 6);
	find_bias(argv[3]);
	run_to(main_address() + bias);
	for (all = 0; sum.steps < steps && all < 20 * steps; all++) {
		ptrace(PTRACE_GETREGS, child, NULL, &r);
		at = place_of(r.rip);
		if (last.func != UOPS_NONE && at.func == UOPS_NONE && in_padding(r.rip)) {
			if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) || !wait_stop())
				break;
			continue;
		}
		if (all)
			compare(&last, &at);
		follow_frames(&last, &at, &r);
		follow_blocks(&last, &at);
		sum.steps += at.func != UOPS_NONE;
		if (at.func != UOPS_NONE && at.uop != UOPS_NONE && sum.steps % every == 0)
			evaluate(&at, &r);
		last = at;
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) || !wait_stop())
			break;
	}
	printf("%llu steps, %llu evaluated: %llu outcomes (%.2f each, %.0f %% own), "
	       "right: %llu near, %llu behind calls, %llu in callers; %llu wrong; "
	       "%llu return addresses, %llu wrong, %llu behind no call; "
	       "%llu after joins, %llu resolve the predecessor, %llu wrong\n",
	    (unsigned long long)sum.steps, (unsigned long long)sum.runs,
	    (unsigned long long)sum.edges, (double)sum.edges / (double)(sum.runs + !sum.runs),
	    100 * (double)sum.own / (double)(sum.runs + !sum.runs), (unsigned long long)sum.near,
	    (unsigned long long)sum.behind_calls, (unsigned long long)sum.callers,
	    (unsigned long long)sum.wrong, (unsigned long long)sum.frames,
	    (unsigned long long)sum.bad_frames, (unsigned long long)sum.no_calls,
	    (unsigned long long)sum.joins, (unsigned long long)sum.predecessors,
	    (unsigned long long)sum.bad_predecessors);
	return sum.wrong || sum.bad_frames || sum.bad_predecessors || sum.no_calls || !sum.near ||
	       !sum.callers;
}
