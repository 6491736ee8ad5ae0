#include "editor-driver/link/symbolorder.h"
#include "common/publish.h"
#include "common/sort.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { UNSORTED = 0, NAMESAKE = 1, RANKS = 2 }; /* from RANKS on: N of .text.sorted.N, + RANKS */

struct symbol {
	const char *name;
	uint64_t rank;
};

struct reader {
	struct arena mem;
	struct htab seen;          /* name -> its index in symbol[], + 1 */
	VEC(struct symbol) symbol; /* of sections; each name once */
	VEC(uint64_t) section; /* of the object at hand, by index: its rank, NAMESAKE = it stays */
};

static int note_section(const struct elf_section *s, void *arg)
{
	static const char sorted[] = ".text.sorted.";
	struct reader *r = arg;
	uint64_t rank = s->flags & SHF_GROUP ? UNSORTED : NAMESAKE;

	if (!strncmp(s->name, sorted, sizeof sorted - 1))
		rank = RANKS + strtoul(s->name + sizeof sorted - 1, NULL, 10);
	while (r->section.n <= s->index)
		vec_push(&r->section, NAMESAKE);
	r->section.v[s->index] = rank;
	return 0;
}

static int note_symbol(const struct elf_symbol *s, void *arg)
{
	struct reader *r = arg;
	uint64_t *place, rank;
	struct symbol *known;

	if (!*s->name || s->shndx == SHN_UNDEF || s->shndx >= r->section.n)
		return 0;
	rank = r->section.v[s->shndx];
	place = htab_put_str(&r->seen, s->name, NULL);
	if (!*place) {
		vec_push(&r->symbol, (struct symbol){arena_strdup(&r->mem, s->name), rank});
		*place = r->symbol.n;
		return 0;
	}
	known = &r->symbol.v[*place - 1];
	if (known->rank == UNSORTED || rank == NAMESAKE)
		known->rank = rank;
	return 0;
}

/* Takes f over. */
static int read_object(struct reader *r, struct elf *f, const char *path, struct err *e)
{
	int rc;

	if (!f)
		return -1;
	r->section.n = 0;
	rc = elf_file_sections(f, note_section, r) || elf_file_symbols(f, false, note_symbol, r);
	elf_file_close(f);
	return rc ? err_set(e, "%s: damaged object", path) : 0;
}

static int read_input(struct reader *r, struct artifact *a, const struct art_input *in,
    char *const *object, struct err *e)
{
	struct buf b = {0};
	int rc = 0;

	if (in->kind == ART_TU)
		return read_object(r, elf_file_open(object[in->tu], -1, e), in->path, e);
	if (in->kind != ART_OBJECT)
		return 0;
	rc = artifact_content(a, in->id, &b, e);
	if (!rc)
		rc = read_object(r, elf_mem_open(b.p, b.n, in->path, e), in->path, e);
	buf_free(&b);
	return rc;
}

static int by_rank(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return ORDER(x->rank, y->rank) ?: strcmp(x->name, y->name);
}

int symbolorder_list(struct artifact *a, char *const *object, const char *first, const char *last,
    struct buf *out, struct err *e)
{
	struct reader r = {.mem = {0}};
	const struct art_input *in;
	size_t i, n = artifact_inputs(a, &in);
	uint64_t before = 0;
	int rc = 0;

	for (i = 0; i < n && !rc; i++)
		rc = read_input(&r, a, &in[i], object, e);
	if (!rc && first)
		rc = read_object(&r, elf_file_open(first, -1, e), first, e);
	if (!rc && last)
		rc = read_object(&r, elf_file_open(last, -1, e), last, e);
	vec_sort(&r.symbol, by_rank);
	for (i = 0; i < r.symbol.n && !rc; before = r.symbol.v[i++].rank)
		if (r.symbol.v[i].rank >= RANKS && r.symbol.v[i].rank != before)
			buf_printf(out, "%s\n", r.symbol.v[i].name);
	vec_free(&r.symbol);
	vec_free(&r.section);
	htab_free(&r.seen);
	arena_free(&r.mem);
	return rc;
}
