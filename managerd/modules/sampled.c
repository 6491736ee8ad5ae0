/* Samples by address, and what is lifted of programs for them. */
#include "common/artifact/artifact.h"
#include "managerd/modules/module.h"
#include "managerd/store/addresses.h"

#include <string.h>

/* ---- addresses ---- */

int module_addresses(struct modules *ms, const struct module *m, const struct build_id *build,
    int64_t now_ms, module_address_fn *each, void *arg, struct err *e)
{
	struct address_range range = {m->row.first_ms / 1000, now_ms / 1000 + 1};
	struct address_reader *reader;
	uint64_t *id, address, count;
	struct arena a = {0};
	size_t i, n;
	int rc = store_address_ids(ms->store, ADDRESS_FILE, build, m->row.path, &a, &id, &n, e);

	for (i = 0; rc == 0 && i < n; i++) {
		reader = store_addresses(ms->store, &range, id[i], e);
		while (reader && address_reader_next(reader, &address, &count))
			each(arg, address, count);
		address_reader_free(reader);
		rc = reader ? 0 : -1;
	}
	arena_free(&a);
	return rc;
}

static void put_address(void *out, uint64_t address, uint64_t n)
{
	buf_printf(out, "%llx\n", (unsigned long long)address);
}

int module_sampled(
    struct modules *ms, const struct module *m, int64_t now_ms, struct buf *out, struct err *e)
{
	return module_addresses(ms, m, &m->row.current, now_ms, put_address, out, e);
}

/* ---- functions ---- */

static bool is_unsampled(const char *opaque)
{
	return opaque && !strcmp(opaque, ART_UNSAMPLED);
}

double module_outgrown(const struct module *m, struct decay at)
{
	const struct profile *p = &m->profile.now;
	double unsampled = 0;
	size_t i;

	for (i = 0; i < p->func.n; i++)
		if (is_unsampled(p->func.v[i].opaque))
			unsampled += profile_func_samples(&p->func.v[i], at);
	return unsampled > 0 ? unsampled / profile_total(p, at).samples : 0;
}

/* Once for each piece of a function, old bodies among them. */
static void put_functions(struct module *m, const struct build *b, struct buf *out)
{
	struct origin *o = &m->builds.origin.v[b->origin];
	const struct map_func *f = NULL;
	const struct map_range *r;
	struct profile_func *p;
	uint32_t block;

	for (r = b->map.range.v; r < b->map.range.v + b->map.range.n; r++) {
		if (f && r->slot - f->slot < f->nblock)
			continue;
		f = map_slot(&o->table, r->slot, &block);
		p = origin_func(o, &m->profile.now, (size_t)(f - o->table.func.v));
		if (!is_unsampled(f->opaque) || (p && p->as_of_ms))
			buf_printf(out, "%x\n", r->start);
	}
}

int module_lifted(struct modules *ms, struct module *m, struct buf *out, struct err *e)
{
	struct build *b;
	int rc = module_load_build(ms, m, &m->row.current, &b, e);

	if (rc)
		return rc;
	if (!b)
		return err_set(e, "the block map of its build is gone");
	put_functions(m, b, out);
	return 0;
}
