/*
 * Exception tables as GCC prints them: a header, call sites, and behind them the actions as the
 * bytes they were, and the types.
 */
#include "lifter/body.h"

typedef unsigned long long ull;

enum { OMIT = 0xff, PCREL = 0x10, FORMAT = 0xf, SDATA4 = 0xb, UDATA4 = 3 };

/* Where the parts of the table behind its call sites end, as far as they are used; offsets. */
struct extent {
	int64_t types; /* the largest number of a type */
	uint64_t lists_end;
};

static void widen(const struct eh_table *t, int64_t filter, struct extent *x)
{
	struct buf number = {0};
	eh_filters list = {0};
	uint64_t at;
	size_t i;

	if (filter > x->types)
		x->types = filter;
	if (filter < 0 && !eh_table_list(t, filter, &list)) {
		at = t->types + (uint64_t) - (filter + 1) + 1; /* and the zero at its end */
		for (i = 0; i < list.n; i++) {
			if (list.v[i] > x->types)
				x->types = list.v[i];
			buf_uleb(&number, (uint64_t)list.v[i]);
		}
		if (at + number.n > x->lists_end)
			x->lists_end = at + number.n;
	}
	buf_free(&number);
	vec_free(&list);
}

static struct extent measure(const struct eh_table *t)
{
	struct extent x = {0, t->types};
	eh_filters filters = {0};
	size_t i, k;

	for (i = 0; i < t->site.n; i++) {
		if (eh_table_filters(t, t->site.v[i].action, &filters))
			continue;
		for (k = 0; k < filters.n; k++)
			widen(t, filters.v[k], &x);
	}
	vec_free(&filters);
	return x;
}

static void raw(const struct eh_table *t, uint64_t from, uint64_t end, struct buf *out)
{
	for (; from < end && from < (uint64_t)(t->end - t->p); from++)
		buf_printf(out, "\t.byte\t%#x\n", t->p[from]);
}

static void print_types(const struct eh_table *t, int64_t n, struct buf *out)
{
	uint64_t v;

	for (; n > 0; n--) {
		if (eh_table_type(t, n, &v))
			v = 0;
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
	struct extent x = measure(t);
	uint64_t actions_end;
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
	actions_end = t->types ? t->types - 4 * (uint64_t)x.types : t->actions;
	raw(t, t->actions, actions_end, out);
	if (t->types) {
		buf_str(out, "\t.align 4\n");
		print_types(t, x.types, out);
		buf_printf(out, ".LLSDATT%llx:\n", id);
		raw(t, t->types, x.lists_end, out);
	}
}
