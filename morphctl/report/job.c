#include "morphctl/report/job.h"
#include "morphctl/report/confined/confined.h"

#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int job_failed(const char *text)
{
	return complain(EXIT_FAILED, "%s", text);
}

int job_read(struct job *j, const char *path)
{
	struct passwd *p;
	struct stat st;
	struct err e;

	if (!geteuid() && !stat(path, &st) && st.st_uid) {
		p = getpwuid(st.st_uid);
		if (confined_become(st.st_uid, p ? p->pw_gid : st.st_gid, &e))
			return job_failed(e.text);
	}
	return in_read(&j->r, path, &j->in, &e) ? job_failed(e.text) : EXIT_DONE;
}

int job_choose_event(struct job *j)
{
	uint32_t i;

	j->query.event = breakdown_event(&j->r);
	if (j->query.event == RECORDING_NONE)
		return job_failed("there are no samples");
	for (i = 0; j->event && i < j->r.event.n; i++) {
		if (strcmp(j->event, j->r.event.v[i].name) == 0) {
			j->query.event = i;
			return EXIT_DONE;
		}
	}
	if (!j->event)
		return EXIT_DONE;
	return complain(EXIT_FAILED, "--event %s: there is none of this name", j->event);
}
