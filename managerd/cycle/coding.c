#include "managerd/cycle/coding.h"
#include "managerd/os/pool.h"

#include <stdlib.h>
#include <string.h>

enum {
	KEPT_MS = 3000,
	AT_ONCE = 1 << 15, /* blocks of a build, without the pool */
	NAME_BYTES = 512   /* a name is a user's, and may be of kilobytes */
};

/* ---- the pool's part ---- */

struct work {
	struct coding *coding;
	struct code_order order;
	uint32_t uid;
	struct build_id id, origin;
	bool pool;
	struct code_input in;
	struct code code;
};

static void run_work(void *arg)
{
	struct work *w = arg;

	code_make(&w->in, &w->order.query, &w->code);
	code_input_free(&w->in);
}

/* ---- names ---- */

static const char *name_of(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strnlen(s, NAME_BYTES));
}

static void keep(struct coding *c, struct work *w, struct module *mod, struct origin *o)
{
	struct code_view *v = &c->view;
	const struct map_func *t;
	struct profile_func *f;
	struct decay at = modules_decay(&c->core->modules);
	uint32_t i;

	code_free(&c->code);
	arena_free(&c->mem);
	c->code = w->code;
	w->code = (struct code){0};
	code_name(&c->code, &o->table);
	*v = (struct code_view){.build = w->id, .code = &c->code, .nname = c->code.function.n};
	v->name = arena_array(&c->mem, v->nname, sizeof *v->name);
	for (i = 0; i < v->nname; i++) {
		t = &o->table.func.v[c->code.function.v[i]];
		v->name[i] = (struct code_view_name){
		    name_of(&c->mem, t->name), name_of(&c->mem, t->tu_name), t->key};
		f = c->code.block.n ? origin_func(o, &mod->profile.now, c->code.function.v[i])
				    : NULL;
		if (f)
			code_add_edges(&c->code, i, f, at);
	}
	c->last = w->order;
	c->uid = w->uid;
	c->made_ms = clock_now_ms();
}

/* Of a module that is another one by now, or was put out of memory, there is none: who waits
 * asks again. */
static void work_ready(void *arg)
{
	struct work *w = arg;
	struct coding *c = w->coding;
	struct module *mod = modules_get(&c->core->modules, w->order.module);
	struct origin *o = mod ? builds_origin(&mod->builds, &w->origin) : NULL;
	bool pool = w->pool;

	if (o && mod->row.uid == w->uid && mod->memory.loaded && o->table.nslot == w->in.nslot)
		keep(c, w, mod, o);
	c->working = false;
	code_free(&w->code);
	free(w);
	if (pool)
		coding_tell(c);
}

/* ---- the loop's part ---- */

static void add_functions(struct code_input *in, struct module *mod, struct origin *o,
    const struct code_query *q, struct decay at)
{
	struct profile *now = &mod->profile.now;
	uint32_t *heat = xcalloc(now->func.n + 1, sizeof *heat), none = 0;
	const struct map_func *t;
	struct profile_func *f;
	size_t i;

	for (i = 0; i < o->table.func.n; i++) {
		t = &o->table.func.v[i];
		f = origin_func(o, now, i);
		code_input_add(in, t, f, at, f ? &heat[f - now->func.v] : &none);
		if (q->find && hash_equal(&t->key, &q->key))
			vec_push(&in->find, (struct code_func){t->slot, t->nblock, 0});
	}
	free(heat);
}

static void start_work(
    struct coding *c, const struct code_order *o, struct module *mod, const struct build *b)
{
	struct origin *origin = &mod->builds.origin.v[b->origin];
	struct work *w = xcalloc(1, sizeof *w);

	*w = (struct work){.coding = c,
	    .order = *o,
	    .uid = mod->row.uid,
	    .id = b->id,
	    .origin = origin->id,
	    .pool = b->map.range.n > AT_ONCE};
	code_input_map(&w->in, &b->map, origin->table.nslot);
	add_functions(&w->in, mod, origin, &o->query, modules_decay(&c->core->modules));
	c->working = true;
	pool_run(w->pool ? c->core->loop : NULL, run_work, work_ready, w);
}

static bool same_order(const struct code_order *a, const struct code_order *b)
{
	const struct code_query *x = &a->query, *y = &b->query;

	return a->module == b->module && a->original == b->original && x->from == y->from &&
	       x->to == y->to && x->cells == y->cells && x->find == y->find &&
	       (!x->find || hash_equal(&x->key, &y->key));
}

static bool have(const struct coding *c, const struct code_order *o, uint32_t uid)
{
	int64_t now_ms = clock_now_ms();

	return c->last.module && same_order(&c->last, o) && c->uid == uid && now_ms >= c->made_ms &&
	       now_ms - c->made_ms < KEPT_MS;
}

int coding_get(
    struct coding *c, const struct code_order *o, const struct code_view **view, struct err *e)
{
	struct modules *ms = &c->core->modules;
	struct module *mod = modules_get(ms, o->module);
	const struct build_id *id;
	struct build *build;
	enum found found;

	*view = NULL;
	if (!mod)
		return err_set(e, "no such module");
	if (!have(c, o, mod->row.uid)) {
		if (c->working)
			return 0;
		id = o->original ? &mod->row.origin : &mod->row.current;
		found = modules_find(ms, mod->row.path, id, clock_now_ms(), &mod, &build, NULL, e);
		if (found == FOUND_ERROR)
			return -1;
		if (found == FOUND_LOADING)
			return 0;
		if (found != FOUND_MAPPED)
			return 1;
		start_work(c, o, mod, build);
		modules_trim(ms, mod);
	}
	if (c->working)
		return 0;
	if (have(c, o, mod->row.uid))
		*view = &c->view;
	return 1;
}

void coding_tell(const struct coding *c)
{
	if (c->ready)
		c->ready(c->arg, 0);
}

void coding_free(struct coding *c)
{
	code_free(&c->code);
	arena_free(&c->mem);
}
