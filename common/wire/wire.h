/*
 * Framed messages between morph-monitor and morphd (stream socket) and in the
 * monitor's spool files. Byte layout: docs/FORMATS.md "Wire frames"; all
 * numbers little-endian or ULEB128. Decoders check everything once, here.
 *
 *   monitor: HELLO, then BATCH…        manager: ACK per batch (by seq), WANT, WATCH, BOOST,
 *                                           CYCLES
 *
 * Accounting (DESIGN.md, invariant 6): of each batch
 *   taken = sum of all counts in modules + kernel + outside + dropped
 * where the decoder refuses a batch that does not add up.
 */
#ifndef MORPH_WIRE_H
#define MORPH_WIRE_H

#include "common/elf/elf.h"
#include "common/err.h"
#include "common/mem.h"

#include <stdbool.h>
#include <stdint.h>

enum { WIRE_VERSION = 1, WIRE_HEADER = 24, WIRE_MAX_PAYLOAD = 16 << 20 };

enum wire_type {
	WIRE_HELLO = 1,
	WIRE_BATCH = 2,
	WIRE_ACK = 3,
	WIRE_WANT = 4,
	WIRE_WATCH = 5,
	WIRE_BOOST = 6,
	WIRE_CYCLES = 7,
};

enum wire_source { WIRE_SRC_TICK = 1, WIRE_SRC_CPU_CLOCK = 2, WIRE_SRC_RECORDED = 3 };

struct wire_hello {
	uint64_t session;   /* random, names this run of the monitor */
	uint64_t period_ns; /* CPU time that one sample represents */
	uint32_t source;    /* enum wire_source */
	uint32_t pid;
};

struct wire_sample {
	uint64_t offset; /* in the file */
	uint64_t count;  /* > 0 */
};

struct wire_module {
	struct build_id id; /* n > 0 */
	char *path;         /* as the monitor resolved it; for the reader a hint, never trusted */
	uint32_t uid;       /* owner of the processes it was seen in */
	struct wire_sample *sample; /* ascending offset */
	uint32_t nsample;
	/*
	 * Boosted: in the time of the batch the monitor took extra samples of it, beside all that
	 * it takes anyway. They are no part of the accounting.
	 */
	bool boosted;
	struct wire_sample *extra; /* likewise */
	uint32_t nextra;
};

/*
 * What a sample of a wanted module may carry beside its count, for the register
 * replay (DESIGN.md): the interrupted program's registers, the first words of
 * its stack, and which words of the top of it point into code of the same
 * module. Further samples of the batch without them are the rule. Registers and
 * stacks may hold secrets: they travel from the monitor to the manager and are
 * wiped at both ends; a frame with them never goes to a file.
 */
enum {
	WIRE_GPRS = 16,  /* the kernel's order: rax rbx rcx rdx rsi rdi rbp rsp r8 … r15 */
	WIRE_RSP = 7,    /* … where the stack pointer is */
	WIRE_CODES = 8,  /* code pointers of a sample, at most */
	WIRE_WORDS = 64, /* of the stack that are looked at for them */
	WIRE_STACK = 16, /* … of which the first ones go along as they are */
	WIRE_REGS_MAX = 5 + 10 + 8 + 8 * WIRE_GPRS + 4 + 1 + WIRE_CODES * (1 + 10) + 1 +
			8 * WIRE_STACK, /* bytes */
};

struct wire_code {
	uint32_t word;   /* the pointer lies at rsp + 8 * word */
	uint64_t offset; /* where it points to, in the module's file */
};

struct wire_regs {
	uint32_t module, flags; /* index into module[]; RFLAGS */
	uint64_t offset;        /* of the instruction, in the module's file */
	uint64_t base; /* address of the file's offset 0 as that part of it is mapped, mod 2^64 */
	uint64_t gpr[WIRE_GPRS];
	uint32_t ncode, nstack;
	struct wire_code code[WIRE_CODES]; /* ascending word */
	uint64_t stack[WIRE_STACK];        /* from rsp upwards */
};

/*
 * A process that has ended and had a watched build mapped, as the kernel's exit records
 * (Documentation/accounting/taskstats.rst) tell of all its threads together.
 */
struct wire_run {
	uint32_t build;    /* index into run_build[] */
	uint32_t uid;      /* of the process */
	uint64_t start_ns; /* CLOCK_REALTIME, when it began */
	uint64_t cpu_ns;   /* user and system */
	uint64_t faults;   /* of pages, minor and major */
	uint32_t status;   /* as wait(2) gives it */
	uint64_t class; /* equal for equal command lines, as docs/FORMATS.md says; 0 = unknown, not
			   to be compared */
};
enum { WIRE_RUNS_MAX = 4096, WIRE_RUN_BUILDS_MAX = 64 };

/*
 * CPU time of processes that had a watched build mapped, in all since this session began to watch
 * it: of those that run, by their clocks, and of those that ended, by their exit records. That a
 * batch is lost takes nothing from it. Of builds whose cycles the manager wants, what the CPU's
 * counters say of those that run, in user mode.
 */
struct wire_use {
	struct build_id id;
	uint32_t processes; /* that run now */
	uint64_t cpu_ns;
	uint64_t instructions, cycles; /* both 0: not counted */
};

/*
 * Where samples fell that no module has, in as much detail as there was room for. They are part of
 * the batch's kernel and outside, which count all of them.
 */
enum wire_elsewhere_kind {
	WIRE_KERNEL = 1,    /* addresses; the id is the kernel's boot_id, with which they change */
	WIRE_ANONYMOUS = 2, /* addresses in a process, in no file: of a JIT compiler */
	WIRE_FILE = 3,      /* offsets in a file without build-id */
	WIRE_VDSO = 4,      /* offsets in the kernel's code for user mode */
	WIRE_FOREIGN = 5,   /* offsets in a file of which it is not known that the path is its own:
			       of a container, or removed; the id, where it is known */
};

struct wire_elsewhere {
	uint8_t kind;
	uint32_t uid, pid;  /* pid: of WIRE_ANONYMOUS, else 0 */
	struct build_id id; /* n = 0: none */
	char *name;         /* path, or what the process calls itself; a hint, never trusted */
	struct wire_sample *sample; /* ascending offset, or address */
	uint32_t nsample;
};

/*
 * Who called code that is in no wanted build: of samples there whose process has a wanted build
 * mapped, which words of the stack point into code of wanted builds, as offsets in these files, and
 * after the first of them which point into other code. What was called returns to one of them, most
 * likely; only who knows where calls are, and frames, can tell which. Samples of the batch that
 * have this are counted where they fell all the same.
 */
enum {
	WIRE_SITES = 112,
	WIRE_SITE_WORDS = 512,      /* of the stack that may be looked at for them */
	WIRE_CALLER_MAX = 40,       /* bytes of one without its sites … */
	WIRE_SITE_MAX = 2 + 5 + 10, /* … and of each site */
	WIRE_CALLERS_MAX = 1 << 16
};
#define WIRE_OTHER_CODE UINT32_MAX /* in place of a module: code of no wanted build */

struct wire_site {
	uint32_t word;   /* the pointer lies at rsp + 8 * word; direct: 0 */
	uint32_t module; /* index into module[], or WIRE_OTHER_CODE */
	uint64_t offset; /* in its file; of other code 0 */
};

struct wire_caller {
	uint32_t callee;  /* index into module[], or nmodule + an index into elsewhere[], or nmodule
			     +  nelsewhere: the kernel, where its address is not known */
	uint64_t address; /* of the samples there; of the kernel's without one 0 */
	bool direct;      /* the kernel worked for the site, which is a byte of the instruction that
			     was interrupted or called it */
	uint32_t looked;  /* words of the stack that were looked at; direct: 0 */
	uint32_t nsite;   /* > 0; direct: 1 */
	struct wire_site *site; /* ascending word; the first one is in a module */
	uint64_t count;         /* > 0 */
};

/*
 * After the modules a batch may carry further sections (type u8, length u32):
 * readers skip types they do not know.
 */
enum wire_section {
	WIRE_SECTION_REGS = 2,
	WIRE_SECTION_RUNS = 3,
	WIRE_SECTION_USES = 4,
	WIRE_SECTION_EXTRA = 5,
	WIRE_SECTION_ELSEWHERE = 6,
	WIRE_SECTION_CALLERS = 8, /* after elsewhere */
	WIRE_SECTION_CYCLES = 9   /* after uses */
};

struct wire_batch {
	uint64_t session, seq;      /* seq counts from 1 within a session */
	uint64_t start_ns, end_ns;  /* CLOCK_REALTIME */
	uint64_t taken;             /* samples accepted from the kernel or known lost */
	uint64_t kernel;            /* in kernel mode */
	uint64_t outside;           /* user mode, not in a file with a build-id */
	uint64_t dropped;           /* lost by the kernel's rings, the spool or a limit */
	struct wire_module *module; /* each (id, uid, path) once */
	uint32_t nmodule;
	struct wire_regs *regs; /* no part of the accounting */
	uint32_t nregs;
	uint64_t regs_unsent;       /* further ones that found no room */
	struct build_id *run_build; /* no part of the accounting either */
	struct wire_run *run;
	uint32_t nrun_build, nrun;
	uint64_t runs_unsent;
	struct wire_use *use; /* likewise; at most WIRE_RUN_BUILDS_MAX */
	uint32_t nuse;
	/* In user mode, of whatever program: samples of the accounting, and extra ones, which are
	 * > 0 where modules are boosted. The latter for each of the former is how densely a boosted
	 * module was sampled, whatever was lost. */
	uint64_t plain, extra;
	struct wire_elsewhere *elsewhere;
	uint32_t nelsewhere;
	struct wire_caller *caller; /* by callee, then address; of each at most its samples */
	uint32_t ncaller;
};

struct wire_ack {
	uint64_t session, seq;
};

/* The builds whose samples shall come with registers, from now on; each
 * message replaces the one before, and an end of the connection all. */
enum { WIRE_WANT_MAX = 1024 };
struct wire_want {
	struct build_id *id; /* n > 0 */
	uint32_t n;
};
/* The builds of which more samples are wanted, likewise from now on. */
struct wire_boost {
	uint32_t budget; /* what these may cost each CPU, in millionths of its time */
	struct wire_want builds;
};
/* The same builds in the same order? */
bool wire_want_equal(const struct wire_want *a, const struct wire_want *b);

/* Each appends one whole frame (header and payload) to out. The caller keeps a
 * batch within WIRE_MAX_PAYLOAD (a sample takes at most 20 bytes, a module 60
 * and its path, registers WIRE_REGS_MAX, a caller as said there), path within 4096 bytes and
 * samples in order: else readers refuse it. The section of registers is written where nregs or
 * regs_unsent is not 0, that of runs where nrun or runs_unsent is not, that of uses where nuse is
 * not, that of cycles where any were counted, that of extra samples where extra is not, that of
 * elsewhere where nelsewhere is not, that of callers where ncaller is not.
 */
void wire_put_hello(struct buf *out, const struct wire_hello *m);
void wire_put_batch(struct buf *out, const struct wire_batch *m);
void wire_put_ack(struct buf *out, const struct wire_ack *m);
void wire_put_want(struct buf *out, const struct wire_want *m);
/* In the same form: the builds of whose processes the ends shall be reported, from now on. */
void wire_put_watch(struct buf *out, const struct wire_want *m);
/* The builds whose instructions and cycles are to be counted while their processes run. */
void wire_put_cycles(struct buf *out, const struct wire_want *m);
void wire_put_boost(struct buf *out, const struct wire_boost *m);

/*
 * Looks at n bytes from a stream. Returns the length of the whole frame in
 * front (> 0), 0 when more bytes are needed, -1 on garbage (magic, version,
 * type, length, checksum): the stream is then of no further use.
 */
long wire_frame(const void *p, size_t n, enum wire_type *type, struct err *e);

/* Each decodes one whole frame as wire_frame() found it; arrays and strings
 * come from the arena. */
int wire_get_hello(const void *frame, size_t n, struct wire_hello *m, struct err *e);
int wire_get_batch(
    const void *frame, size_t n, struct arena *a, struct wire_batch *m, struct err *e);
int wire_get_ack(const void *frame, size_t n, struct wire_ack *m, struct err *e);
int wire_get_want(const void *frame, size_t n, struct arena *a, struct wire_want *m, struct err *e);
int wire_get_watch(
    const void *frame, size_t n, struct arena *a, struct wire_want *m, struct err *e);
int wire_get_cycles(
    const void *frame, size_t n, struct arena *a, struct wire_want *m, struct err *e);
int wire_get_boost(
    const void *frame, size_t n, struct arena *a, struct wire_boost *m, struct err *e);
/* Zeroes the registers of a decoded batch, and it has none any more. */
void wire_wipe_regs(struct wire_batch *m);

#endif
