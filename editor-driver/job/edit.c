#include "common/log.h"
#include "common/publish.h"
#include "common/sort.h"
#include "editor-driver/append/append.h"
#include "editor-driver/job/job.h"
#include "editor-driver/job/steps.h"
#include "editor-driver/link/build.h"
#include "editor-driver/proof/appended.h"
#include "editor-driver/proof/verify.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct plan_tu *unit_at(const struct plan *p, uint64_t tu)
{
	struct plan_tu *t = p->tu, *end = p->tu + p->ntu;

	while (t < end && hash_short(&t->art->hash) != tu)
		t++;
	return t < end ? t : NULL;
}

/* Prefixes the error with the names of unit and function. */
static void name_position(const struct plan *p, const struct bytes_position *at, struct err *e)
{
	const struct plan_tu *t = unit_at(p, at->tu);

	if (at->known && t && at->func < t->nfunc)
		err_wrap(e, "%s, function %s", t->art->name, t->func[at->func].name);
	err_wrap(e, "the new build is not the original with its code moved");
}

/* What the new build has to be; linker NULL: code is added, and units are functions. Free with
 * wanted_free. */
static struct verify_wanted wanted(const struct plan *p, const struct verify_linker *linker)
{
	struct verify_wanted w = {
	    .map = &p->map, .counting = p->mode == PLAN_COUNT, .linker = linker};
	VEC(uint64_t) edited = {0};
	struct copies c = {0};
	size_t i;

	plan_copies(p, &c);
	for (i = 0; i < p->ntu; i++)
		if (p->tu[i].edited && (linker || p->tu[i].placement->edit))
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

static int verify(const struct plan *p, const char *made, const char *original,
    const struct verify_linker *linker, struct verified *v, struct err *e)
{
	struct verify_wanted w = wanted(p, linker);
	int rc;

	rc = linker ? verify_build(made, original, &w, v, e)
		    : appended_verify(made, original, &w, v, e);
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
	if (verify(&j->plan, b.out, b.unchanged, &b.relinker.proof, v, e))
		goto out;
	r->seconds.verify = lap(clock);
	rc = j->o->original ? verify_carry(j->o->original, b.unchanged, b.out, e) : 0;
out:
	build_close(&b);
	return rc;
}

/* Nothing moves: the file as it is. */
static int verify_same(const char *made, const char *original, struct verified *v, struct err *e)
{
	struct buf is = {0}, was = {0};
	int rc = file_read(made, 0, &is, e) || file_read(original, 0, &was, e) ? -1 : 0;

	if (!rc && (is.n != was.n || memcmp(is.p, was.p, is.n)))
		rc = err_set(e, "nothing moved, and the new build is not %s", original);
	v->size_before = v->size_after = was.n;
	buf_free(&is);
	buf_free(&was);
	return rc;
}

/* Once, in folder dir (absent, made). */
static int try_code(struct job *j, const char *original, const char *dir, const char *out,
    struct timespec *clock, struct verified *v, struct err *e)
{
	struct editanswer *r = &j->r.answer;
	struct append_figures figures = {0};
	int rc = dir_make(dir, 0700, e);

	if (!rc)
		rc = append_make(&j->plan, original, dir, j->cache, out, &figures, e);
	r->seconds.ld += lap(clock);
	r->tus_assembled = (uint32_t)figures.assembled;
	if (!rc)
		rc = figures.assembled ? verify(&j->plan, out, original, NULL, v, e)
				       : verify_same(out, original, v, e);
	r->seconds.verify += lap(clock);
	return rc;
}

/* The function in which new code could not be proven stays where it is; false: it is not known. */
static bool leave(struct job *j, const struct bytes_position *at, const struct err *why)
{
	struct plan_tu *t = unit_at(&j->plan, at->tu);

	if (!at->known || !t || !t->edited || !t->placement->edit)
		return false;
	log_warn("%s stays where it is: %s", t->func->name, why->text);
	t->placement->edit = false;
	j->r.answer.edited--;
	return true;
}

static int add_code(
    struct job *j, const char *original, struct timespec *clock, struct verified *v, struct err *e)
{
	enum { TRIES = 16 };
	char *out = xasprintf("%s/" BUILD_OUT, j->dir), *dir;
	unsigned i;
	int rc;

	for (i = 0;; i++) {
		dir = xasprintf("%s/added-%u", j->dir, i);
		rc = try_code(j, original, dir, out, clock, v, e);
		free(dir);
		if (!rc || !v->differs || i + 1 == TRIES || !leave(j, &v->at, e))
			break;
		blockmap_free(&v->map);
		unlink(out);
	}
	if (!rc) /* moved functions run in their new bodies */
		append_forget_old(&j->plan.map, &v->map);
	free(out);
	return rc;
}

/* Adds the code to the file of a program that was lifted. */
static int make_added(struct job *j, struct timespec *clock, struct verified *v, struct err *e)
{
	char *original = j->o->original ? xstrdup(j->o->original) : build_module(j->o->artifact);
	int rc;

	if (!original)
		rc = err_set(e,
		    "%s: of a program that was not built through the hooks: --original "
		    "says where that is",
		    j->o->artifact);
	else
		rc = add_code(j, original, clock, v, e);
	free(original);
	return rc;
}

/* What was made in the job's folder. */
static int read_made(const struct job *j, struct buf *out, struct err *e)
{
	char *path = xasprintf("%s/" BUILD_OUT, j->dir);
	int rc = file_read(path, 0, out, e);

	free(path);
	return rc;
}

int job_edit(struct job *j, struct err *e)
{
	struct editanswer *r = &j->r.answer;
	struct verified v = {.differs = false};
	struct built_code made = {.map = NULL};
	struct timespec clock;
	bool moved;
	int rc = -1;

	lap(&clock);
	if (open_inputs(j, e) || parse_and_lay_out(j, &clock, e))
		goto out;
	if (artifact_lifted(j->art) ? make_added(j, &clock, &v, e) : make_linked(j, &clock, &v, e))
		goto out;
	moved = v.map.frag.n > 0;
	made.map = moved ? &v.map : &j->plan.map;
	if (read_made(j, &made.file, e) || (j->o->mode == PLAN_PROFILE && score_both(j, &made, e)))
		goto out;
	r->seconds.emit = (double)j->plan.print_ns / 1e9;
	r->seconds.check = (double)j->plan.check_ns / 1e9;
	r->out = j->o->out;
	r->build_id = moved ? v.map.id : r->origin;
	r->size.before = v.size_before;
	r->size.after = v.size_after;
	rc = publish_bytes(j->o->out, made.file.p, made.file.n, 0755, e);
out:
	buf_free(&made.file);
	blockmap_free(&v.map);
	return rc;
}
