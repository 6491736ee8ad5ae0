#include "morphctl/report/in/module.h"
#include "common/sort.h"

#include <elf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static struct elf *open_elf(struct module *m, struct recording *r, const struct in_file *f,
    const struct in_options *o, struct err *e)
{
	char path[PATH_MAX];
	struct elf *elf;

	*m = (struct module){0};
	if (!o->module) {
		err_set(e, "%s: it does not say which executable it is of: --module does", f->name);
		return NULL;
	}
	elf = elf_file_open(o->module, -1, e);
	if (!elf)
		return NULL;
	m->id = elf_file_build_id(elf);
	m->nsegment = elf_file_exec_segments(elf, m->segment, MODULE_SEGMENTS);
	m->file = recording_file(
	    r, RECORDING_ELF, realpath(o->module, path) ? path : o->module, &m->id, 0);
	return elf;
}

int module_open(struct module *m, struct recording *r, const struct in_file *f,
    const struct in_options *o, struct err *e)
{
	struct elf *elf = open_elf(m, r, f, o, e);

	elf_file_close(elf);
	return elf ? 0 : -1;
}

uint32_t module_location(const struct module *m, struct recording *r, uint64_t addr)
{
	size_t i;

	for (i = 0; i < m->nsegment; i++)
		if (addr >= m->segment[i].vaddr &&
		    addr - m->segment[i].vaddr < m->segment[i].filesz)
			return recording_location(
			    r, m->file, addr - m->segment[i].vaddr + m->segment[i].offset);
	return RECORDING_NONE;
}

/* ---- symbols ---- */

struct collect {
	struct module *m;
	const char *source; /* of the local symbols that follow */
};

static int collect(const struct elf_symbol *s, void *arg)
{
	struct collect *c = arg;

	if (s->type == STT_FILE)
		c->source = arena_strdup(&c->m->mem, s->name);
	else if ((s->type == STT_FUNC || s->type == STT_NOTYPE) && s->shndx != SHN_UNDEF &&
		 s->name[0])
		vec_push(&c->m->symbol,
		    (struct module_symbol){arena_strdup(&c->m->mem, s->name),
			s->bind == STB_LOCAL ? c->source : "", s->value, s->bind == STB_LOCAL});
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct module_symbol *x = a, *y = b;

	return strcmp(x->name, y->name) ?: ORDER(x->value, y->value);
}

int module_open_symbols(struct module *m, struct recording *r, const struct in_file *f,
    const struct in_options *o, struct err *e)
{
	struct elf *elf = open_elf(m, r, f, o, e);
	struct collect c = {m, ""};
	int result = -1;

	if (!elf)
		return -1;
	if (elf_file_symbols(elf, false, collect, &c))
		err_set(e, "%s: its symbol table is damaged", o->module);
	else if (!m->symbol.n)
		err_set(e, "%s: it has no symbols, and %s names functions", o->module, f->name);
	else
		result = 0;
	elf_file_close(elf);
	vec_sort(&m->symbol, by_name);
	return result;
}

static int compare(const struct module_symbol *s, struct word name)
{
	size_t n = strlen(s->name);
	int c = memcmp(s->name, name.s, n < name.n ? n : name.n);

	return c ?: ORDER(n, name.n);
}

/* The n-th (from 1 on) local one of a name, of that source where it has bytes; n = 0: a global one.
 */
static const struct module_symbol *find(
    const struct module *m, struct word name, struct word source, uint64_t n)
{
	const struct module_symbol *s = m->symbol.v;
	size_t i = partition_point(0, m->symbol.n, k, compare(&s[k], name) < 0);

	for (; i < m->symbol.n && !compare(&s[i], name); i++) {
		if (s[i].local != (n > 0) || (source.n && !word_is(source, s[i].source)))
			continue;
		if (!n || !--n)
			return &s[i];
	}
	return NULL;
}

const struct module_symbol *module_find(const struct module *m, struct word name)
{
	const struct module_symbol *s = find(m, name, (struct word){0}, 0);
	const char *slash = s ? NULL : memrchr(name.s, '/', name.n);
	struct word base, source;
	uint64_t n;

	if (s || !slash)
		return s;
	base = (struct word){name.s, (size_t)(slash - name.s)};
	if (!word_decimal((struct word){slash + 1, name.n - base.n - 1}, &n) || !n)
		return NULL;
	s = find(m, base, (struct word){0}, n);
	slash = s ? NULL : memchr(base.s, '/', base.n);
	if (!slash)
		return s;
	source = (struct word){slash + 1, base.n - (size_t)(slash - base.s) - 1};
	base.n = (size_t)(slash - base.s);
	return find(m, base, source, n);
}

void module_free(struct module *m)
{
	vec_free(&m->symbol);
	arena_free(&m->mem);
}
