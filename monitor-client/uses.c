#include "monitor-client/uses.h"
#include "common/sort.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* NULL: there is no room for another. */
static struct wire_use *use_of(struct uses *u, const struct build_id *build)
{
	uint32_t i = 0;

	while (i < u->nbuild && !build_id_equal(&u->build[i].id, build))
		i++;
	if (i == WIRE_RUN_BUILDS_MAX)
		return NULL;
	if (i == u->nbuild)
		u->build[u->nbuild++] = (struct wire_use){.id = *build};
	return &u->build[i];
}

static int by_pid(const void *pa, const void *pb)
{
	const struct use_process *a = pa, *b = pb;

	return ORDER(a->pid, b->pid);
}

static struct use_process *known(const struct uses *u, uint32_t pid)
{
	return u->process.n ? bsearch(&(struct use_process){.pid = pid}, u->process.v, u->process.n,
				  sizeof *u->process.v, by_pid)
			    : NULL;
}

/* What it used since it was last seen. A smaller number is another process's of the same id. */
static uint64_t gained(const struct uses *u, uint32_t pid, uint64_t cpu_ns)
{
	const struct use_process *p = known(u, pid);
	uint64_t most;

	if (p && p->cpu_ns <= cpu_ns)
		return cpu_ns - p->cpu_ns;
	most = u->before ? (u->round - u->before) * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) : 0;
	return cpu_ns <= most ? cpu_ns : 0;
}

void uses_begin(struct uses *u, uint64_t now)
{
	uint32_t i;

	u->before = u->round;
	u->round = now;
	for (i = 0; i < u->nbuild; i++)
		u->build[i].processes = 0;
}

void uses_process(struct uses *u, uint32_t pid, uint64_t cpu_ns, const struct cycles_gain *counted,
    const struct build_id *build, size_t n)
{
	uint64_t more = gained(u, pid, cpu_ns);
	struct wire_use *use;
	size_t i;

	for (i = 0; i < n; i++) {
		use = use_of(u, &build[i]);
		if (!use)
			continue;
		use->processes++;
		use->cpu_ns += more;
		if (counted) {
			use->instructions += counted->instructions;
			use->cycles += counted->cycles;
		}
	}
	vec_push(&u->seen, (struct use_process){pid, cpu_ns, u->round});
}

uint32_t uses_end(struct uses *u, struct wire_use *out)
{
	size_t i, n = u->seen.n;

	if (n)
		qsort(u->seen.v, n, sizeof *u->seen.v, by_pid);
	for (i = 0; i < u->process.n; i++)
		if (u->process.v[i].seen + USES_PATIENCE > u->round &&
		    !(n && bsearch(&u->process.v[i], u->seen.v, n, sizeof *u->seen.v, by_pid)))
			vec_push(&u->seen, u->process.v[i]);
	u->process.n = 0;
	for (i = 0; i < u->seen.n; i++)
		vec_push(&u->process, u->seen.v[i]);
	u->seen.n = 0;
	if (u->process.n)
		qsort(u->process.v, u->process.n, sizeof *u->process.v, by_pid);
	memcpy(out, u->build, u->nbuild * sizeof *out);
	return u->nbuild;
}

void uses_ended(struct uses *u, uint32_t pid, uint64_t cpu_ns, const struct build_id *build)
{
	const struct use_process *p = known(u, pid);
	struct wire_use *use = use_of(u, build);
	uint64_t before = p ? p->cpu_ns : 0;

	if (use && cpu_ns > before)
		use->cpu_ns += cpu_ns - before;
}

void uses_free(struct uses *u)
{
	vec_free(&u->process);
	vec_free(&u->seen);
	*u = (struct uses){0};
}
