/*
 * BOLT's fdata, what llvm-bolt -data reads. Places are a symbol and an offset from it in
 * hexadecimal; 1 says that the name is one of this executable's symbols, 0 that it is not.
 *
 *	1 NAME OFFSET 1 NAME OFFSET MISPREDICTED N   branches
 *
 * or, where there are none, samples after a line "no_lbr EVENT":
 *
 *	1 NAME OFFSET N
 *
 * BOLT names a local symbol NAME/I, the I-th local one of that name by address.
 */
#include "common/sort.h"
#include "morphctl/report/out/addresses.h"
#include "morphctl/report/out/formats.h"
#include "morphctl/report/out/text.h"

#include <elf.h>
#include <string.h>

struct symbol {
	uint64_t address, end;
	const char *name; /* the ELF file's */
	uint32_t local;   /* 0 = global, else which one of that name */
	uint32_t order;   /* in the symbol table */
	bool code;
};

struct fdata {
	struct addresses a;
	struct image image;        /* with symbols */
	VEC(struct symbol) symbol; /* code, by address, the preferred one of each address */
};

static void add_symbols(struct fdata *f)
{
	const struct image_symbol *s = f->image.symbol.v;

	for (; s < f->image.symbol.v + f->image.symbol.n; s++)
		if (text_is_symbol(s->name))
			vec_push(&f->symbol, (struct symbol){s->value, s->value + s->size, s->name,
						 s->local, (uint32_t)f->symbol.n,
						 s->type == STT_FUNC || s->type == STT_GNU_IFUNC});
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return ORDER(x->address, y->address) ?: ORDER(x->order, y->order);
}

static void number_locals(struct fdata *f)
{
	struct htab named = {0};
	struct symbol *s;
	uint64_t *n;

	for (s = f->symbol.v; s < f->symbol.v + f->symbol.n; s++) {
		if (!s->local)
			continue;
		n = htab_put_str(&named, s->name, NULL);
		s->local = (uint32_t)++ * n;
	}
	htab_free(&named);
}

/* Keeps functions alone, a global name of each address if it has one. What has no size goes up to
 * the next. */
static void keep_functions(struct fdata *f)
{
	struct symbol *v = f->symbol.v;
	size_t i, n = 0;

	for (i = 0; i < f->symbol.n; i++) {
		if (!v[i].code)
			continue;
		if (n && v[n - 1].address == v[i].address) {
			if (v[n - 1].local && !v[i].local)
				v[n - 1] = v[i];
			continue;
		}
		if (n && v[n - 1].end == v[n - 1].address)
			v[n - 1].end = v[i].address;
		v[n++] = v[i];
	}
	f->symbol.n = n;
}

static int read_symbols(struct fdata *f, struct err *e)
{
	if (image_read(&f->image, f->a.module.path, true, e))
		return -1;
	add_symbols(f);
	vec_sort(&f->symbol, by_address);
	number_locals(f);
	keep_functions(f);
	if (!f->symbol.n)
		return err_set(e,
		    "%s: has no symbols, by which fdata names its code: format "
		    "preaggregated needs none",
		    f->a.module.path);
	return 0;
}

/* Puts the place of an address, with a blank after it; false when no function is there. */
static bool put_place(struct buf *out, const struct fdata *f, uint64_t address)
{
	const struct symbol *v = f->symbol.v;
	size_t i = partition_point(0, f->symbol.n, k, v[k].address <= address);

	if (address == ADDRESS_OUTSIDE) {
		buf_str(out, "0 [unknown] 0 ");
		return true;
	}
	if (!i-- || address >= v[i].end)
		return false;
	buf_printf(out, "1 %s", v[i].name);
	if (v[i].local)
		buf_printf(out, "/%u", v[i].local);
	buf_printf(out, " %llx ", (unsigned long long)(address - v[i].address));
	return true;
}

static void put_branches(struct buf *out, const struct fdata *f)
{
	const struct address_pair *b = f->a.branch.v;
	size_t start;

	for (; b < f->a.branch.v + f->a.branch.n; b++) {
		start = out->n;
		if (put_place(out, f, b->from) && put_place(out, f, b->to))
			buf_printf(out, "%llu %llu\n", (unsigned long long)b->mispredicted,
			    (unsigned long long)b->n);
		else
			out->n = start;
	}
}

static void put_samples(struct buf *out, const struct fdata *f, const struct recording *r)
{
	const struct address_count *s = f->a.sample.v;
	size_t i;

	buf_str(out, "no_lbr");
	for (i = 0; i < r->event.n; i++) {
		buf_char(out, ' ');
		text_put(out, r->event.v[i].name, ' ', '_');
	}
	buf_char(out, '\n');
	for (; s < f->a.sample.v + f->a.sample.n; s++)
		if (put_place(out, f, s->address))
			buf_printf(out, "%llu\n", (unsigned long long)s->n);
}

int write_fdata(
    const struct recording *r, const struct out_options *o, struct buf *out, struct err *e)
{
	struct fdata f = {0};
	int status = addresses_read(&f.a, r, o, e);

	if (!status && !f.a.branch.n && !f.a.sample.n)
		status =
		    err_set(e, "%s: neither branches nor samples are in its code", f.a.module.path);
	if (!status)
		status = read_symbols(&f, e);
	if (!status && f.a.branch.n)
		put_branches(out, &f);
	else if (!status)
		put_samples(out, &f, r);
	addresses_free(&f.a);
	vec_free(&f.symbol);
	image_free(&f.image);
	return status;
}
