#include "editor-driver/job/shapes.h"
#include "common/publish.h"
#include "editor-driver/os/parallel.h"

#include <stdlib.h>

struct maker {
	struct plan *p;
	struct buf *made; /* by unit */
};

static int make_unit(void *arg, size_t i, struct err *e)
{
	struct maker *m = arg;
	struct plan_text x = {0};
	int rc = plan_read(m->p, &m->p->tu[i], &x, e);

	if (!rc)
		shapes_add(x.unit, m->p->tu[i].art->name, &m->made[i]);
	plan_text_free(&x);
	return rc;
}

int shapes_make(struct plan *p, struct buf *out, struct err *e)
{
	struct maker m = {p, xcalloc(p->ntu, sizeof *m.made)};
	int rc = parallel_for(p->jobs, p->ntu, make_unit, &m, e);
	size_t i;

	shapes_begin(out);
	for (i = 0; i < p->ntu; i++) {
		buf_add(out, m.made[i].p, m.made[i].n);
		buf_free(&m.made[i]);
	}
	free(m.made);
	return rc;
}

static int read_shapes(const char *path, struct shapes *s, struct err *e)
{
	struct buf bytes = {0};
	int rc = file_read(path, 0, &bytes, e);

	if (!rc)
		rc = shapes_decode(bytes.p, bytes.n, s, e) ? err_wrap(e, "%s", path) : 0;
	buf_free(&bytes);
	return rc;
}

static int make_shapes(struct plan *p, struct shapes *s, struct err *e)
{
	struct buf bytes = {0};
	int rc = shapes_make(p, &bytes, e);

	if (!rc)
		rc = shapes_decode(bytes.p, bytes.n, s, e);
	buf_free(&bytes);
	return rc;
}

int shapes_carry(struct plan *p, const char *shapes, const char *samples,
    struct carried by[SHAPE_RENAMED + 1], struct buf *out, struct err *e)
{
	struct shapes old = {0}, now = {0};
	struct counts c = {0};
	struct arena mem = {0};
	int rc = read_shapes(shapes, &old, e);

	if (!rc)
		rc = counts_read(
		    samples, COUNTS_SAMPLES, carry_funcs(&old, &mem), old.func.n, &c, e);
	if (!rc)
		rc = make_shapes(p, &now, e);
	if (!rc)
		carry(&old, &now, &c, by, out);
	counts_free(&c);
	arena_free(&mem);
	shapes_free(&old);
	shapes_free(&now);
	return rc;
}
