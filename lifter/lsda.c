/*
 * Exception tables as GCC prints them: a header, call sites, and behind them the actions as the
 * bytes they were, and the types.
 */
#include "lifter/body.h"

#include <string.h>

typedef unsigned long long ull;

enum { OMIT = 0xff, PCREL = 0x10, FORMAT = 0xf, SDATA4 = 0xb, UDATA4 = 3 };

/* How much of the tables behind the call sites is used. */
struct extent {
	uint64_t actions; /* bytes */
	uint64_t types;   /* the largest number of one */
	uint64_t lists;   /* bytes behind the types */
};

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void measure_list(const struct eh_table *t, int64_t filter, struct extent *x)
{
	struct buf bytes = {0};
	eh_filters list = {0};
	size_t i;

	if (!eh_table_list(t, filter, &list)) {
		for (i = 0; i < list.n; i++) {
			x->types = larger(x->types, (uint64_t)list.v[i]);
			buf_uleb(&bytes, (uint64_t)list.v[i]);
		}
		x->lists = larger(x->lists, (uint64_t) - (filter + 1) + bytes.n + 1);
	}
	buf_free(&bytes);
	vec_free(&list);
}

/* The records of a call site's action: filter, distance to the next. */
static void measure_actions(const struct eh_table *t, uint64_t action, struct extent *x)
{
	const uint8_t *begin = t->p + t->actions, *p = begin + action - 1, *from;
	eh_filters filters = {0};
	int64_t filter, next;
	size_t i;

	if (action && !eh_table_filters(t, action, &filters))
		for (i = 0; i < filters.n; i++) {
			sleb_read(&p, t->end, &filter);
			from = p;
			sleb_read(&p, t->end, &next);
			x->actions = larger(x->actions, (uint64_t)(p - begin));
			p = from + next;
			if (filter > 0)
				x->types = larger(x->types, (uint64_t)filter);
			if (filter < 0)
				measure_list(t, filter, x);
		}
	vec_free(&filters);
}

static struct extent measure(const struct eh_table *t)
{
	struct extent x = {0};
	size_t i;

	for (i = 0; i < t->site.n; i++)
		measure_actions(t, t->site.v[i].action, &x);
	return x;
}

static uint64_t type(const struct eh_table *t, uint64_t n)
{
	uint64_t v;

	return eh_table_type(t, (int64_t)n, &v) ? 0 : v;
}

/* Do both tables have the same there? */
static bool alike(const struct eh_table *a, const struct eh_table *b, const struct extent *x)
{
	uint64_t i;

	if (a->encoding != b->encoding || !a->types != !b->types ||
	    a->actions + x->actions > a->types || b->actions + x->actions > b->types ||
	    memcmp(a->p + a->actions, b->p + b->actions, x->actions) ||
	    x->lists > (uint64_t)(a->end - a->p) - a->types ||
	    x->lists > (uint64_t)(b->end - b->p) - b->types ||
	    memcmp(a->p + a->types, b->p + b->types, x->lists))
		return false;
	for (i = 1; i <= x->types && type(a, i) == type(b, i); i++)
		;
	return i > x->types;
}

/* Of both parts of a function, where both can have it: the editor splits none with two kinds. */
static struct extent extent_of(const struct body *b, unsigned part)
{
	struct extent x = measure(&b->lsda[part]), y = measure(&b->lsda[!part]);
	struct extent both = {
	    larger(x.actions, y.actions), larger(x.types, y.types), larger(x.lists, y.lists)};

	return b->lsda[0].types && b->lsda[1].types && alike(&b->lsda[0], &b->lsda[1], &both) ? both
											      : x;
}

static void raw(const uint8_t *p, uint64_t n, struct buf *out)
{
	for (; n--; p++)
		buf_printf(out, "\t.byte\t%#x\n", *p);
}

static void print_types(const struct eh_table *t, uint64_t n, struct buf *out)
{
	uint64_t v;

	for (; n; n--) {
		v = type(t, n);
		if (!v)
			buf_str(out, "\t.long\t0\n");
		else
			buf_printf(out, "\t.long\timage+%#llx%s\n", (ull)v,
			    t->encoding & PCREL ? "-." : "");
	}
}

/* The label at an address of the part, which ends with one of its own. */
static const char *label(const struct body *b, unsigned part, uint64_t addr, struct arena *mem)
{
	const struct eh_fde *f = &b->part[part]->fde;

	return addr - f->pc == f->size ? arena_printf(mem, ".L%llx.end", (ull)f->pc)
				       : arena_printf(mem, ".L%llx", (ull)addr);
}

static void print_site(
    const struct body *b, unsigned part, const struct eh_site *k, struct buf *out)
{
	ull base = b->part[part]->fde.pc;
	struct arena mem = {0};
	const char *begin = label(b, part, k->begin, &mem);

	buf_printf(out, "\t.uleb128 %s-.L%llx\n\t.uleb128 %s-%s\n", begin, base,
	    label(b, part, k->end, &mem), begin);
	if (k->pad)
		buf_printf(out, "\t.uleb128 .L%llx-.L%llx\n", (ull)k->pad, base);
	else
		buf_str(out, "\t.uleb128 0\n");
	buf_printf(out, "\t.uleb128 %#llx\n", (ull)k->action);
	arena_free(&mem);
}

bool lsda_printable(const struct eh_table *t)
{
	uint8_t format = t->encoding & FORMAT;
	size_t i;

	if (t->encoding != OMIT)
		return format == SDATA4 || format == UDATA4;
	for (i = 0; i < t->site.n && !t->site.v[i].action; i++)
		;
	return i == t->site.n;
}

void lsda_print(const struct body *b, unsigned part, struct buf *out)
{
	const struct eh_table *t = &b->lsda[part];
	ull id = b->part[part]->fde.pc;
	struct extent x = extent_of(b, part);
	size_t i;

	if (!b->part[part]->fde.lsda)
		return;
	buf_printf(out,
	    "\t.section\t.gcc_except_table,\"a\",@progbits\n\t.align 4\n.LLSDA%llx:\n"
	    "\t.byte\t0xff\n\t.byte\t%#x\n",
	    id, t->encoding);
	if (t->types)
		buf_printf(
		    out, "\t.uleb128 .LLSDATT%llx-.LLSDATTD%llx\n.LLSDATTD%llx:\n", id, id, id);
	buf_printf(out, "\t.byte\t0x1\n\t.uleb128 .LLSDACSE%llx-.LLSDACSB%llx\n.LLSDACSB%llx:\n",
	    id, id, id);
	for (i = 0; i < t->site.n; i++)
		print_site(b, part, &t->site.v[i], out);
	buf_printf(out, ".LLSDACSE%llx:\n", id);
	raw(t->p + t->actions, x.actions, out);
	if (t->types) {
		buf_str(out, "\t.align 4\n");
		print_types(t, x.types, out);
		buf_printf(out, ".LLSDATT%llx:\n", id);
		raw(t->p + t->types, x.lists, out);
	}
}
