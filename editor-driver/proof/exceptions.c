#include "editor-driver/proof/image.h"

#include <string.h>

/* ---- call sites ---- */

static bool same_type(const void *b, uint64_t orig, uint64_t made)
{
	return bytes_correspond(b, orig, made);
}

/* Outside of the function, as GCC's -fno-reorder-functions has them: usable in neither. */
static bool stray(const struct bytes_fde *f, const struct eh_site *s)
{
	return !f->table.own_base && s->pad - f->pc >= f->size;
}

static bool same_pad(const struct bytes *b, const struct bytes_fde *o, const struct bytes_fde *m,
    const struct eh_site *was, const struct eh_site *is)
{
	if (stray(o, was) && stray(m, is))
		return was->pad - o->pc == is->pad - m->pc;
	return bytes_same_code(b, was->pad, is->pad);
}

static bool same_site(const struct bytes *b, const struct bytes_fde *o, const struct bytes_fde *m,
    const struct eh_site *was, const struct eh_site *is)
{
	if (!was || !is)
		return was == is;
	if (!was->pad || !is->pad)
		return was->pad == is->pad && was->action == is->action;
	return same_pad(b, o, m, was, is) &&
	       eh_table_same_actions(&o->table, was->action, &m->table, is->action,
		   &(struct eh_same_type){same_type, b});
}

/* Of a form that is not understood: nothing in any table may have changed. */
static bool same_section(const struct bytes *b)
{
	const struct elf_section *o = bytes_named(&b->orig, ".gcc_except_table");
	const struct elf_section *m = bytes_named(&b->made, ".gcc_except_table");

	return o && m && o->data && m->data && o->size == m->size &&
	       !memcmp(o->data, m->data, o->size);
}

bool bytes_same_handlers(
    const struct bytes *b, const struct bytes_fde *o, const struct bytes_fde *m)
{
	const struct eh_site *x = o->table.site.v, *y = m->table.site.v;
	size_t i;

	if (o->has_table != m->has_table || o->odd != m->odd)
		return false;
	if (o->odd)
		return same_section(b);
	if (o->table.site.n != m->table.site.n)
		return false;
	for (i = 0; i < o->table.site.n; i++)
		if (x[i].begin - o->pc != y[i].begin - m->pc ||
		    x[i].end - o->pc != y[i].end - m->pc || !same_site(b, o, m, &x[i], &y[i]))
			return false;
	return true;
}

static bool same_personality(
    const struct bytes *b, const struct bytes_fde *o, const struct bytes_fde *m)
{
	if (!o->personality || !m->personality)
		return o->personality == m->personality;
	return bytes_correspond(b, o->personality, m->personality);
}

bool bytes_same_catches(
    const struct bytes *b, uint64_t orig, uint64_t made, uint64_t n, uint64_t *where)
{
	const struct bytes_fde *o = bytes_frame(&b->orig, orig), *m = bytes_frame(&b->made, made);
	uint64_t i, was_until, is_until, step;
	const struct eh_site *was, *is;

	*where = made;
	if (!n || (!o && !m))
		return true;
	if (!o || !m || !same_personality(b, o, m) || o->has_table != m->has_table ||
	    o->odd != m->odd)
		return false;
	if (o->odd)
		return same_section(b);
	for (i = 0; i < n && o->has_table; i += step) {
		was = eh_table_at(&o->table, orig + i, &was_until);
		is = eh_table_at(&m->table, made + i, &is_until);
		*where = made + i;
		if (!same_site(b, o, m, was, is))
			return false;
		was_until -= orig + i;
		is_until -= made + i;
		step = was_until < is_until ? was_until : is_until;
	}
	return true;
}
