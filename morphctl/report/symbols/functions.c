#include "morphctl/report/symbols/functions.h"
#include "common/sort.h"

#include <string.h>

struct symbol {
	uint64_t start, size;
	uint64_t limit; /* end of its section */
	const char *name;
	unsigned rank; /* the more the better */
};

struct symbols {
	VEC(struct symbol) v;
};

/* ---- reading ---- */

static unsigned rank_of(const GElf_Sym *s, const char *name)
{
	unsigned type = GELF_ST_TYPE(s->st_info), bind = GELF_ST_BIND(s->st_info);
	size_t underscores = strspn(name, "_"), length = strlen(name);
	unsigned function = type == STT_FUNC || type == STT_GNU_IFUNC;
	unsigned scope = bind == STB_LOCAL ? 0 : bind == STB_WEAK ? 1 : 2;

	underscores = underscores < 7 ? underscores : 7;
	length = length < 4095 ? length : 4095;
	return function << 20 | scope << 16 | (unsigned)(7 - underscores) << 12 | (unsigned)length;
}

/* Labels that no one wrote. */
static bool is_internal(const char *name)
{
	return !*name || *name == '$' || strncmp(name, ".L", 2) == 0 ||
	       strncmp(name, ".annobin", 8) == 0;
}

static void add(struct symbols *to, Elf *elf, const GElf_Sym *s, const char *name)
{
	unsigned type = GELF_ST_TYPE(s->st_info);
	GElf_Shdr sh;

	if (!name || is_internal(name) || s->st_shndx == SHN_UNDEF ||
	    (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
	    !gelf_getshdr(elf_getscn(elf, s->st_shndx), &sh) || !(sh.sh_flags & SHF_EXECINSTR) ||
	    s->st_value - sh.sh_addr >= sh.sh_size ||
	    s->st_size > sh.sh_size - (s->st_value - sh.sh_addr))
		return;
	vec_push(&to->v, (struct symbol){s->st_value, s->st_size, sh.sh_addr + sh.sh_size, name,
			     rank_of(s, name)});
}

static void add_table(struct symbols *to, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t i, n = d && sh->sh_entsize ? d->d_size / sh->sh_entsize : 0;
	GElf_Sym s;

	for (i = 1; i < n && i <= INT32_MAX; i++)
		if (gelf_getsym(d, (int)i, &s))
			add(to, elf, &s, elf_strptr(elf, sh->sh_link, s.st_name));
}

static void add_tables(struct symbols *to, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while (elf && (scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) &&
		    (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM))
			add_table(to, elf, scn, &sh);
}

static void add_stub(uint64_t vaddr, char *name, void *arg)
{
	struct symbols *to = arg;

	vec_push(&to->v, (struct symbol){vaddr, FUNCTIONS_STUB, vaddr + FUNCTIONS_STUB, name, 0});
}

/* ---- finding ---- */

static int by_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return ORDER(x->start, y->start) ?: ORDER(x->rank, y->rank) ?: strcmp(y->name, x->name);
}

/* The one below, and those with a size that begin at or before where we are. */
struct sweep {
	const struct symbols *t;
	size_t next;
	const struct symbol *below;
	VEC(const struct symbol *) open;
};

static struct function function_at(struct sweep *w, uint64_t a)
{
	const struct symbol *s;
	uint64_t end;

	for (; w->next < w->t->v.n && w->t->v.v[w->next].start <= a; w->next++) {
		w->below = &w->t->v.v[w->next];
		if (w->below->size)
			vec_push(&w->open, w->below);
	}
	while (w->open.n) {
		s = w->open.v[w->open.n - 1];
		if (a - s->start < s->size)
			return (struct function){s->start, s->size, s->name};
		w->open.n--;
	}
	s = w->below;
	if (!s || s->size || a >= s->limit)
		return (struct function){0};
	end = w->next < w->t->v.n && w->t->v.v[w->next].start < s->limit ? w->t->v.v[w->next].start
									 : s->limit;
	return (struct function){s->start, end - s->start, s->name};
}

void functions_find(
    const struct program *p, const uint64_t *vaddr, size_t n, struct function *found)
{
	struct symbols t = {0};
	struct sweep w = {.t = &t};
	size_t i;

	for (i = 0; i < sizeof p->elf / sizeof *p->elf; i++)
		add_tables(&t, p->elf[i]);
	if (p->code)
		functions_each_stub(p->elf[0], add_stub, &t);
	vec_sort(&t.v, by_start);
	for (i = 0; i < n; i++)
		found[i] = function_at(&w, vaddr[i]);
	vec_free(&w.open);
	vec_free(&t.v);
}
