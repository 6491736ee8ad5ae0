#include "morphctl/report/out/module.h"

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

int module_find(
    struct module *m, const struct recording *r, const struct out_options *o, struct err *e)
{
	struct build_id id = {0};

	*m = (struct module){0};
	if (o->module)
		m->elf = elf_file_open(o->module, -1, NULL);
	if (m->elf)
		id = elf_file_build_id(m->elf);
	m->file = heaviest(r, &id, o);
	if (m->file != RECORDING_NONE) {
		m->path = o->module ? o->module : r->file.v[m->file].path;
		return 0;
	}
	module_close(m);
	if (o->module)
		return err_set(e, "%s: the profile has no samples of this build", o->module);
	return err_set(e, "the profile has no samples of an executable");
}

int module_open(
    struct module *m, const struct recording *r, const struct out_options *o, struct err *e)
{
	struct build_id id;

	if (module_find(m, r, o, e))
		return -1;
	if (!m->elf)
		m->elf = elf_file_open(m->path, -1, e);
	if (!m->elf)
		return -1;
	id = elf_file_build_id(m->elf);
	if (id.n && r->file.v[m->file].id.n && !build_id_equal(&id, &r->file.v[m->file].id)) {
		module_close(m);
		return err_set(e, "%s: another build than that of the profile", m->path);
	}
	m->nsegment = elf_file_exec_segments(m->elf, m->segment, MODULE_SEGMENTS);
	return 0;
}

void module_close(struct module *m)
{
	if (m->elf)
		elf_file_close(m->elf);
	m->elf = NULL;
}

bool module_has(const struct module *m, const struct recording *r, uint32_t location)
{
	return location != RECORDING_NONE && r->location.v[location].file == m->file;
}

bool module_address(
    const struct module *m, const struct recording *r, uint32_t location, uint64_t *address)
{
	const struct elf_segment *s;
	uint64_t offset;

	if (!module_has(m, r, location))
		return false;
	offset = r->location.v[location].offset;
	for (s = m->segment; s < m->segment + m->nsegment; s++) {
		if (offset >= s->offset && offset - s->offset < s->filesz) {
			*address = offset - s->offset + s->vaddr;
			return true;
		}
	}
	return false;
}
