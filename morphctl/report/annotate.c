#include "morphctl/report/job.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Its part that GCC moved away for being cold, too. */
static bool is_called(const struct recording_function *f, const char *name)
{
	size_t n = strlen(name);

	return strcmp(f->name, name) == 0 || strcmp(f->linkage, name) == 0 ||
	       (strncmp(f->linkage, name, n) == 0 && strcmp(f->linkage + n, ".cold") == 0);
}

/* Of the files of that name, which may be several builds, the one with most samples; equal ones:
 * the first. */
static uint32_t choose_file(const struct job *j, const char *module)
{
	const struct recording *r = &j->r;
	uint64_t *n = xcalloc(r->file.n + 1, sizeof *n);
	uint32_t best = RECORDING_NONE, file;
	const struct recording_sample *s;

	for (s = r->sample.v; s < r->sample.v + r->sample.n; s++) {
		if (s->event != j->query.event || s->stack == RECORDING_NONE)
			continue;
		file = r->location.v[r->stack.v[s->stack].location].file;
		n[file] += s->n;
	}
	for (file = 0; file < r->file.n; file++)
		if (n[file] && breakdown_is_module(&r->file.v[file], module) &&
		    (best == RECORDING_NONE || n[file] > n[best]))
			best = file;
	free(n);
	return best;
}

static int disassemble(struct job *j, uint32_t function, struct show_part *part)
{
	const struct recording_function *f = &j->r.function.v[function];
	struct symbols_insn *insn;
	struct err e;

	*part = (struct show_part){.function = function};
	if (symbols_disassemble(&j->r.file.v[f->file], f->start, f->start + f->size, &j->symbols,
		&j->r.mem, &insn, &part->n, &e))
		return job_failed(e.text);
	part->line = arena_array(&j->r.mem, part->n, sizeof *part->line);
	annotate_make(part->line, insn, part->n, &j->r, j->query.event, f->file);
	return EXIT_DONE;
}

int job_annotate(struct job *j)
{
	enum { PARTS = 16 };
	struct show_part part[PARTS];
	const struct recording_function *f;
	uint32_t file, i;
	size_t n = 0;
	int rc;

	if (j->narg != 3)
		return EXIT_USAGE;
	rc = job_read(j, j->arg[0]) ?: job_choose_event(j);
	if (rc)
		return rc;
	file = choose_file(j, j->arg[1]);
	if (file == RECORDING_NONE)
		return job_failed(
		    arena_printf(&j->r.mem, "no samples are of a module %s", j->arg[1]));
	j->symbols.lines = true;
	symbols_resolve(&j->r, &j->symbols);
	for (i = 0; i < j->r.function.n && n < PARTS; i++) {
		f = &j->r.function.v[i];
		if (f->file != file || f->start == UINT64_MAX || !f->size ||
		    !is_called(f, j->arg[2]))
			continue;
		rc = disassemble(j, i, &part[n++]);
		if (rc)
			return rc;
	}
	if (!n)
		return job_failed(arena_printf(
		    &j->r.mem, "no samples are of a function %s in %s", j->arg[2], j->arg[1]));
	j->show.whole = !isatty(STDOUT_FILENO);
	show_annotated(stdout, &j->r, j->query.event, part, n, &j->show);
	return EXIT_DONE;
}
