#include "editor-driver/proof/image.h"

#include <string.h>

/* ---- actions and types ---- */

static bool same_type(const struct bytes *b, const struct bytes_fde *o, const struct bytes_fde *m,
    int64_t was, int64_t is)
{
	uint64_t x, y;

	if (eh_table_type(&o->table, was, &x) || eh_table_type(&m->table, is, &y))
		return false;
	return !x || !y ? x == y : bytes_correspond(b, x, y);
}

static bool same_list(const struct bytes *b, const struct bytes_fde *o, const struct bytes_fde *m,
    int64_t was, int64_t is)
{
	eh_filters x = {0}, y = {0};
	bool same =
	    !eh_table_list(&o->table, was, &x) && !eh_table_list(&m->table, is, &y) && x.n == y.n;
	size_t i;

	for (i = 0; i < x.n && same; i++)
		same = same_type(b, o, m, x.v[i], y.v[i]);
	vec_free(&x);
	vec_free(&y);
	return same;
}

/* The landing pad is given the filter that matched. */
static bool same_filter(const struct bytes *b, const struct bytes_fde *o, const struct bytes_fde *m,
    int64_t was, int64_t is)
{
	if (was != is)
		return false;
	return !was || (was > 0 ? same_type(b, o, m, was, is) : same_list(b, o, m, was, is));
}

static bool same_actions(const struct bytes *b, const struct bytes_fde *o,
    const struct bytes_fde *m, uint64_t was, uint64_t is)
{
	eh_filters x = {0}, y = {0};
	bool same = !was == !is && !eh_table_filters(&o->table, was, &x) &&
		    !eh_table_filters(&m->table, is, &y) && x.n == y.n;
	size_t i;

	for (i = 0; i < x.n && same; i++)
		same = same_filter(b, o, m, x.v[i], y.v[i]);
	vec_free(&x);
	vec_free(&y);
	return same;
}

/* ---- call sites ---- */

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
	return same_pad(b, o, m, was, is) && same_actions(b, o, m, was->action, is->action);
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
