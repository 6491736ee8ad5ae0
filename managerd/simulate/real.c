#include "managerd/simulate/real.h"
#include "common/log.h"
#include "common/profiletext/profiletext.h"
#include "common/publish.h"
#include "common/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EDIT_TIMEOUT_S = 3600 };

static char *file_of(const struct subject *s, const struct hash128 *h, const char *what)
{
	char hex[HASH_HEX];

	return xasprintf("%s/%s-%s.%s", s->folder, s->program->name, hash_hex(h, hex), what);
}

/* The file of these samples, named by their hash. */
static char *samples_file(const struct subject *s, const struct buf *samples, struct err *e)
{
	struct hash128 h = hash_bytes(samples->p, samples->n);
	char *path = file_of(s, &h, "samples");

	if (!access(path, R_OK) || !file_write(path, O_TRUNC, samples->p, samples->n, e))
		return path;
	free(path);
	return NULL;
}

static int edit(const struct subject *s, const char *const *more, struct buf *out, struct err *e)
{
	const char *argv[16] = {s->editor, "--artifact", s->program->artifact, "--json"};
	struct buf said = {0};
	struct spawn run = {.argv = argv,
	    .capture_out = out,
	    .capture_err = &said,
	    .in = -1,
	    .timeout_s = EDIT_TIMEOUT_S};
	int i, n = 4, rc;

	for (i = 0; more[i]; i++)
		argv[n++] = more[i];
	rc = spawn_run(&run, e);
	if (rc > 0)
		rc = err_set(
		    e, "%s: morph-edit: %.500s", s->program->artifact, err_line(buf_cstr(&said)));
	buf_free(&said);
	return rc;
}

struct layout *real_lay_out(struct subject *s, const struct buf *samples, struct err *e)
{
	struct hash128 h = hash_bytes(samples->p, samples->n);
	struct build_id id = {.n = sizeof h.b};
	char *path = samples_file(s, samples, e);
	struct layout *l = NULL;

	memcpy(id.b, h.b, sizeof h.b);
	if (path) {
		l = subject_layout(s, &id);
		if (l->samples)
			free(path);
		else
			l->samples = path;
	}
	return l;
}

/* With the build, whose id is the layout's; json: what the editor says. */
static struct layout *build_it(
    struct subject *s, const struct buf *samples, struct buf *json, struct err *e)
{
	struct hash128 h = hash_bytes(samples->p, samples->n);
	char *path = samples_file(s, samples, e), *build = file_of(s, &h, "build");
	struct layout *l = NULL;
	struct editanswer a;

	if (path && !edit(s, (const char *[]){"--samples", path, "-o", build, NULL}, json, e) &&
	    !editanswer_read(json->p, json->n,
		EDITANSWER_LAYOUT | EDITANSWER_SCORES | EDITANSWER_BUILD, &a, e)) {
		l = subject_layout(s, &a.build_id);
		if (!l->build) {
			l->samples = path;
			l->build = build;
			return l;
		}
	}
	free(path);
	free(build);
	return l;
}

int real_ask(struct subject *s, const struct layout *present, const struct buf *samples,
    struct layout **build, struct buf *json, struct err *e)
{
	const char *more[] = {"--score", "--interval", "--samples", NULL, NULL, NULL, NULL};
	char *path;
	int rc;

	if (build) {
		*build = build_it(s, samples, json, e);
		return *build ? 0 : -1;
	}
	path = samples_file(s, samples, e);
	if (!path)
		return -1;
	more[3] = path;
	if (present->build) {
		more[4] = "--layout";
		more[5] = present->build;
	}
	rc = edit(s, more, json, e);
	free(path);
	return rc;
}

/* ---- in truth ---- */

void real_whole(struct subject *s)
{
	const struct trace_event *ev;
	struct profile p;
	struct buf text = {0};
	struct decay never = {s->trace->start_ms, 1e18};
	struct err e;
	size_t i, k;

	subject_profile(s, &p);
	for (i = 0; i < s->trace->event.n; i++) {
		ev = &s->trace->event.v[i];
		if (ev->kind != TRACE_SAMPLES || &s->trace->program.v[ev->program] != s->program)
			continue;
		for (k = 0; k < ev->ncount; k++)
			profile_add(&p.func.v[ev->count[k].func], ev->count[k].block,
			    (double)ev->count[k].n, never);
	}
	profile_print(&p, 1, never, &text);
	s->whole = samples_file(s, &text, &e);
	if (!s->whole)
		die(1, "%s", e.text);
	buf_free(&text);
	profile_free(&p);
}

static double gain_of(struct subject *s, const char *samples)
{
	char *a = xasprintf("samples:%s", samples), *b = xasprintf("samples:%s", s->whole);
	struct buf out = {0};
	double gain = 0, before, after;
	struct err e;
	json_t *j = NULL;

	if (edit(s, (const char *[]){"--compare", a, b, NULL}, &out, &e))
		log_warn("%s", e.text);
	else
		j = json_loadb(out.p, out.n, 0, NULL);
	if (j &&
	    !json_unpack(j, "{s:{s:{s:{s:F}}, s:{s:{s:F}}}}", "layouts", "a", "cost", "cycles",
		&after, "original", "cost", "cycles", &before) &&
	    before > 0)
		gain = 1 - after / before;
	json_decref(j);
	buf_free(&out);
	free(a);
	free(b);
	return gain;
}

double real_gain(struct subject *s, const struct layout *l)
{
	return gain_of(s, l->samples);
}

double real_best(struct subject *s)
{
	if (isnan(s->best))
		s->best = gain_of(s, s->whole);
	return s->best;
}
