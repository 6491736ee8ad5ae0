#include "common/publish.h"
#include "common/sort.h"
#include "editor-driver/job/job.h"
#include "editor-driver/job/steps.h"
#include "editor-driver/link/build.h"
#include "editor-driver/proof/verify.h"

#include <stdlib.h>
#include <string.h>

/* Prefixes the error with the names of unit and function. */
static void name_position(const struct plan *p, const struct bytes_position *at, struct err *e)
{
	const struct plan_tu *t = p->tu, *end = p->tu + p->ntu;

	while (t < end && hash_short(&t->art->hash) != at->tu)
		t++;
	if (at->known && t < end && at->func < t->nfunc)
		err_wrap(e, "%s, function %s", t->art->name, t->func[at->func].name);
	err_wrap(e, "the new build is not the original with its code moved");
}

/* What the new build has to be. Free with wanted_free. */
static struct verify_wanted wanted(const struct plan *p)
{
	struct verify_wanted w = {.map = &p->map, .counting = p->mode == PLAN_COUNT};
	VEC(uint64_t) edited = {0};
	struct copies c = {0};
	size_t i;

	plan_copies(p, &c);
	for (i = 0; i < p->ntu; i++)
		if (p->tu[i].edited)
			vec_push(&edited, hash_short(&p->tu[i].art->hash));
	vec_sort(&edited, order_u64);
	w.copy = c.v;
	w.ncopy = c.n;
	w.edited = edited.v;
	w.nedited = edited.n;
	return w;
}

static void wanted_free(struct verify_wanted *w)
{
	free(w->copy);
	free((void *)w->edited);
}

static int verify(const struct plan *p, const struct build *b, struct verified *v, struct err *e)
{
	struct verify_wanted w = wanted(p);
	int rc;

	w.linker = &b->relinker.proof;
	rc = verify_build(b->out, b->unchanged, &w, v, e);
	if (v->differs)
		name_position(p, &v->at, e);
	wanted_free(&w);
	return rc;
}

/* Links the program again. */
static int make_linked(struct job *j, struct timespec *clock, struct verified *v, struct err *e)
{
	struct editanswer *r = &j->r.answer;
	struct build b = {0};
	int rc = -1;

	if (build_open(&b, &j->plan, j->o->artifact, j->o->original, j->dir, j->cache, e) ||
	    build_objects(&b, e))
		goto out;
	r->seconds.as = lap(clock);
	r->tus_assembled = (uint32_t)b.assembled;
	r->tus_cached = (uint32_t)b.cached;
	if (build_prove(&b, e) || build_link(&b, e))
		goto out;
	r->seconds.ld = lap(clock);
	if (verify(&j->plan, &b, v, e))
		goto out;
	r->seconds.verify = lap(clock);
	rc = j->o->original ? verify_carry(j->o->original, b.unchanged, b.out, e) : 0;
out:
	build_close(&b);
	return rc;
}

/* What was made in the job's folder. */
static int publish(struct job *j, struct err *e)
{
	char *path = xasprintf("%s/" BUILD_OUT, j->dir);
	struct buf bytes = {0};
	int rc = file_read(path, 0, &bytes, e);

	if (!rc)
		rc = publish_bytes(j->o->out, bytes.p, bytes.n, 0755, e);
	buf_free(&bytes);
	free(path);
	return rc;
}

int job_edit(struct job *j, struct err *e)
{
	struct editanswer *r = &j->r.answer;
	struct verified v = {.differs = false};
	struct timespec clock;
	int rc = -1;

	lap(&clock);
	if (open_inputs(j, e) || parse_and_lay_out(j, &clock, e) || make_linked(j, &clock, &v, e))
		goto out;
	if (j->o->mode == PLAN_PROFILE && score_both(j, &v.map, e))
		goto out;
	r->seconds.emit = (double)j->plan.print_ns / 1e9;
	r->seconds.check = (double)j->plan.check_ns / 1e9;
	r->out = j->o->out;
	r->build_id = v.map.id;
	r->size.before = v.size_before;
	r->size.after = v.size_after;
	rc = publish(j, e);
out:
	blockmap_free(&v.map);
	return rc;
}
