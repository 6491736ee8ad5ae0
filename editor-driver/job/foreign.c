#include "editor-driver/job/foreign.h"

#include <elf.h>

static int count_function(const struct elf_symbol *s, void *arg)
{
	struct foreign_object *o = arg;

	o->functions += s->type == STT_FUNC && s->shndx != SHN_UNDEF;
	return 0;
}

static int count_code(const struct elf_section *s, void *arg)
{
	struct foreign_object *o = arg;

	if (s->flags & SHF_EXECINSTR)
		o->bytes += s->size;
	return 0;
}

static int survey_object(struct artifact *a, const struct art_input *in, struct foreign *f,
    struct foreign_object *o, struct err *e)
{
	struct buf content = {0};
	struct elf *elf = NULL;
	int rc = -1;

	if (artifact_content(a, in->id, &content, e))
		goto out;
	elf = elf_mem_open(content.p, content.n, in->path, e);
	if (!elf)
		goto out;
	if (elf_file_sections(elf, count_code, o) ||
	    elf_file_symbols(elf, false, count_function, o)) {
		err_set(e, "%s: damaged object", in->path);
		goto out;
	}
	if (o->bytes)
		vec_push(&f->object, *o);
	f->functions += o->functions;
	f->bytes += o->bytes;
	rc = 0;
out:
	elf_file_close(elf);
	buf_free(&content);
	return rc;
}

int foreign_survey(struct artifact *a, struct foreign *f, struct err *e)
{
	const struct art_input *in;
	size_t i, n = artifact_inputs(a, &in);
	struct foreign_object o;

	for (i = 0; i < n; i++) {
		if (in[i].kind != ART_OBJECT)
			continue;
		o = (struct foreign_object){.name = in[i].path,
		    .archive = in[i].archive < 0 ? NULL : in[in[i].archive].path};
		if (survey_object(a, &in[i], f, &o, e))
			return -1;
	}
	return 0;
}
