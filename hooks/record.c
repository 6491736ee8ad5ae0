#include "hooks/record.h"
#include "common/hooklog.h"
#include "common/elf/ifsec.h"
#include "common/command/ldscript.h"
#include "common/publish.h"
#include "hooks/checksum.h"
#include "hooks/face.h"
#include "hooks/functions.h"
#include "hooks/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct writer {
	const struct record *r;
	struct artifact *a;
	uint32_t tus;
	struct input_bytes content; /* of the input at hand */
};

/* What represents an object in the artifact. */
struct form {
	struct arena mem;
	struct functions functions;
	char *as_args;
	struct ifsec section; /* in the input's bytes */
};

/* Why an object stays an object; silent where there never was more. */
static int foreign(
    const struct writer *w, const struct input *in, const struct form *f, const char *why)
{
	const char *source = f->functions.name && *f->functions.name ? f->functions.name : NULL;
	bool member = in->archive >= 0,
	     shown = source && (member || !source_is_temporary(in->path));
	char *object = member ? xasprintf("%s:%s", in->file, in->path)
			      : source_or_object(in->path, source, w->content.p, w->content.n);

	hooklog("ld", w->r->module, "%s%s%s%s: kept as an object: %s", object, shown ? " (" : "",
	    shown ? source : "", shown ? ")" : "", why);
	free(object);
	return 0;
}

/* The one record of the section. 1, 0 = none to be used. */
static int read_section(struct writer *w, const struct input *in, struct form *f)
{
	struct elf *elf = elf_mem_open(w->content.p, w->content.n, in->path, NULL);
	struct ifsec one, other;
	struct elf_section s;
	const uint8_t *p;
	struct err e;
	int r = 0;

	if (!elf)
		return foreign(w, in, f, "not readable");
	if (elf_file_section(elf, IFSEC_NAME, &s, &e) > 0 && s.data) {
		p = s.data;
		if (ifsec_next(&p, s.data + s.size, &one, &e) <= 0)
			foreign(w, in, f, e.text);
		else if (ifsec_next(&p, s.data + s.size, &other, &e) != 0)
			foreign(w, in, f, "several translation units in one object (ld -r)");
		else if (functions_read(&f->functions, &f->mem, one.funcs, one.funcs_size, &e) < 0)
			foreign(w, in, f, e.text);
		else if (checksum_check(w->content.p, w->content.n, in->path, &e) <= 0)
			foreign(w, in, f,
			    "changed after it was assembled (strip, objcopy, ld -r, "
			    "-gsplit-dwarf)");
		else
			r = 1;
	}
	if (r) {
		f->section = one;
		f->as_args = arena_strndup(&f->mem, one.as_args, one.as_args_n);
	}
	elf_file_close(elf);
	return r;
}

static int put_functions(struct writer *w, struct form *f, struct err *e)
{
	uint32_t i;

	for (i = 0; i < f->functions.n; i++) {
		f->functions.func[i].tu = w->tus;
		if (artifact_put_func(w->a, &f->functions.func[i], e) < 0)
			return -1;
	}
	return 0;
}

static int put_tu(struct writer *w, const struct input *in, struct form *f, struct err *e)
{
	const struct ifsec *s = &f->section;
	struct art_tu tu = {.id = w->tus,
	    .as_args = f->as_args,
	    .text_size = s->text_size,
	    .hash = s->hash,
	    /* "<artificial>" of what LTO made */
	    .name = *f->functions.name && *f->functions.name != '<' ? f->functions.name
								    : path_base(in->path)};

	if (artifact_put_tu_packed(w->a, &tu, s->z, s->z_size, e) < 0 || put_functions(w, f, e) < 0)
		return -1;
	w->tus++;
	return 0;
}

static int put_library(
    struct writer *w, struct art_input *row, const struct input *in, struct err *e)
{
	struct face f = {0};
	int r = 0;

	if (!face_find(&f, in->file, in->named) &&
	    !(r = collect_bytes(w->r->inputs, in, &w->content, e)))
		r = face_make(&f, w->content.p, w->content.n, in->named, e);
	row->size = f.size;
	if (!r)
		r = artifact_put_input_packed(w->a, row, &f.hash, f.z.p, f.z.n, e);
	face_free(&f);
	return r;
}

static int put_bytes(struct writer *w, struct art_input *row, const struct input *in, struct err *e)
{
	struct form f = {0};
	int r = 0;

	w->content = (struct input_bytes){0};
	if (in->kind != ART_ARCHIVE)
		r = collect_bytes(w->r->inputs, in, &w->content, e);
	if (!r && in->kind == ART_FILE)
		r = ldscript_check(w->content.p, w->content.n, in->path, w->r->sysroot, e);
	if (!r && in->kind == ART_OBJECT && read_section(w, in, &f)) {
		row->kind = ART_TU;
		row->tu = w->tus;
		r = put_tu(w, in, &f, e);
		w->content.n = 0;
	}
	row->size = w->content.n;
	if (!r)
		r = artifact_put_input(w->a, row, w->content.p, w->content.n, e);
	arena_free(&f.mem);
	return r;
}

static int put_input(struct writer *w, uint32_t id, const struct input *in, struct err *e)
{
	struct art_input row = {
	    .id = id, .kind = in->kind, .path = in->path, .archive = in->archive, .tu = -1};

	return in->kind == ART_SHARED ? put_library(w, &row, in, e) : put_bytes(w, &row, in, e);
}

static int put_all(struct writer *w, struct err *e)
{
	const struct record *r = w->r;
	struct art_meta meta = {.id = r->map->id,
	    .name = path_base(r->module),
	    .producer = "morph " MORPH_VERSION,
	    .ld = r->ld,
	    .kind = r->kind};
	struct buf blob = {0};
	uint32_t i;
	int status;

	status = artifact_put_meta(w->a, &meta, e);
	for (i = 0; i < r->inputs->input.n && !status; i++)
		status = put_input(w, i, &r->inputs->input.v[i], e);
	if (!status && !w->tus)
		status = err_set(e, "no object with a usable intermediate form");
	for (i = 0; i < r->recipe->n && !status; i++)
		status = artifact_put_recipe(w->a, i, r->recipe->v[i], e);
	blockmap_encode(r->map, &blob);
	if (!status)
		status = artifact_put_blockmap(w->a, blob.p, blob.n, e);
	buf_free(&blob);
	return status;
}

int record_write(const struct record *r, const char *path, struct err *e)
{
	struct writer w = {.r = r, .a = artifact_create(path, false, e)};
	int status;

	if (!w.a)
		return -1;
	status = put_all(&w, e);
	if (status)
		artifact_close(w.a);
	else
		status = artifact_commit(w.a, e);
	return status;
}
