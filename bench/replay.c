/*
 * How many samples with registers a second of one core evaluates: those that a
 * program's training gave (bench/registers.py), through the manager's own
 * code, from a sample's registers to branch outcomes and callers.
 *	replay TABLE INSPECTED BATCHES
 * INSPECTED is what morph-inspect says of the module's artifact. bench/replay builds
 * and runs it. Prints samples, and of those at a known
 * instruction: evaluations per second, outcomes of one, and the shares that
 * tell the way out of their own block and where they were called from.
 */
#include "bench/bench.h"
#include "common/publish.h"
#include "managerd/inspect/inspect.h"
#include "managerd/samples/observe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECONDS = 2 };

static struct arena mem;
static VEC(struct wire_regs) sample;

static void must(int rc, const struct err *e)
{
	if (rc) {
		fprintf(stderr, "%s\n", e->text);
		exit(1);
	}
}

static void read_batches(const char *path, const struct build_id *id)
{
	struct wire_batch b;
	struct buf file = {0};
	enum wire_type type;
	struct err e;
	uint32_t i;
	size_t at;
	long n;

	must(file_read(path, 0, &file, &e), &e);
	for (at = 0; at < file.n; at += (size_t)n) {
		n = wire_frame(file.p + at, file.n - at, &type, &e);
		must(n < 0 || wire_get_batch(file.p + at, (size_t)n, &mem, &b, &e), &e);
		for (i = 0; i < b.nregs; i++)
			if (build_id_equal(&b.module[b.regs[i].module].id, id))
				vec_push(&sample, b.regs[i]);
	}
	buf_free(&file);
}

static void read_table(const char *path, struct uops *u)
{
	struct buf file = {0};
	struct err e;

	must(file_read(path, 0, &file, &e), &e);
	must(uops_decode(file.p, file.n, u, &e), &e);
	buf_free(&file);
}

/* Its build-id, the functions of its program, and where they lie. */
static struct build_id read_inspected(const char *path, struct map_table *t, struct map *m)
{
	struct inspect_head head = {0};
	struct buf file = {0};
	struct blockmap b;
	struct err e;

	must(file_read(path, 0, &file, &e), &e);
	if (file.n >= sizeof head)
		memcpy(&head, file.p, sizeof head);
	if (memcmp(head.magic, INSPECT_MAGIC, sizeof head.magic) || head.refused)
		must(err_set(&e, "%s: %s", path, head.refused ? head.text : "no answer"), &e);
	must(map_table_decode(file.p + head.table_at, head.table_n, t, &e), &e);
	must(blockmap_decode(file.p + head.map_at, head.map_n, &b, &e), &e);
	must(map_make(&b, t, m, &e), &e);
	blockmap_free(&b);
	buf_free(&file);
	return head.id;
}

static struct observer make_observer(
    const struct map *map, const struct map_table *t, const struct uops *u)
{
	static struct weights weights;

	weights = weights_new(u);
	return (struct observer){.map = map,
	    .table = t,
	    .uops = u,
	    .uops_func = observe_link(t, u),
	    .weights = &weights};
}

static double evaluate_all(struct observer *o)
{
	double begin = cpu_s();
	size_t i;

	for (i = 0; i < sample.n; i++)
		observe(o, &sample.v[i]);
	return cpu_s() - begin;
}

int main(int argc, char **argv)
{
	const struct observe_count *c;
	struct build_id id;
	struct map_table t;
	struct map map;
	struct observer o;
	double spent = 0, placed;
	struct uops u;

	if (argc != 4) {
		fprintf(stderr, "usage: replay TABLE INSPECTED BATCHES\n");
		return 2;
	}
	read_table(argv[1], &u);
	id = read_inspected(argv[2], &t, &map);
	read_batches(argv[3], &id);
	o = make_observer(&map, &t, &u);
	while (spent < SECONDS)
		spent += evaluate_all(&o);
	c = &o.count;
	placed = (double)c->placed;
	printf("%zu %.0f %.3f %.3f %.3f\n", sample.n, placed / spent, (double)c->outcomes / placed,
	    (double)c->own / placed, (double)c->callers / placed);
	return 0;
}
