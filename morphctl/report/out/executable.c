#include "morphctl/report/out/executable.h"

#include <string.h>

static void weigh(uint64_t *weight, const struct recording *r, uint32_t location, uint64_t n)
{
	if (location != RECORDING_NONE && r->location.v[location].file != RECORDING_NONE)
		weight[r->location.v[location].file] += n;
}

static uint64_t *file_weights(const struct recording *r)
{
	uint64_t *weight = xcalloc(r->file.n, sizeof *weight);
	size_t i;

	for (i = 0; i < r->sample.n; i++)
		if (r->sample.v[i].stack != RECORDING_NONE)
			weigh(
			    weight, r, r->stack.v[r->sample.v[i].stack].location, r->sample.v[i].n);
	for (i = 0; i < r->branch.n; i++)
		weigh(weight, r, r->branch.v[i].from, r->branch.v[i].n);
	for (i = 0; i < r->range.n; i++)
		weigh(weight, r, r->range.v[i].from, r->range.v[i].n);
	return weight;
}

static bool is_named(
    const struct recording_file *f, const struct build_id *id, const struct out_options *o)
{
	if (f->kind != RECORDING_ELF && f->kind != RECORDING_NAMED)
		return false;
	if (!o->module)
		return true;
	return f->id.n && id->n ? build_id_equal(&f->id, id) : strcmp(f->path, o->module) == 0;
}

static uint32_t heaviest(
    const struct recording *r, const struct build_id *id, const struct out_options *o)
{
	uint64_t *weight = file_weights(r), most = 0;
	uint32_t best = RECORDING_NONE, i;

	for (i = 0; i < r->file.n; i++) {
		if (is_named(&r->file.v[i], id, o) && weight[i] > most) {
			best = i;
			most = weight[i];
		}
	}
	free(weight);
	return best;
}

int executable_find(
    struct executable *m, const struct recording *r, const struct out_options *o, struct err *e)
{
	*m = (struct executable){0};
	m->read = o->module && !image_read(&m->image, o->module, false, NULL);
	m->file = heaviest(r, &m->image.id, o);
	if (m->file != RECORDING_NONE) {
		m->path = o->module ? o->module : r->file.v[m->file].path;
		return 0;
	}
	executable_close(m);
	if (o->module)
		return err_set(e, "%s: the profile has no samples of this build", o->module);
	return err_set(e, "the profile has no samples of an executable");
}

int executable_open(
    struct executable *m, const struct recording *r, const struct out_options *o, struct err *e)
{
	const struct build_id *id = &m->image.id;

	if (executable_find(m, r, o, e) || (!m->read && image_read(&m->image, m->path, false, e)))
		return -1;
	m->read = true;
	if (!id->n || !r->file.v[m->file].id.n || build_id_equal(id, &r->file.v[m->file].id))
		return 0;
	err_set(e, "%s: another build than that of the profile", m->path);
	executable_close(m);
	return -1;
}

void executable_close(struct executable *m)
{
	image_free(&m->image);
}

bool executable_has(const struct executable *m, const struct recording *r, uint32_t location)
{
	return location != RECORDING_NONE && r->location.v[location].file == m->file;
}

bool executable_address(
    const struct executable *m, const struct recording *r, uint32_t location, uint64_t *address)
{
	return executable_has(m, r, location) &&
	       image_address(&m->image, r->location.v[location].offset, address);
}
