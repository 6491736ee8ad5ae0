/*
 * BOLT's profiles (bolt/include/bolt/Profile/DataReader.h), a line each:
 *
 *	LOCATION LOCATION MISPREDICTED COUNT    branch; LOCATION is KIND NAME OFFSET
 *	LOCATION COUNT                          samples, after a first line "no_lbr [EVENT…]"
 *	LOCATION LOCATION COUNT                 a load; these are passed over
 *
 * KIND 0: NAME is another file, or unknown; 1: a global function, 2: a local one; 3, 4, 5 are
 * the same of loads. OFFSET, hexadecimal, is in the function. A blank in NAME is "\ ".
 */
#include "morphctl/report/in/module.h"

#include <string.h>

struct reader {
	struct lines l;
	struct module m;
	struct recording *r;
	bool samples; /* no_lbr */
	uint32_t event;
	uint64_t known, unknown; /* functions named that the module has, or has not */
};

struct place {
	uint64_t kind, offset;
	struct word name;
};

/* A word that ends at a blank without a backslash. */
static bool get_name(struct lines *l, struct word *w)
{
	struct word more;

	if (!lines_word(l, w))
		return false;
	while (w->s[w->n - 1] == '\\' && lines_word(l, &more))
		w->n = (size_t)(more.s + more.n - w->s);
	return true;
}

static bool get_place(struct lines *l, struct place *p)
{
	struct word kind, offset;

	return lines_word(l, &kind) && word_decimal(kind, &p->kind) && p->kind <= 5 &&
	       get_name(l, &p->name) && lines_word(l, &offset) && word_hex(offset, &p->offset);
}

static bool get_counts(struct lines *l, uint64_t *count, unsigned n)
{
	struct word w;

	while (n--)
		if (!lines_word(l, &w) || !word_decimal(w, count++))
			return false;
	return lines_end(l);
}

static uint32_t location(struct reader *x, const struct place *p)
{
	const struct image_symbol *s;
	struct buf name = {0};
	size_t i;

	if (p->kind != 1 && p->kind != 2)
		return RECORDING_NONE;
	for (i = 0; i < p->name.n; i++)
		if (p->name.s[i] != '\\')
			buf_char(&name, p->name.s[i]);
	s = module_find(&x->m, (struct word){buf_cstr(&name), name.n});
	buf_free(&name);
	*(s ? &x->known : &x->unknown) += 1;
	return s ? module_location(&x->m, x->r, s->value + p->offset) : RECORDING_NONE;
}

static bool add_branch(struct reader *x, const struct place *from)
{
	struct place to;
	uint64_t count[2];
	uint32_t a, b;

	if (!get_place(&x->l, &to))
		return false;
	if (from->kind > 2 || to.kind > 2)
		return get_counts(&x->l, count, 1);
	if (!get_counts(&x->l, count, 2))
		return false;
	a = location(x, from);
	b = location(x, &to);
	if (count[1] && (a != RECORDING_NONE || b != RECORDING_NONE))
		recording_branch(x->r, a, b, count[1], count[0]);
	return true;
}

static bool add_samples(struct reader *x, const struct place *at)
{
	struct recording_sample s = {.event = x->event, .task = RECORDING_NONE};
	uint32_t where;

	if (!get_counts(&x->l, &s.n, 1))
		return false;
	where = location(x, at);
	if (!s.n || where == RECORDING_NONE)
		return true;
	s.period = s.n;
	s.stack = recording_stack(x->r, RECORDING_NONE, where);
	recording_sample(x->r, &s);
	return true;
}

/* The first lines say what the others are; true: this is one. */
static bool mode_line(struct lines *l, bool *samples, struct word *event)
{
	struct lines copy = *l;
	struct word w;

	if (!lines_word(&copy, &w) || (!word_is(w, "no_lbr") && !word_is(w, "boltedcollection")))
		return false;
	if (word_is(w, "no_lbr")) {
		*samples = true;
		lines_word(&copy, event);
	}
	return true;
}

static uint32_t event_named(struct recording *r, struct word name)
{
	struct buf b = {0};
	uint32_t event;

	if (name.n && name.s[name.n - 1] == ':') /* as perf script prints it */
		name.n--;
	buf_add(&b, name.n ? name.s : "samples", name.n ? name.n : strlen("samples"));
	event = recording_event(r, buf_cstr(&b), "count");
	buf_free(&b);
	return event;
}

static int read_lines(struct reader *x, struct err *e)
{
	struct word event = {0};
	bool begin = true, fits;
	struct place p;

	while (lines_next_full(&x->l)) {
		if (begin && mode_line(&x->l, &x->samples, &event))
			continue;
		if (begin && x->samples)
			x->event = event_named(x->r, event);
		begin = false;
		fits =
		    get_place(&x->l, &p) && (x->samples ? add_samples(x, &p) : add_branch(x, &p));
		if (!fits)
			return lines_bad(&x->l, e,
			    x->samples ? "not KIND NAME OFFSET COUNT"
				       : "not KIND NAME OFFSET, twice, MISPREDICTED COUNT");
	}
	return 0;
}

static int read_fdata(
    struct recording *r, const struct in_file *f, const struct in_options *o, struct err *e)
{
	struct reader x = {.l = {.f = f}, .r = r};
	int result = -1;

	if (!module_open_symbols(&x.m, r, f, o, e)) {
		result = read_lines(&x, e);
		if (!result && x.unknown && !x.known)
			result = err_set(
			    e, "%s: no function that it names is in %s", f->name, o->module);
	}
	module_free(&x.m);
	return result;
}

static bool is_fdata(const struct in_file *f)
{
	struct lines l = {.f = f};
	struct word event;
	struct place p;
	bool samples = false;

	while (lines_next_full(&l) && mode_line(&l, &samples, &event))
		;
	if (samples)
		return l.next == f->n || get_place(&l, &p);
	return get_place(&l, &p) && get_place(&l, &p);
}

const struct in_format in_fdata = {
    "fdata", "profile of perf2bolt (needs --program)", is_fdata, read_fdata};
