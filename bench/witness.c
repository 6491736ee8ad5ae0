/*
 * How many samples with registers a second of one core evaluates: those that a
 * program's training gave (bench/registers.py), through the manager's own
 * code, from a sample's registers to directions and callers.
 *	witness TABLE MODULE BATCHES
 * bench/witness builds and runs it. Prints samples, and of those at a known
 * instruction: evaluations per second, directions of one, and the shares that
 * tell the way out of their own block and where they were called from.
 */
#include "bench/bench.h"
#include "common/publish.h"
#include "managerd/discover.h"
#include "managerd/observe.h"

#include <stdio.h>
#include <stdlib.h>

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

static struct observer make_observer(const struct discovery *d, const struct uops *u)
{
	static struct map map;
	static struct worth worth;
	struct err e;

	must(map_make(&d->map, &d->table, &map, &e), &e);
	worth = worth_new(u);
	return (struct observer){.map = &map,
	    .table = &d->table,
	    .uops = u,
	    .uops_func = observe_link(&d->table, u),
	    .worth = &worth};
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
	struct discovery d;
	struct observer o;
	double spent = 0, placed;
	struct uops u;
	struct err e;

	if (argc != 4) {
		fprintf(stderr, "usage: witness TABLE MODULE BATCHES\n");
		return 2;
	}
	read_table(argv[1], &u);
	must(discover_file(argv[2], &d, &e) || discover_artifact(argv[2], &d, &e), &e);
	read_batches(argv[3], &d.id);
	o = make_observer(&d, &u);
	while (spent < SECONDS)
		spent += evaluate_all(&o);
	c = &o.count;
	placed = (double)c->placed;
	printf("%zu %.0f %.3f %.3f %.3f\n", sample.n, placed / spent, (double)c->witnesses / placed,
	    (double)c->own / placed, (double)c->callers / placed);
	return 0;
}
