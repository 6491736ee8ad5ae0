#include "common/log.h"
#include "common/publish.h"
#include "editor-driver/jobdir.h"
#include "editor-driver/options.h"
#include "editor-driver/report.h"
#include "editor-driver/sandbox.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* The place of the result: a file or nothing, and not the artifact. */
static int check_out(const struct options *o, char *dir, struct err *e)
{
	struct stat out, art;

	if (stat(dir, &out) || !S_ISDIR(out.st_mode))
		return err_set(e, "%s: no such folder", dir);
	if (stat(o->out, &out))
		return 0;
	if (!S_ISREG(out.st_mode))
		return err_set(e, "%s: not a regular file", o->out);
	if (!stat(o->artifact, &art) && art.st_dev == out.st_dev && art.st_ino == out.st_ino)
		return err_set(e, "%s: is the artifact", o->out);
	return 0;
}

/* The jobs that write a file. */
static int make(struct job *j, struct err *e)
{
	char *out_dir = path_dir(j->o->out);
	struct jobdir dir = {.lock = -1};
	struct cache cache = {0};
	int rc = -1;

	if (check_out(j->o, out_dir, e) || jobdir_open(&dir, j->o->keep, e))
		goto out;
	jobdir_sweep_output(j->o->out);
	cache_open(&cache, j->o->cache);
	j->dir = dir.path;
	j->cache = &cache;
	rc = sandbox_enter((const char *[]){dir.path, out_dir, cache.dir}, 3, dir.parent, e);
	if (!rc)
		rc = j->o->witness ? job_witness(j, e) : job_edit(j, e);
	cache_prune(&cache, CACHE_LIMIT);
out:
	cache_close(&cache);
	jobdir_close(&dir);
	free(out_dir);
	return rc;
}

static int look(struct job *j, struct err *e)
{
	if (sandbox_enter(NULL, 0, NULL, e))
		return -1;
	return j->o->score ? job_score(j, e) : j->o->compare ? job_compare(j, e) : job_report(j, e);
}

static int read_counts(struct job *j, struct err *e)
{
	char *out_dir = path_dir(j->o->out);
	struct buf profile = {0};
	int rc = -1;

	if (!check_out(j->o, out_dir, e) && !sandbox_enter((const char *[]){out_dir}, 1, NULL, e) &&
	    !job_read(j, &profile, e))
		rc = publish_bytes(j->o->out, profile.p, profile.n, 0644, e);
	buf_free(&profile);
	free(out_dir);
	return rc;
}

static int print_result(const struct job *j, struct err *e)
{
	int rc = j->o->score     ? report_score(j, j->o->json)
		 : j->o->report  ? report_artifact(j, j->o->json)
		 : j->o->witness ? report_witness(j, j->o->json)
		 : j->o->raw     ? report_read(j, j->o->json)
		 : j->o->compare ? report_compare(&j->comparison, j->o->top, j->o->json)
				 : report_edit(j, j->o->json);

	return rc ? err_sys(e, "standard output") : 0;
}

/* Whether the same might work another time: the machine was short of something. */
static bool is_passing(const struct err *e)
{
	static const int wants[] = {ENOSPC, EDQUOT, ENOMEM, EAGAIN, EMFILE, ENFILE};
	size_t i;

	for (i = 0; i < sizeof wants / sizeof *wants; i++)
		if (strstr(e->text, strerror(wants[i])))
			return true;
	return strstr(e->text, "stopped by signal 9"); /* out of memory, most likely */
}

int main(int argc, char **argv)
{
	struct options o;
	struct err e = {{0}};
	struct job j = {.o = &o};
	int rc;

	log_init("morph-edit", LOG_LVL_INFO);
	options_parse(&o, argc, argv);
	rc = sandbox_may_edit(o.artifact, &e);
	if (!rc)
		rc = o.raw ? read_counts(&j, &e) : o.out ? make(&j, &e) : look(&j, &e);
	if (!rc)
		rc = print_result(&j, &e);
	job_free(&j);
	if (!rc)
		return 0;
	log_error("%s", e.text);
	report_failure(e.text, o.json);
	return is_passing(&e) ? EXIT_LATER : EXIT_CANNOT;
}
