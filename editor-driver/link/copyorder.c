#include "editor-driver/link/copyorder.h"
#include "common/le.h"
#include "common/sort.h"

#include <elf.h>
#include <string.h>

struct copy {
	uint64_t addr;
	uint32_t sym;
};

struct reader {
	VEC(struct copy) copy;
	VEC(const char *) name; /* of dynamic symbols, from 1 on */
};

static int by_addr(const void *a, const void *b)
{
	const struct copy *x = a, *y = b;

	return ORDER(x->addr, y->addr);
}

static int note_name(const struct elf_symbol *s, void *arg)
{
	struct reader *r = arg;

	vec_push(&r->name, s->name);
	return 0;
}

static void read_copies(struct reader *r, const struct elf_section *s)
{
	const uint8_t *p = s->data, *end = p + s->size;
	uint64_t info;

	for (; p && p + sizeof(Elf64_Rela) <= end; p += sizeof(Elf64_Rela)) {
		info = get_le64(p + 8);
		if ((uint32_t)info == R_X86_64_COPY)
			vec_push(&r->copy, (struct copy){get_le64(p), (uint32_t)(info >> 32)});
	}
	vec_sort(&r->copy, by_addr);
}

/* One that as reads as a symbol and nothing else. */
static bool plain(const char *name)
{
	size_t i;

	for (i = 0; name[i]; i++)
		if (!(name[i] >= 'a' && name[i] <= 'z') && !(name[i] >= 'A' && name[i] <= 'Z') &&
		    name[i] != '_' && !(i && name[i] >= '0' && name[i] <= '9'))
			return false;
	return i > 0;
}

int copyorder_text(struct elf *f, struct buf *out, struct err *e)
{
	struct reader r = {.copy = {0}};
	struct elf_section s;
	uint32_t sym;
	size_t i;
	int rc = elf_file_section(f, ".rela.dyn", &s, e);

	if (rc > 0)
		read_copies(&r, &s);
	rc = rc < 0 ? -1 : 0;
	if (!rc && r.copy.n > 1 && elf_file_symbols(f, true, note_name, &r))
		rc = err_set(e, "damaged dynamic symbols");
	if (!rc && r.copy.n > 1)
		buf_str(out, "\t.section .text.sorted.99999998,\"axR\",@progbits\nmorph_copies:\n");
	for (i = 0; !rc && r.copy.n > 1 && i < r.copy.n; i++) {
		sym = r.copy.v[i].sym;
		if (sym && sym <= r.name.n && plain(r.name.v[sym - 1]))
			buf_printf(out, "\tnopl\t%s(%%rip)\n", r.name.v[sym - 1]);
	}
	vec_free(&r.copy);
	vec_free(&r.name);
	return rc;
}
