#include "editor-driver/job/replay.h"
#include "common/log.h"
#include "editor-driver/job/measure.h"
#include "editor/replay/replay.h"

#include <stdlib.h>

struct maker {
	struct plan *p;
	struct measured measured;
	struct uops table;
	struct replay_result *r;
};

/* ---- compiling ---- */

static int compile_tu(struct maker *m, struct plan_tu *t, const struct buf *measured)
{
	const uint32_t **size = xcalloc(t->nfunc, sizeof *size);
	struct plan_text again = {0};
	struct unit *u;
	uint32_t i, differing = 0;
	struct err e;
	int rc = -1;

	for (i = 0; i < t->nfunc; i++) {
		if (t->unit->func[i].opaque) {
			m->r->opaque++;
			continue;
		}
		size[i] = measured_sizes(m->p, t, &t->unit->func[i]);
		m->r->absent += !size[i];
	}
	u = plan_unit(m->p, t, &again, &e);
	if (u)
		rc = unit_uops(u, measured->p, measured->n, size, &m->table, &differing, &e);
	plan_text_free(&again);
	if (rc)
		log_warn("%s: %s", t->art->name, e.text);
	m->r->differing += differing;
	free(size);
	return rc;
}

static void compile(struct maker *m)
{
	size_t i;

	for (i = 0; i < m->p->ntu; i++)
		if (m->measured.refused[i] ||
		    (m->p->tu[i].edited && compile_tu(m, &m->p->tu[i], &m->measured.tu[i])))
			m->r->unmeasured++;
	uops_sort(&m->table);
}

static void sum_up(const struct uops *u, size_t bytes, struct replay_result *r)
{
	const struct uops_func *f;
	const struct uops_block *b;
	size_t i;
	uint32_t k, j;

	r->functions = u->func.n;
	r->bytes = bytes;
	r->memory = uops_size(u);
	for (i = 0; i < u->func.n; i++) {
		f = &u->func.v[i];
		r->blocks += f->nblock;
		for (k = 0; k < f->nblock; k++) {
			b = &u->block.v[f->block + k];
			r->uops += b->nuop - 1;
			for (j = 0; j < b->nuop; j++)
				r->stops += u->uop.v[b->uop + j].kind == UOP_STOP;
		}
	}
}

int replay_make(struct plan *p, const char *dir, struct cache *cache, struct buf *out,
    struct replay_result *r, struct err *e)
{
	struct maker m = {.p = p, .r = r};
	size_t before = out->n;
	int rc = measure(p, dir, cache, &m.measured, e);

	if (!rc) {
		compile(&m);
		uops_encode(&m.table, out);
		sum_up(&m.table, out->n - before, r);
	}
	measured_free(&m.measured);
	uops_free(&m.table);
	return rc;
}
