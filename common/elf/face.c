#include "common/elf/elf.h"
#include "common/le.h"
#include "common/sort.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { DYN_SIZE = 16 };

struct face_read {
	struct elf *f;
	struct elf_face *face;
	struct elf_section dynamic, dynstr;
	struct err *e;
};

/* A string of .dynstr into the face's memory. */
static int face_string(struct face_read *r, uint64_t at, char **out)
{
	const char *s = (const char *)r->dynstr.data;

	if (!s || at >= r->dynstr.size || !memchr(s + at, '\0', r->dynstr.size - at))
		return err_set(r->e, "section .dynamic: string outside .dynstr");
	*out = arena_strdup(&r->face->mem, s + at);
	return 0;
}

static int face_dynamic_entry(struct face_read *r, uint64_t tag, uint64_t value)
{
	struct elf_face *face = r->face;
	char *needed;

	switch (tag) {
	case DT_NEEDED:
		if (face_string(r, value, &needed) < 0)
			return -1;
		vec_push(&face->needed, needed);
		return 0;
	case DT_SONAME:
		return face_string(r, value, &face->soname);
	case DT_RPATH:
		return face_string(r, value, &face->rpath);
	case DT_RUNPATH:
		return face_string(r, value, &face->runpath);
	case DT_FLAGS:
		face->flags = value;
		face->textrel |= (value & DF_TEXTREL) != 0;
		return 0;
	case DT_FLAGS_1:
		face->flags_1 = value;
		return 0;
	case DT_TEXTREL:
		face->textrel = true;
		return 0;
	default:
		return 0;
	}
}

static int face_dynamic(struct face_read *r)
{
	uint32_t flags;
	uint64_t at, tag;
	int found = elf_file_section(r->f, ".dynamic", &r->dynamic, r->e);

	if (found < 0 || elf_file_section(r->f, ".dynstr", &r->dynstr, r->e) < 0)
		return -1;
	if (!found && elf_file_segment_flags(r->f, PT_DYNAMIC, &flags))
		return err_set(r->e, "a dynamic segment without section .dynamic");
	if (!found || !r->dynamic.data)
		return 0;
	for (at = 0; at + DYN_SIZE <= r->dynamic.size; at += DYN_SIZE) {
		tag = get_le64(r->dynamic.data + at);
		if (tag == DT_NULL)
			break;
		if (face_dynamic_entry(r, tag, get_le64(r->dynamic.data + at + 8)) < 0)
			return -1;
	}
	return 0;
}

static int face_interp(struct face_read *r)
{
	struct elf_section s;
	int found = elf_file_section(r->f, ".interp", &s, r->e);

	if (found > 0 && s.data)
		r->face->interp = arena_strndup(
		    &r->face->mem, (const char *)s.data, strnlen((const char *)s.data, s.size));
	return found < 0 ? -1 : 0;
}

/* The size of a function follows from its layout; that of an object is part
 * of the interface (copy relocations). */
static int face_symbol(const struct elf_symbol *s, void *arg)
{
	struct elf_face *face = arg;
	char *line;

	line = arena_printf(&face->mem, "%c %s@%s %u %u %u %llu", s->shndx == SHN_UNDEF ? 'U' : 'D',
	    s->name, s->version ? s->version : "", s->type, s->bind, s->visibility,
	    (unsigned long long)(s->type == STT_OBJECT || s->type == STT_TLS ? s->size : 0));
	vec_push(&face->symbols, line);
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int elf_face_read(struct elf *f, struct elf_face *face, struct err *e)
{
	struct face_read r = {.f = f, .face = face, .e = e};
	uint32_t flags;

	*face = (struct elf_face){.kind = elf_file_kind(f)};
	/* Without the header the kernel takes its default, executable. */
	face->execstack = !elf_file_segment_flags(f, PT_GNU_STACK, &flags) || (flags & PF_X);
	if (face_interp(&r) < 0 || face_dynamic(&r) < 0)
		goto fail;
	if (elf_file_symbols(f, true, face_symbol, face) < 0) {
		err_set(e, "section .dynsym is damaged");
		goto fail;
	}
	vec_sort(&face->symbols, by_text);
	return 0;
fail:
	elf_face_free(face);
	return -1;
}

void elf_face_free(struct elf_face *face)
{
	arena_free(&face->mem);
	vec_free(&face->needed);
	vec_free(&face->symbols);
	*face = (struct elf_face){0};
}

/* ---- comparing ---- */

static int same_text(const char *what, const char *a, const char *b, struct err *e)
{
	if (a == b || (a && b && !strcmp(a, b)))
		return 0;
	return err_set(e, "%s differs: %s, %s", what, a ? a : "(none)", b ? b : "(none)");
}

static int same_number(const char *what, uint64_t a, uint64_t b, struct err *e)
{
	if (a == b)
		return 0;
	return err_set(
	    e, "%s differs: %#llx, %#llx", what, (unsigned long long)a, (unsigned long long)b);
}

/* The first text that one of two lists has and the other has not there. */
static int same_list(
    const char *what, char *const *a, size_t na, char *const *b, size_t nb, struct err *e)
{
	size_t i;

	for (i = 0; i < na || i < nb; i++)
		if (same_text(what, i < na ? a[i] : NULL, i < nb ? b[i] : NULL, e) < 0)
			return -1;
	return 0;
}

int elf_face_compare(const struct elf_face *a, const struct elf_face *b, struct err *e)
{
	if (same_number("kind of file", a->kind, b->kind, e) ||
	    same_text("interpreter", a->interp, b->interp, e) ||
	    same_text("soname", a->soname, b->soname, e) ||
	    same_text("rpath", a->rpath, b->rpath, e) ||
	    same_text("runpath", a->runpath, b->runpath, e) ||
	    same_number("DT_FLAGS", a->flags, b->flags, e) ||
	    same_number("DT_FLAGS_1", a->flags_1, b->flags_1, e) ||
	    same_number("text relocations", a->textrel, b->textrel, e) ||
	    same_number("executable stack", a->execstack, b->execstack, e) ||
	    same_list("needed library", a->needed.v, a->needed.n, b->needed.v, b->needed.n, e) ||
	    same_list("dynamic symbol", a->symbols.v, a->symbols.n, b->symbols.v, b->symbols.n, e))
		return -1;
	return 0;
}
