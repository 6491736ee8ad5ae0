/*
 * How many samples a second of one core takes in: frames as a monitor sends
 * them -> decode -> map -> merge -> store, one transaction per batch, through
 * the manager's own code. Then samples with registers: decode -> place ->
 * evaluate -> merge -> store. Prints a table; bench/ingest builds and runs it.
 */
#include "bench/bench.h"
#include "common/publish.h"
#include "managerd/cycle/batch.h"
#include "managerd/store/addresses.h"
#include "managerd/replay/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 2000, BLOCKS = 20, BLOCK_BYTES = 24, BASE = 0x1000 };

static void must(int rc, const struct err *e)
{
	if (rc) {
		fprintf(stderr, "%s\n", e->text);
		exit(1);
	}
}

/* A program of 960 kB code: 2000 functions of 20 blocks, known to the store. */
static void make_module(struct store *s, const char *path, const struct build_id *id)
{
	struct store_module m = {.id = module_id(path),
	    .path = path,
	    .text = "",
	    .current = *id,
	    .origin = *id,
	    .artifact = "none"};
	struct store_build b = {.module = m.id, .id = *id, .origin = *id};
	struct map_table t = {0};
	struct blockmap map = {.id = *id};
	struct buf blob = {0};
	struct err e;
	uint32_t f, k;
	char name[32];

	vec_push(&map.seg, (struct elf_segment){BASE, BASE, FUNCTIONS * BLOCKS * BLOCK_BYTES});
	for (f = 0; f < FUNCTIONS; f++) {
		snprintf(name, sizeof name, "function_%u", f);
		map_table_add(&t, &(struct map_func){.key = hash_bytes(name, strlen(name)),
				      .tu = 1,
				      .ord = f,
				      .nblock = BLOCKS,
				      .name = name,
				      .tu_name = "a.c"});
		vec_push(&map.frag, (struct bm_frag){.addr = BASE + f * BLOCKS * BLOCK_BYTES,
					.tu = 1,
					.size = BLOCKS * BLOCK_BYTES,
					.func = f,
					.first = f * BLOCKS,
					.n = BLOCKS});
		for (k = 0; k < BLOCKS; k++)
			vec_push(
			    &map.block, (struct bm_block){BASE + (f * BLOCKS + k) * BLOCK_BYTES,
					    BLOCK_BYTES, k, f});
	}
	must(map_table_end(&t, &e), &e);
	must(store_put_module(s, &m, &e), &e);
	map_table_encode(&t, &blob);
	must(store_put_table(s, m.id, id, blob.p, blob.n, &e), &e);
	blob.n = 0;
	blockmap_encode(&map, &blob);
	b.map = blob.p;
	b.nmap = blob.n;
	must(store_put_build(s, &b, &e), &e);
	buf_free(&blob);
	blockmap_free(&map);
	map_table_free(&t);
}

static int by_offset(const void *a, const void *b)
{
	const struct wire_sample *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static uint32_t together(struct wire_sample *s, uint64_t n)
{
	uint32_t out = 0;
	uint64_t i;

	qsort(s, n, sizeof *s, by_offset);
	for (i = 0; i < n; i++)
		if (out && s[out - 1].offset == s[i].offset)
			s[out - 1].count++;
		else
			s[out++] = s[i];
	return out;
}

static uint64_t some_function(void)
{
	return (uint64_t)(pow(FUNCTIONS, (double)(rnd() >> 11) / 9007199254740992.0)) - 1;
}

/* n samples whose functions are as unequal as those of real programs (a few
 * hold most), put together by offset. */
static uint32_t gather(struct wire_sample *s, uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n; i++)
		s[i] = (struct wire_sample){
		    BASE + some_function() * BLOCKS * BLOCK_BYTES +
			rnd() % 100 * (rnd() % 100) * BLOCKS * BLOCK_BYTES / 10000,
		    1};
	return together(s, n);
}

/* Every second byte of the program once: nothing to put together. */
static uint32_t scatter(struct wire_sample *s, uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n; i++)
		s[i] = (struct wire_sample){BASE + 2 * i, 1};
	return (uint32_t)n;
}

struct load {
	const char *name;
	int group; /* batches that wait at a time: after an absence, or of a recorded feed */
	uint64_t samples;
	uint32_t (*make)(struct wire_sample *s, uint64_t n);
	int batches;
};

/* What is done with address samples after a commit, in turns of its own. */
static void settle(struct core *c)
{
	struct address_policy p = {c->conf->samples.days, c->conf->samples.disk};
	struct err e;
	int more = 1;

	while (more > 0 && store_addresses_due(c->store, &p, clock_now_ms())) {
		must(store_begin(c->store, &e), &e);
		more = store_addresses_turn(c->store, &p, clock_now_ms(), &e);
		must(more < 0 ? -1 : store_commit(c->store, &e), &e);
	}
}

static void take_in(struct batches *in, const struct load *l, const char *path,
    const struct build_id *id, uint64_t *seq)
{
	struct wire_sample *s = xcalloc(l->samples, sizeof *s);
	struct wire_module w = {
	    .id = *id, .path = (char *)path, .sample = s, .nsample = l->make(s, l->samples)};
	struct wire_hello hello = {.source = WIRE_SRC_RECORDED};
	struct wire_batch b = {.taken = l->samples, .module = &w, .nmodule = 1, .session = 1}, got;
	struct buf frame = {0};
	enum wire_type type;
	double decode = 0, all = 0, after = 0, t;
	struct arena a;
	struct err e;
	int i;

	for (i = -2; i < l->batches; i++) { /* two to warm up */
		b.seq = ++*seq;
		frame.n = 0;
		wire_put_batch(&frame, &b);
		a = (struct arena){0};
		t = cpu_s();
		if (wire_frame(frame.p, frame.n, &type, &e) != (long)frame.n)
			must(-1, &e);
		must(wire_get_batch(frame.p, frame.n, &a, &got, &e), &e);
		if (i >= 0)
			decode += cpu_s() - t;
		must(batch_take(in, &hello, &got, true, &e), &e);
		if (i < 0 || i % l->group == l->group - 1)
			must(batch_commit(in, &e), &e);
		if (i >= 0)
			all += cpu_s() - t;
		t = cpu_s();
		if (!in->open)
			settle(in->core);
		if (i >= 0)
			after += cpu_s() - t;
		arena_free(&a);
	}
	printf("%-46s %9llu %9u %10.1f %10.1f %8.1f %8.2f %8.2f\n", l->name,
	    (unsigned long long)l->samples, w.nsample, (double)l->samples * l->batches / all / 1e6,
	    (double)w.nsample * l->batches / all / 1e6, 1e3 * all / l->batches,
	    1e3 * decode / l->batches, 1e3 * after / l->batches);
	buf_free(&frame);
	free(s);
}

/* ---- samples with registers ---- */

enum { PER_BATCH = 5000, BATCHES = 100 };

/* A block: load, two of arithmetic, compare, branch to the next block or the one
 * behind; 4 bytes each, and the frame at rsp + 8. */
static void make_table(const char *dir, const struct build_id *id)
{
	static const uint8_t kind[] = {UOP_MOV, UOP_ADD, UOP_SUB, UOP_CMP, UOP_END};
	struct uops u = {0};
	struct buf bytes = {0};
	char *to = xasprintf("%s/replay", dir);
	uint32_t f, k, i;
	char name[32];
	struct err e;

	for (f = 0; f < FUNCTIONS; f++) {
		snprintf(name, sizeof name, "function_%u", f);
		vec_push(&u.func, (struct uops_func){hash_bytes(name, strlen(name)),
				      (uint32_t)u.block.n, BLOCKS, 0, 0});
		vec_push(&u.frame, (struct uops_frame){(uint32_t)u.uop.n, UR_SP, 8});
		for (k = 0; k < BLOCKS; k++) {
			vec_push(&u.block, (struct uops_block){.uop = (uint32_t)u.uop.n,
					       .nuop = 5,
					       .to = (k + 2) % BLOCKS,
					       .other = (k + 1) % BLOCKS,
					       .join = UOPS_NONE,
					       .term = UT_COND,
					       .cond = 12});
			for (i = 0; i < 5; i++)
				vec_push(
				    &u.uop, (struct uop){.kind = kind[i],
						.size = 3,
						.dst = (uint8_t)((i + k) % 4),
						.src = i ? (uint8_t)(UR_SI + (i + k) % 3) : UO_MEM,
						.base = UR_SP,
						.index = UA_NONE,
						.at = 4 * i});
		}
	}
	uops_sort(&u);
	uops_encode(&u, &bytes);
	must(tables_take(to, &(struct table_name){module_id("/opt/bench/prog"), 0, *id},
		 &(struct blob){.p = (const uint8_t *)bytes.p, .n = bytes.n}, &e),
	    &e);
	uops_free(&u);
	buf_free(&bytes);
	free(to);
}

/* An instruction of a hot function's. */
static uint64_t some_place(void)
{
	return BASE + (some_function() * BLOCKS + rnd() % BLOCKS) * BLOCK_BYTES + rnd() % 5 * 4;
}

static void make_regs(struct wire_regs *r, struct wire_sample *s)
{
	uint32_t i, k;

	for (i = 0; i < PER_BATCH; i++) {
		r[i] = (struct wire_regs){.offset = some_place(), .ncode = 1};
		r[i].code[0] = (struct wire_code){0, some_place()};
		for (k = 0; k < WIRE_GPRS; k++)
			r[i].gpr[k] = rnd() % 2 ? rnd() : rnd() % 1000;
		s[i] = (struct wire_sample){r[i].offset, 1};
	}
}

static void take_registers(struct batches *in, const struct build_id *id)
{
	struct wire_sample *s = xcalloc(PER_BATCH, sizeof *s);
	struct wire_regs *r = xcalloc(PER_BATCH, sizeof *r);
	struct wire_module w = {
	    .id = *id, .path = "/opt/bench/prog", .sample = s, .nsample = PER_BATCH};
	struct wire_batch b = {.taken = PER_BATCH,
			      .module = &w,
			      .nmodule = 1,
			      .session = 2,
			      .regs = r},
			  got;
	struct buf frame = {0};
	double all[2] = {0}, t;
	struct arena a;
	struct err e;

	for (b.seq = 1; b.seq <= 2 * BATCHES; b.seq++) { /* in turn with registers and without */
		make_regs(r, s);
		w.nsample = together(s, PER_BATCH);
		b.nregs = b.seq % 2 ? PER_BATCH : 0;
		frame.n = 0;
		wire_put_batch(&frame, &b);
		a = (struct arena){0};
		t = cpu_s();
		must(wire_get_batch(frame.p, frame.n, &a, &got, &e), &e);
		must(batch_take(in, &(struct wire_hello){.source = WIRE_SRC_TICK}, &got, true, &e),
		    &e);
		must(batch_commit(in, &e), &e);
		wire_wipe_regs(&got);
		arena_free(&a);
		all[b.seq % 2] += cpu_s() - t;
	}
	printf("\nSamples with registers, %d a batch: %.2f M per s of one core in the whole path, "
	       "%.2f M per s\nbeyond what the same samples cost without; %.1f branch outcomes of "
	       "each\n",
	    PER_BATCH, PER_BATCH * BATCHES / all[1] / 1e6,
	    PER_BATCH * BATCHES / (all[1] - all[0]) / 1e6,
	    (double)in->registers->observed.outcomes / (double)in->registers->observed.placed);
	buf_free(&frame);
	free(r);
	free(s);
}

int main(int argc, char **argv)
{
	static const struct load load[] = {
	    {"10 s of 2 processors at 250 Hz", 1, 5000, gather, 200},
	    {"the same, recorded: 20 wait at a time", 20, 5000, gather, 400},
	    {"10 s of 64 processors at 250 Hz", 1, 160000, gather, 50},
	    {"10 s of 64 processors at 1 kHz", 1, 640000, gather, 20},
	    {"nothing to put together: every sample apart", 1, 400000, scatter, 20},
	};
	char dir[] = "/tmp/morph-bench-XXXXXX", path[64];
	struct conf conf;
	struct core core = {.conf = &conf, .home = dir, .stopping = true};
	struct registers registers = {.core = &core};
	struct trials trials = {.core = &core};
	struct recording recording = {.fd = -1};
	struct batches batches = {
	    .core = &core, .registers = &registers, .trials = &trials, .recording = &recording};
	struct build_id id;
	uint64_t seq = 0;
	struct err e;
	size_t i;

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof path, "%s/morph.db", dir);
	conf_defaults(&conf);
	core.store = store_open(path, &e);
	if (!core.store)
		must(-1, &e);
	build_id_parse("0102030405060708", &id);
	make_module(core.store, "/opt/bench/prog", &id);
	must(modules_open(&core.modules, core.store, NULL, &conf, &e), &e);
	printf("Taking samples in: decode, map, merge, store (program of %d blocks)\n\n"
	       "%-46s %9s %9s %10s %10s %8s %8s %8s\n",
	    FUNCTIONS * BLOCKS, "a batch is", "samples", "entries", "M samples", "M entries",
	    "ms each", "of it", "ms");
	printf("%-46s %9s %9s %10s %10s %8s %8s %8s\n", "", "", "", "per s", "per s", "", "decode",
	    "later");
	for (i = 0; i < sizeof load / sizeof *load; i++)
		take_in(&batches, &load[i], "/opt/bench/prog", &id, &seq);
	make_table(dir, &id);
	core.modules.tables = xasprintf("%s/replay", dir);
	must(modules_reload(&core.modules, &e), &e);
	take_registers(&batches, &id);
	printf("\nCPU time of one core. Morph (1997): 0.13 M samples per s.\n");
	modules_close(&core.modules);
	store_close(core.store);
	dir_remove(dir, NULL);
	return 0;
}
