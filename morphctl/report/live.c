#include "morphctl/client/client.h"
#include "morphctl/report/job.h"
#include "morphctl/report/top/top.h"

#include <unistd.h>

struct fetching {
	struct client *client;
	struct buf text;
};

/* What went wrong was said by the client already, on a screen that is not ours. */
static int fetch(void *arg, unsigned window_s, struct recording *r, struct err *e)
{
	static const struct in_options o = {.format = "addresses"};
	struct fetching *f = arg;

	f->text.n = 0;
	if (client_get_text(f->client, &f->text, "/v1/addresses?since=%u", window_s))
		return err_set(e, "the manager does not answer");
	return in_read_bytes(
	    r, "the manager's answer", (const uint8_t *)f->text.p, f->text.n, &o, e);
}

int job_top(struct job *j)
{
	enum { EVERY_S = 5 };
	struct fetching f = {.client = client_open(j->socket, &j->r.mem)};
	struct top_source source = {fetch, &f, &j->symbols, EVERY_S};
	struct err e;
	int rc;

	if (j->narg || !isatty(STDOUT_FILENO)) {
		client_close(f.client);
		return j->narg ? EXIT_USAGE
			       : job_failed("top needs a terminal; `morphctl report` does not");
	}
	j->symbols.lines = true;
	rc = top_run(&source, &e);
	client_close(f.client);
	buf_free(&f.text);
	return rc ? EXIT_FAILED : EXIT_DONE;
}
