#include "lifter/lift.h"
#include "common/artifact/artifact.h"
#include "lifter/body.h"

#include <elf.h>

struct lifter {
	struct image image;
	struct survey survey;
};

struct lifter *lift_open(
    const struct lift_file *module, const struct lift_file *debug, struct err *e)
{
	struct lifter *l = xcalloc(1, sizeof *l);

	if (!image_open(&l->image, module, debug, e)) {
		if (!survey_make(&l->survey, &l->image, e))
			return l;
		err_wrap(e, "%s", module->name);
	}
	lift_close(l);
	return NULL;
}

void lift_close(struct lifter *l)
{
	if (!l)
		return;
	survey_free(&l->survey);
	image_free(&l->image);
	free(l);
}

struct build_id lift_build_id(const struct lifter *l)
{
	return elf_file_build_id(l->image.f);
}

enum elf_kind lift_kind(const struct lifter *l)
{
	return l->image.kind;
}

size_t lift_count(const struct lifter *l)
{
	return l->survey.func.n;
}

bool lift_find(const struct lifter *l, uint64_t addr, size_t *i)
{
	uint32_t n = survey_fragment(&l->survey, addr);

	if (n != NO_FRAGMENT)
		*i = l->survey.fragment.v[n].func;
	return n != NO_FRAGMENT;
}

bool lift_address(const struct lifter *l, uint64_t offset, uint64_t *addr)
{
	const struct image_segment *s;
	size_t i;

	for (i = 0; i < l->image.segment.n; i++) {
		s = &l->image.segment.v[i];
		if (s->flags & PF_X && offset - s->offset < s->filesz) {
			*addr = s->vaddr + (offset - s->offset);
			return true;
		}
	}
	return false;
}

void lift_only(struct lifter *l, const size_t *i, size_t n)
{
	size_t k;

	for (k = 0; k < l->survey.func.n; k++)
		l->survey.func.v[k].wanted = false;
	for (k = 0; k < n; k++)
		l->survey.func.v[i[k]].wanted = true;
}

static void put_steps(const struct body *b, struct lifted *out)
{
	const struct step *s;
	uint32_t i;

	vec_reserve(&out->insn, b->step.n);
	for (i = 0; i < b->step.n; i++) {
		s = &b->step.v[i];
		out->known += s->c.kind == CODE_JMP_IND && s->table[0];
		if (!s->padding)
			vec_push(&out->insn, (struct lifted_insn){s->addr, s->part, s->c.len});
	}
	for (i = 0; i < b->table.n; i++)
		vec_push(&out->table,
		    (struct lifted_table){b->table.v[i].addr, b->table.v[i].n, b->table.v[i].wide});
	out->indirect = b->indirect;
}

void lift_function(const struct lifter *l, size_t i, struct lifted *out)
{
	const struct function *f = &l->survey.func.v[i];
	const struct fragment *part = l->survey.fragment.v;
	struct body b;

	*out = (struct lifted){
	    .name = f->name, .addr = part[f->part[0]].fde.pc, .size = {part[f->part[0]].fde.size}};
	if (f->part[1] != NO_FRAGMENT) {
		out->cold = part[f->part[1]].fde.pc;
		out->size[1] = part[f->part[1]].fde.size;
	}
	if (!f->wanted) {
		lifted_stay(out, ART_UNSAMPLED);
		return;
	}
	out->stays = body_read(&b, &l->image, &l->survey, f);
	if (!out->stays)
		out->stays = body_print(&b, &out->text);
	if (out->stays)
		lifted_stay(out, out->stays);
	else
		put_steps(&b, out);
	body_free(&b);
}

void lifted_stay(struct lifted *f, const char *why)
{
	f->stays = why;
	f->text.n = f->insn.n = f->table.n = 0;
	f->indirect = f->known = 0;
	body_print_stays(f->name, why, &f->text);
}

void lifted_free(struct lifted *f)
{
	buf_free(&f->text);
	vec_free(&f->insn);
	vec_free(&f->table);
}
