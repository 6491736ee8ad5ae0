/* Profiles from samples that came before there was an artifact. */
#include "common/log.h"
#include "common/number.h"
#include "managerd/modules/module.h"

struct recall {
	struct modules *ms;
	struct module *m;
	const struct build *b;
	struct decay at;
	bool *known; /* by function of the profile: it has samples already; NULL = none has */
	double
	    weight; /* of a sample: all weigh as much as those the row counts do; 0 = to be found */
	uint64_t mapped, outside; /* samples */
};

/* Of n samples at an offset: their block has them now, or there is none. */
static void recall_samples(void *arg, uint64_t offset, uint64_t n)
{
	struct recall *r = arg;
	struct profile *now = &r->m->profile.now;
	struct origin *o = &r->m->builds.origin.v[r->b->origin];
	const struct map_range *at = map_at(&r->b->map, offset);
	const struct map_func *f;
	struct profile_func *pf;
	uint32_t block;

	if (!at) {
		r->outside += n;
		return;
	}
	f = map_slot(&o->table, at->slot, &block);
	pf = origin_func(o, now, (size_t)(f - o->table.func.v));
	if (!pf || (r->known && r->known[pf - now->func.v]))
		return;
	if (r->weight > 0)
		profile_add(pf, block, (double)n * r->weight, r->at);
	r->mapped += n;
}

/* also: another build with the same code in the same places, or NULL. */
static int read_all(struct recall *r, const struct build_id *also, struct err *e)
{
	int64_t now_ms = r->at.now_ms;

	r->mapped = r->outside = 0;
	if (module_addresses(r->ms, r->m, &r->b->id, now_ms, recall_samples, r, e))
		return -1;
	return also ? module_addresses(r->ms, r->m, also, now_ms, recall_samples, r, e) : 0;
}

/* The samples there are, which count as `all` samples of now. */
static int recall(struct recall *r, double all, const struct build_id *also, struct err *e)
{
	uint64_t n;

	if (read_all(r, also, e))
		return -1;
	n = r->mapped + (r->known ? 0 : r->outside);
	r->weight = n && all < (double)n ? all / (double)n : 1;
	return read_all(r, also, e);
}

/* They were outside. Those whose address the store gave up are so still, and weigh nothing. */
static void count(struct recall *r)
{
	struct store_module *row = &r->m->row;
	uint64_t mapped = r->mapped < row->outside ? r->mapped : row->outside;
	char text[NUMBER_TEXT];

	row->mapped += mapped;
	row->outside -= mapped;
	row->outside_aged = (double)r->outside * r->weight;
	row->outside_ms = r->at.now_ms;
	if (r->mapped)
		log_info("%s: %s samples that came before its artifact count", row->path,
		    number_text((double)r->mapped, text));
}

static struct recall begin(
    struct modules *ms, struct module *m, const struct build *b, int64_t now_ms)
{
	return (struct recall){
	    .ms = ms, .m = m, .b = b, .at = {now_ms, ms->conf->profile.half_life_s}};
}

static int end(struct recall *r, struct err *e)
{
	module_sum(r->ms, r->m);
	module_count_bytes(r->ms, r->m);
	return module_save(r->ms, r->m, e);
}

int module_recall(
    struct modules *ms, struct module *m, const struct build *b, int64_t now_ms, struct err *e)
{
	struct recall r = begin(ms, m, b, now_ms);
	double aged = m->row.outside_aged * decay_since(r.at, m->row.outside_ms);

	if (!(aged > 0))
		return 0;
	if (module_load(ms, m, e) || recall(&r, aged, NULL, e))
		return -1;
	count(&r);
	return end(&r, e);
}

int module_recall_lost(struct modules *ms, struct module *m, const struct build *b, double lost,
    int64_t now_ms, struct err *e)
{
	struct recall r = begin(ms, m, b, now_ms);
	bool other = !build_id_equal(&b->id, &m->row.origin);
	size_t i;
	int rc;

	if (!(lost > 0))
		return 0;
	if (module_load(ms, m, e))
		return -1;
	r.known = xcalloc(m->profile.now.func.n, sizeof *r.known);
	for (i = 0; i < m->profile.now.func.n; i++)
		r.known[i] = m->profile.now.func.v[i].as_of_ms != 0;
	/* The old code is where it was: the map is right for the original's samples, too. */
	rc = recall(&r, lost, other ? &m->row.origin : NULL, e);
	free(r.known);
	return rc ? -1 : end(&r, e);
}
