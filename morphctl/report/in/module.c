#include "morphctl/report/in/module.h"
#include "common/sort.h"

#include <elf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int open_image(struct module *m, struct recording *r, const struct in_file *f,
    const struct in_options *o, bool symbols, struct err *e)
{
	char path[PATH_MAX];

	*m = (struct module){0};
	if (!o->module)
		return err_set(
		    e, "%s: it does not say which executable it is of: --program does", f->name);
	if (image_read(&m->image, o->module, symbols, e))
		return -1;
	m->file = recording_file(
	    r, RECORDING_ELF, realpath(o->module, path) ? path : o->module, &m->image.id, 0);
	return 0;
}

int module_open(struct module *m, struct recording *r, const struct in_file *f,
    const struct in_options *o, struct err *e)
{
	return open_image(m, r, f, o, false, e);
}

uint32_t module_location(const struct module *m, struct recording *r, uint64_t addr)
{
	uint64_t offset;

	return image_offset(&m->image, addr, &offset) ? recording_location(r, m->file, offset)
						      : RECORDING_NONE;
}

uint32_t module_offset(const struct module *m, struct recording *r, uint64_t offset)
{
	uint64_t addr;

	return image_address(&m->image, offset, &addr) ? recording_location(r, m->file, offset)
						       : RECORDING_NONE;
}

/* ---- symbols ---- */

/* What may be a function's name. */
static void keep_code(struct image *m)
{
	size_t i, n = 0;

	for (i = 0; i < m->symbol.n; i++)
		if (m->symbol.v[i].type == STT_FUNC || m->symbol.v[i].type == STT_NOTYPE)
			m->symbol.v[n++] = m->symbol.v[i];
	m->symbol.n = n;
}

static int by_name(const void *a, const void *b)
{
	const struct image_symbol *x = a, *y = b;

	return strcmp(x->name, y->name) ?: ORDER(x->value, y->value);
}

int module_open_symbols(struct module *m, struct recording *r, const struct in_file *f,
    const struct in_options *o, struct err *e)
{
	if (open_image(m, r, f, o, true, e))
		return -1;
	keep_code(&m->image);
	if (!m->image.symbol.n)
		return err_set(
		    e, "%s: it has no symbols, and %s names functions", o->module, f->name);
	vec_sort(&m->image.symbol, by_name);
	return 0;
}

static int compare(const struct image_symbol *s, struct word name)
{
	size_t n = strlen(s->name);
	int c = memcmp(s->name, name.s, n < name.n ? n : name.n);

	return c ?: ORDER(n, name.n);
}

/* The n-th (from 1 on) local one of a name, of that source where it has bytes; n = 0: a global one.
 */
static const struct image_symbol *find(
    const struct module *m, struct word name, struct word source, uint64_t n)
{
	const struct image_symbol *s = m->image.symbol.v;
	size_t i = partition_point(0, m->image.symbol.n, k, compare(&s[k], name) < 0);

	for (; i < m->image.symbol.n && !compare(&s[i], name); i++) {
		if (s[i].local != (n > 0) || (source.n && !word_is(source, s[i].source)))
			continue;
		if (!n || !--n)
			return &s[i];
	}
	return NULL;
}

const struct image_symbol *module_find(const struct module *m, struct word name)
{
	const struct image_symbol *s = find(m, name, (struct word){0}, 0);
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
	image_free(&m->image);
}
