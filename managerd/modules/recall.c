/* Profiles from samples that came before there was an artifact. */
#include "common/log.h"
#include "common/number.h"
#include "managerd/modules/module.h"
#include "managerd/store/addresses.h"

struct recall {
	struct modules *ms;
	struct module *m;
	const struct build *b;
	struct decay at;
	double weight;            /* of a sample: all weigh as much as those the row counts do */
	uint64_t mapped, outside; /* samples */
};

/* Of n samples at an offset: their block has them now, or there is none. */
static void recall_samples(struct recall *r, uint64_t offset, uint64_t n)
{
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
	pf = origin_func(o, &r->m->profile.now, (size_t)(f - o->table.func.v));
	if (!pf)
		return;
	profile_add(pf, block, (double)n * r->weight, r->at);
	r->mapped += n;
}

/* All samples of one file of the store: counted in *sum or, without one, recalled. */
static int read_file(struct recall *r, const struct address_range *range, uint64_t file,
    uint64_t *sum, struct err *e)
{
	struct address_reader *reader = store_addresses(r->ms->store, range, file, e);
	uint64_t address, n;

	while (reader && address_reader_next(reader, &address, &n))
		if (sum)
			*sum += n;
		else
			recall_samples(r, address, n);
	address_reader_free(reader);
	return reader ? 0 : -1;
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
	module_sum(r->ms, r->m);
	if (r->mapped)
		log_info("%s: %s samples that came before its artifact count", row->path,
		    number_text((double)r->mapped, text));
}

int module_recall(
    struct modules *ms, struct module *m, const struct build *b, int64_t now_ms, struct err *e)
{
	struct store_module *row = &m->row;
	struct recall r = {.ms = ms, .m = m, .b = b, .at = {now_ms, ms->conf->profile.half_life_s}};
	struct address_range range = {row->first_ms / 1000, now_ms / 1000 + 1};
	double aged = row->outside_aged * decay_since(r.at, row->outside_ms);
	struct arena a = {0};
	uint64_t *id, sum = 0;
	size_t i, n;
	int rc;

	if (!(aged > 0))
		return 0;
	rc = module_load(ms, m, e);
	if (rc == 0)
		rc = store_address_ids(ms->store, ADDRESS_FILE, &b->id, row->path, &a, &id, &n, e);
	for (i = 0; rc == 0 && i < n; i++)
		rc = read_file(&r, &range, id[i], &sum, e);
	r.weight = sum && aged < (double)sum ? aged / (double)sum : 1;
	for (i = 0; rc == 0 && i < n; i++)
		rc = read_file(&r, &range, id[i], NULL, e);
	arena_free(&a);
	if (rc)
		return -1;
	count(&r);
	module_count_bytes(ms, m);
	return module_save(ms, m, e);
}
