#include "common/publish.h"
#include "morphctl/report/job.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_of(const struct recording *r, uint32_t location, const char *module)
{
	return location != RECORDING_NONE &&
	       breakdown_is_module(&r->file.v[r->location.v[location].file], module);
}

static bool passes(const struct recording *r, uint32_t stack, const char *module)
{
	for (; stack != RECORDING_NONE; stack = r->stack.v[stack].caller)
		if (is_of(r, r->stack.v[stack].location, module))
			return true;
	return false;
}

/* Samples whose stacks have code of a module, branches from there or to there, and its ranges. */
static void keep_module(struct recording *r, const char *module)
{
	size_t i, n;

	for (i = n = 0; i < r->sample.n; i++)
		if (passes(r, r->sample.v[i].stack, module))
			r->sample.v[n++] = r->sample.v[i];
	r->sample.n = n;
	for (i = n = 0; i < r->branch.n; i++)
		if (is_of(r, r->branch.v[i].from, module) || is_of(r, r->branch.v[i].to, module))
			r->branch.v[n++] = r->branch.v[i];
	r->branch.n = n;
	for (i = n = 0; i < r->range.n; i++)
		if (is_of(r, r->range.v[i].from, module))
			r->range.v[n++] = r->range.v[i];
	r->range.n = n;
}

/* All that is wanted, written to a descriptor. */
static int convert(struct job *j, int fd)
{
	struct buf out = {0};
	struct err e;
	int rc = job_read(j, j->arg[1]);

	if (rc)
		return rc;
	if (j->narg > 2)
		keep_module(&j->r, j->arg[2]);
	j->symbols.lines = true;
	if (out_needs_symbols(j->arg[0])) {
		symbols_resolve(&j->r, &j->symbols);
		out_prepare(&j->r, j->arg[0], &j->out);
		symbols_resolve(&j->r, &j->symbols);
	}
	rc = out_write(&j->r, j->arg[0], &j->out, &out, &e);
	if (rc == 0 && file_write_all(fd, out.p, out.n))
		rc = err_sys(&e, "%s", j->output ? j->output : "standard output");
	buf_free(&out);
	return rc ? job_failed(e.text) : EXIT_DONE;
}

/* Reading may have to become somebody else: a process of its own does it. */
int job_export(struct job *j)
{
	struct publish p = {.fd = STDOUT_FILENO};
	int status = 0, rc;
	struct err e;
	pid_t pid;

	if (j->narg != 2 && j->narg != 3)
		return EXIT_USAGE;
	if (j->output && publish_open(&p, j->output, 0666, &e))
		return job_failed(e.text);
	pid = fork();
	if (!pid)
		_exit(convert(j, p.fd));
	rc = pid < 0 || waitpid(pid, &status, 0) < 0 ? EXIT_FAILED : EXIT_DONE;
	if (rc == EXIT_DONE && status)
		rc = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
	if (!j->output)
		return rc;
	if (rc)
		publish_abort(&p);
	else if (publish_commit(&p, &e))
		return job_failed(e.text);
	return rc;
}
