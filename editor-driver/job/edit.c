#include "common/publish.h"
#include "common/sort.h"
#include "editor-driver/job/job.h"
#include "editor-driver/job/steps.h"
#include "editor-driver/link/build.h"
#include "editor-driver/proof/verify.h"

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

static int verify(const struct plan *p, const struct build *b, struct verified *v, struct err *e)
{
	struct verify_wanted w = {
	    .map = &p->map, .counting = p->mode == PLAN_COUNT, .linker = &b->relinker.proof};
	VEC(uint64_t) edited = {0};
	struct copies c = {0};
	size_t i;
	int rc;

	plan_copies(p, &c);
	for (i = 0; i < p->ntu; i++)
		if (p->tu[i].edited)
			vec_push(&edited, hash_short(&p->tu[i].art->hash));
	vec_sort(&edited, order_u64);
	w.copy = c.v;
	w.ncopy = c.n;
	w.edited = edited.v;
	w.nedited = edited.n;
	rc = verify_build(b->out, b->unchanged, &w, v, e);
	if (v->differs)
		name_position(p, &v->at, e);
	vec_free(&edited);
	vec_free(&c);
	return rc;
}

int job_edit(struct job *j, struct err *e)
{
	struct editanswer *r = &j->r.answer;
	struct verified v = {.differs = false};
	struct timespec clock;
	struct build b = {0};
	int rc = -1;

	lap(&clock);
	if (open_inputs(j, e) || parse_and_lay_out(j, &clock, e))
		goto out;
	if (build_open(&b, &j->plan, j->o->artifact, j->o->original, j->dir, j->cache, e) ||
	    build_objects(&b, e))
		goto out;
	r->seconds.as = lap(&clock);
	r->seconds.emit = (double)j->plan.print_ns / 1e9;
	r->seconds.check = (double)j->plan.check_ns / 1e9;
	if (build_prove(&b, e) || build_link(&b, e))
		goto out;
	r->seconds.ld = lap(&clock);
	if (verify(&j->plan, &b, &v, e))
		goto out;
	r->seconds.verify = lap(&clock);
	if (j->o->original && verify_carry(j->o->original, b.unchanged, b.out, e))
		goto out;
	if (j->o->mode == PLAN_PROFILE && score_both(j, &v.map, e))
		goto out;
	r->out = j->o->out;
	r->build_id = v.map.id;
	r->tus_assembled = (uint32_t)b.assembled;
	r->tus_cached = (uint32_t)b.cached;
	r->size.before = v.size_before;
	r->size.after = v.size_after;
	rc = build_publish(&b, j->o->out, e);
out:
	build_close(&b);
	blockmap_free(&v.map);
	return rc;
}
