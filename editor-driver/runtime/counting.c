/*
 * What is linked into a counting build: writes its counters to a file
 * (docs/FORMATS.md "Raw counts") when the module is left, and on a signal if
 * one is asked for. Compiled to assembly text when Morph is built, assembled
 * with the job; uses nothing of the program and of no library.
 *
 *	MORPH_COUNTS         the file; %p is the process id, %n the module's name
 *	                     (default %n.%p.counts); empty: write nothing
 *	MORPH_COUNTS_SIGNAL  a number, USR1 or USR2: write at once when it comes
 *	MORPH_COUNTS_LIVE    not empty: count in the file itself, from the start
 *
 * A live file is mapped over the counters: it is up to date at every instant,
 * however the process ends, and children of fork go on counting in it. So do
 * programs whose start runs no .init_array: they are entered by way of us.
 *
 * Where every thread has counters of its own (editor/probe/probes.h), those of the
 * first are the module's, and the others' are memory that lies a distance
 * after them: the base of %gs, by which counters are addressed. That memory
 * stays when its thread ends, however it ends, and goes to the next thread with
 * the same thread pointer, whose predecessor must be dead. What is written is
 * the sum of all. None of this needs to know that a thread ends.
 *
 * A name that is taken gets .1, .2, … after it: nothing is overwritten but
 * what this process wrote. Folders are taken from where the process began. A
 * child of fork counts from zero: the kernel wipes the counters' pages. A
 * program with other rights than its caller (setuid) writes nothing.
 */
#include <elf.h>
#include <sys/syscall.h>

typedef unsigned long u64;
typedef unsigned char u8;
#define HIDDEN __attribute__((visibility("hidden")))

enum { PAGE = 4096, PATH = 4096, NAME_TRIES = 10000, BUILD_ID_MAX = 32 };

/* Where the sections begin, in the object that is linked first (runtime_first()); where
 * ours of them do, which is linked last. */
extern u8 morph_counters_begin[] HIDDEN, morph_counted_begin[] HIDDEN;
extern u8 morph_counting_mark[] HIDDEN, morph_counting_last[] HIDDEN;
extern const u8 __ehdr_start[] HIDDEN __attribute__((weak));
/* Written by the editor: length and bytes of the origin's build-id; a name. */
extern const u8 morph_counting_origin[] HIDDEN;
extern const char morph_counting_name[] HIDDEN;
extern const u8 morph_counting_threads[] HIDDEN; /* does each have its own? */

/* The last page of the counters' section makes it end at the end of a page, and
 * holds a mark that fork wipes. endbr64 because these are called by address. */
__asm__(".section .morph.counters,\"aw\",@nobits\n"
	".p2align 12\n"
	"morph_counting_mark: .zero 4096\n"
	".section .morph.counted,\"a\",@progbits\n"
	".p2align 3\n"
	"morph_counting_last: .quad 0, 0, 0\n"
	".section .init_array.00000,\"aw\",@init_array\n"
	".p2align 3\n"
	".quad morph_counting_init\n"
	".section .fini_array.00000,\"aw\",@fini_array\n"
	".p2align 3\n"
	".quad morph_counting_fini\n"
	".text\n"
	"morph_counting_init: endbr64\n"
	"jmp morph_counting_begin\n"
	"morph_counting_fini: endbr64\n"
	"jmp morph_counting_end\n"
	"morph_counting_signal: endbr64\n"
	"jmp morph_counting_on_signal\n"
	"morph_counting_restore: movl $15, %eax\n"
	"syscall\n");
extern void morph_counting_signal(int) HIDDEN;
extern void morph_counting_restore(void) HIDDEN;

struct head {
	char magic[8];
	u64 counted, counters; /* bytes of the two parts after this */
	u64 distance;          /* from the first part to the second, in memory */
	u64 pid;
	u8 id[1 + BUILD_ID_MAX], origin[1 + BUILD_ID_MAX];
	u8 zero[22];
};

struct action { /* the kernel's */
	void (*handler)(int);
	u64 flags;
	void (*restorer)(void);
	u64 mask;
};

struct text {
	char at[PATH];
	u64 n; /* PATH: did not fit */
};

/* One thread's counters; it is its memory's first page, which fork does not wipe. */
struct block {
	struct block *next;
	u64 thread;   /* its thread pointer */
	u64 distance; /* of its counters from the module's */
};

static struct block first, *blocks; /* of the module's own counters; all others */
static struct text pattern, published;
static struct action former;
static u64 first_pid;
static int signal_number, busy, silent, live;

static long call6(long n, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	register u64 r10 __asm__("r10") = d;
	register u64 r8 __asm__("r8") = e;
	register u64 r9 __asm__("r9") = f;
	long r;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return r;
}

static long call(long n, u64 a, u64 b, u64 c, u64 d, u64 e)
{
	return call6(n, a, b, c, d, e, 0);
}

enum { WRONLY = 1, RDWR = 2, CREAT = 0100, EXCL = 0200, NOFOLLOW = 0400000, CLOEXEC = 02000000 };
enum { E_EXIST = 17, E_INVAL = 22, E_NOSYS = 38 };

/* ---- text ---- */

static void put(struct text *t, char c)
{
	if (t->n < PATH - 1) {
		t->at[t->n++] = c;
		t->at[t->n] = 0;
	} else {
		t->n = PATH;
	}
}

static void put_text(struct text *t, const char *s)
{
	while (*s)
		put(t, *s++);
}

static void put_number(struct text *t, u64 v)
{
	char digit[20];
	int n = 0;

	do
		digit[n++] = (char)('0' + v % 10);
	while (v /= 10);
	while (n)
		put(t, digit[--n]);
}

static void copy(void *to, const void *from, u64 n)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

/* ---- environment ---- */

/* One variable, as the process was started with; true when it is there. */
static int variable(const char *name, struct text *out)
{
	enum { OTHER = -1, VALUE = -2 };
	long fd = call(SYS_open, (u64) "/proc/self/environ", CLOEXEC, 0, 0, 0), n, i;
	int at = 0, found = 0; /* characters of its name; found: 1 here it is, 2 it was */
	static char chunk[PAGE];

	if (fd < 0)
		return 0;
	while (found < 2 && (n = call(SYS_read, (u64)fd, (u64)chunk, sizeof chunk, 0, 0)) > 0)
		for (i = 0; i < n && found < 2; i++) {
			if (!chunk[i]) {
				found += at == VALUE;
				at = 0;
			} else if (at == VALUE) {
				put(out, chunk[i]);
			} else if (at >= 0 && name[at] == chunk[i]) {
				at++;
			} else if (at >= 0 && !name[at] && chunk[i] == '=') {
				at = VALUE;
				found = 1;
			} else {
				at = OTHER;
			}
		}
	call(SYS_close, (u64)fd, 0, 0, 0, 0);
	return found;
}

static int signal_of(const char *s)
{
	int n = 0;

	if (s[0] == 'U' && s[1] == 'S' && s[2] == 'R' && !s[4])
		return s[3] == '1' ? 10 : s[3] == '2' ? 12 : 0;
	for (; *s >= '0' && *s <= '9' && n < 100; s++)
		n = 10 * n + *s - '0';
	return *s || n > 64 ? 0 : n;
}

static void complain(const char *what, const char *where)
{
	static struct text line;

	line.n = 0;
	put_text(&line, "morph: ");
	put_text(&line, morph_counting_name);
	put_text(&line, what);
	put_text(&line, where);
	put(&line, '\n');
	call(SYS_write, 2, (u64)line.at, line.n < PATH ? line.n : PATH - 1, 0, 0);
}

/* ---- the file ---- */

static void find_note(const u8 *p, u64 n, u8 *id)
{
	const unsigned *w;
	u64 size;

	while (n >= 12) {
		w = (const unsigned *)p;
		size = 12 + ((w[0] + 3ul) & ~3ul) + ((w[1] + 3ul) & ~3ul);
		if (size > n)
			return;
		if (w[0] == 4 && w[2] == 3 && w[3] == 0x554e47 && w[1] <= BUILD_ID_MAX) {
			id[0] = (u8)w[1];
			copy(id + 1, p + 16, w[1]);
		}
		p += size;
		n -= size;
	}
}

static void own_build_id(u8 *id)
{
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)__ehdr_start;
	const Elf64_Phdr *p;
	u64 bias = 0;
	int i, n;

	if (!ehdr)
		return;
	p = (const Elf64_Phdr *)(__ehdr_start + ehdr->e_phoff);
	n = ehdr->e_phnum;
	for (i = 0; i < n; i++)
		if (p[i].p_type == PT_LOAD && !p[i].p_offset)
			bias = (u64)ehdr - p[i].p_vaddr;
	for (i = 0; i < n; i++)
		if (p[i].p_type == PT_NOTE)
			find_note((const u8 *)(bias + p[i].p_vaddr), p[i].p_filesz, id);
}

static int write_all(long fd, const void *p, u64 n)
{
	long r;

	while (n) {
		r = call(SYS_write, (u64)fd, (u64)p, n, 0, 0);
		if (r == -4)
			continue;
		if (r <= 0)
			return -1;
		p = (const u8 *)p + r;
		n -= (u64)r;
	}
	return 0;
}

static u64 size_of_counters(void)
{
	return (u64)(morph_counting_mark - morph_counters_begin);
}

/* Where the counters lie in the file: on a page, so that they can be mapped. */
static u64 counters_at(u64 counted)
{
	return (sizeof(struct head) + counted + PAGE - 1) / PAGE * PAGE;
}

/* All threads' counters, summed. Those that run go on counting meanwhile. */
static int write_sums(long fd, u64 size)
{
	enum { N = PAGE / 8 };
	static u64 sum[N];
	const u64 *from = (const u64 *)morph_counters_begin;
	const struct block *b;
	u64 i, k;

	for (i = 0; i < size / 8; i += N) {
		copy(sum, from + i, PAGE);
		for (b = __atomic_load_n(&blocks, __ATOMIC_ACQUIRE); b; b = b->next)
			for (k = 0; k < N; k++)
				sum[k] += from[b->distance / 8 + i + k];
		if (write_all(fd, sum, PAGE))
			return -1;
	}
	return 0;
}

static int write_counts(long fd, u64 pid)
{
	static struct head h;
	static const u8 zero[PAGE];

	copy(h.magic, "MorphCT1", 8);
	h.counted = (u64)(morph_counting_last - morph_counted_begin);
	h.counters = size_of_counters();
	h.distance = (u64)morph_counters_begin - (u64)morph_counted_begin;
	h.pid = pid;
	own_build_id(h.id);
	copy(h.origin, morph_counting_origin, 1 + BUILD_ID_MAX);
	return write_all(fd, &h, sizeof h) || write_all(fd, morph_counted_begin, h.counted) ||
	       write_all(fd, zero, counters_at(h.counted) - h.counted - sizeof h) ||
	       write_sums(fd, h.counters);
}

/* From here on the counters are the file's. */
static int map_counts(long fd)
{
	enum { READ_WRITE = 3, SHARED_FIXED = 0x11 };
	u64 size = size_of_counters();
	u64 at = counters_at((u64)(morph_counting_last - morph_counted_begin));

	return size && call6(SYS_mmap, (u64)morph_counters_begin, size, READ_WRITE, SHARED_FIXED,
			   (u64)fd, at) != (long)morph_counters_begin;
}

static void expand(struct text *out, u64 pid)
{
	const char *p;

	out->n = 0;
	for (p = pattern.at; *p; p++) {
		if (p[0] != '%' || !p[1]) {
			put(out, *p);
			continue;
		}
		p++;
		if (*p == 'p')
			put_number(out, pid);
		else if (*p == 'n')
			put_text(out, morph_counting_name);
		else
			put(out, *p);
	}
}

/* Gives the finished file a name that is free, and remembers it. */
static int publish(const struct text *tmp, const struct text *name)
{
	int i, taken;
	long r;

	for (i = 0; i < NAME_TRIES; i++) {
		published = *name;
		if (i) {
			put(&published, '.');
			put_number(&published, (u64)i);
		}
		if (published.n == PATH)
			break;
		r = call(SYS_renameat2, (u64)-100, (u64)tmp->at, (u64)-100, (u64)published.at, 1);
		if (!r)
			return 0;
		if (r == -E_EXIST)
			continue;
		if (r != -E_INVAL && r != -E_NOSYS)
			break;
		/* This file system cannot say so at once. */
		r = call(SYS_open, (u64)published.at, CLOEXEC, 0, 0, 0);
		taken = r >= 0;
		if (taken)
			call(SYS_close, (u64)r, 0, 0, 0, 0);
		else if (!call(SYS_rename, (u64)tmp->at, (u64)published.at, 0, 0, 0))
			return 0;
		else
			break;
	}
	published.n = 0;
	return -1;
}

static void write_file(void)
{
	static struct text name, tmp;
	u64 pid = (u64)call(SYS_getpid, 0, 0, 0, 0, 0);
	long fd;
	int bad;

	if (pid != first_pid)
		published.n = 0; /* that was the parent's */
	first_pid = pid;
	expand(&name, pid);
	tmp = name;
	put(&tmp, '.');
	put_number(&tmp, pid);
	put_text(&tmp, ".tmp");
	if (tmp.n == PATH) {
		complain(": too long a name for its counts: ", pattern.at);
		return;
	}
	call(SYS_unlink, (u64)tmp.at, 0, 0, 0, 0);
	fd = call(SYS_open, (u64)tmp.at, (live ? RDWR : WRONLY) | CREAT | EXCL | NOFOLLOW | CLOEXEC,
	    0666, 0, 0);
	bad = fd < 0 || write_counts(fd, pid) || (live && map_counts(fd));
	if (fd >= 0)
		call(SYS_close, (u64)fd, 0, 0, 0, 0);
	if (!bad)
		bad = published.n ? call(SYS_rename, (u64)tmp.at, (u64)published.at, 0, 0, 0) != 0
				  : publish(&tmp, &name);
	if (bad) {
		call(SYS_unlink, (u64)tmp.at, 0, 0, 0, 0);
		complain(": cannot write its counts to ", name.at);
	}
}

/* ---- threads ---- */

/* Memory after the module's counters, since the base of %gs is not negative.
 * Where the kernel does not go there by itself it is asked for the next place. */
static struct block *new_block(void)
{
	enum { READ_WRITE = 3, PRIVATE_ANONYMOUS = 0x22, ROOM = 1 << 26, TRIES = 1024 };
	static u64 asked;
	u64 size = PAGE + size_of_counters(), from = (u64)morph_counters_begin, hint = 0, i;
	long at;

	for (i = 0; i < TRIES; i++) {
		at = call6(SYS_mmap, hint, size, READ_WRITE, PRIVATE_ANONYMOUS, (u64)-1, 0);
		if (at < 0 && at > -PAGE)
			return 0;
		if ((u64)at >= from)
			return (struct block *)at;
		call(SYS_munmap, (u64)at, size, 0, 0, 0);
		hint = from + ROOM + size * __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
	}
	return 0;
}

static void wipe_on_fork(u8 *at, u64 size)
{
	enum { MADV_WIPEONFORK = 18 };

	call(SYS_madvise, (u64)at, size, MADV_WIPEONFORK, 0, 0);
}

static struct block *add_block(u64 thread)
{
	struct block *b = new_block();

	if (!b)
		return 0;
	wipe_on_fork((u8 *)b + PAGE, size_of_counters());
	b->thread = thread;
	b->distance = (u64)b + PAGE - (u64)morph_counters_begin;
	b->next = __atomic_load_n(&blocks, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(
	    &blocks, &b->next, b, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return b;
}

static struct block *block_of(u64 thread)
{
	struct block *b = __atomic_load_n(&blocks, __ATOMIC_ACQUIRE);
	u64 none = 0;

	if (__atomic_compare_exchange_n(
		&first.thread, &none, thread, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
	    none == thread)
		return &first;
	while (b && b->thread != thread)
		b = b->next;
	return b ? b : add_block(thread);
}

/* A thread's first function of the module; of a signal handler's, too, if that comes
 * in between. Until here it has the counters of the thread that began it. */
__attribute__((used)) static void morph_counting_thread(void)
{
	enum { SIG_SETMASK = 2, ARCH_SET_GS = 0x1001 };
	static int said;
	u64 all = ~0ul, before = 0, thread;
	const struct block *b;

	__asm__("movq %%fs:0, %0" : "=r"(thread));
	call(SYS_rt_sigprocmask, SIG_SETMASK, (u64)&all, (u64)&before, 8, 0);
	b = block_of(thread);
	if ((!b || call(SYS_arch_prctl, ARCH_SET_GS, b->distance, 0, 0, 0)) &&
	    !__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
		complain(": a thread has no counters of its own, some counts are lost", "");
	call(SYS_rt_sigprocmask, SIG_SETMASK, (u64)&before, 0, 8, 0);
}

/* ---- when ---- */

static int lock(void)
{
	return !__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE);
}

__attribute__((used)) static void morph_counting_on_signal(int n)
{
	if (lock()) {
		write_file();
		__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
	}
	if ((u64)former.handler > 1 && !(former.flags & 4)) /* not SA_SIGINFO */
		former.handler(n);
}

static void watch_signal(void)
{
	static struct text value;
	struct action a = {morph_counting_signal, 0x14000000, morph_counting_restore, 0};

	if (!variable("MORPH_COUNTS_SIGNAL", &value))
		return;
	signal_number = signal_of(value.at);
	/* SA_RESTART | SA_RESTORER */
	if (!signal_number ||
	    call(SYS_rt_sigaction, (u64)signal_number, (u64)&a, (u64)&former, 8, 0)) {
		signal_number = 0;
		complain(": no signal for its counts: ", value.at);
	}
}

static void begin(void)
{
	static struct text value, wanted;

	silent = call(SYS_getuid, 0, 0, 0, 0, 0) != call(SYS_geteuid, 0, 0, 0, 0, 0) ||
		 call(SYS_getgid, 0, 0, 0, 0, 0) != call(SYS_getegid, 0, 0, 0, 0, 0);
	if (silent)
		return;
	if (!variable("MORPH_COUNTS", &value))
		put_text(&value, "%n.%p.counts");
	silent = !value.n;
	if (value.at[0] != '/' && call(SYS_getcwd, (u64)pattern.at, PATH, 0, 0, 0) > 0) {
		while (pattern.at[pattern.n])
			pattern.n++;
		put(&pattern, '/');
	}
	put_text(&pattern, value.at);
	first_pid = (u64)call(SYS_getpid, 0, 0, 0, 0, 0);
	if (variable("MORPH_COUNTS_LIVE", &wanted) && wanted.n)
		live = 1;
	if (live && *morph_counting_threads) {
		complain(": counters of threads cannot be live", "");
		live = 0;
	}
	if (live) {
		if (!silent)
			write_file();
		silent = 1;
		return;
	}
	wipe_on_fork(morph_counters_begin, size_of_counters() + PAGE);
	morph_counting_mark[0] = 1;
	if (!silent)
		watch_signal();
}

__attribute__((used)) static void morph_counting_begin(void)
{
	if (!first_pid)
		begin();
}

/* Called by the entry of a program that calls nothing else of ours. */
__attribute__((used)) static void morph_counting_begin_live(void)
{
	live = 1;
	begin();
}

__attribute__((used)) static void morph_counting_end(void)
{
	struct action now;
	long i;

	if (silent)
		return;
	for (i = 0; !lock() && i < 1000000; i++)
		call(SYS_sched_yield, 0, 0, 0, 0, 0);
	/* A child that the kernel did not wipe has its parent's counts. */
	if (morph_counting_mark[0] && first_pid != (u64)call(SYS_getpid, 0, 0, 0, 0, 0))
		return;
	write_file();
	if (signal_number && !call(SYS_rt_sigaction, (u64)signal_number, 0, (u64)&now, 8, 0) &&
	    now.handler == morph_counting_signal)
		call(SYS_rt_sigaction, (u64)signal_number, (u64)&former, 0, 8, 0);
}
