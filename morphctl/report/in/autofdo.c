/*
 * The text that create_gcov and create_llvm_prof read (--profiler=text): three lists, each its
 *length in decimal and so many lines.
 *
 *	FROM-TO:COUNT     straight-line code from its first to its last instruction
 *	ADDR:COUNT        samples
 *	FROM->TO:COUNT    branches taken
 *
 * Addresses are hexadecimal and those of the ELF file. Blank lines and comments (#) are passed
 *over.
 */
#include "morphctl/report/in/module.h"

#include <string.h>

struct reader {
	struct lines l;
	struct module m;
	struct recording *r;
	uint32_t event;
};

/* The rest of the line up to a separator, or to its end, as an address. */
static bool address(struct lines *l, const char *separator, uint64_t *v)
{
	struct word head;

	return word_split(&l->rest, separator, &head) && word_hex(head, v);
}

static bool last_count(struct lines *l, uint64_t *n)
{
	struct word w;

	return lines_word(l, &w) && word_decimal(w, n) && lines_end(l);
}

static bool range(struct reader *x)
{
	uint64_t from, to, n;
	uint32_t a, b;

	if (!address(&x->l, "-", &from) || !address(&x->l, ":", &to) || !last_count(&x->l, &n))
		return false;
	a = module_offset(&x->m, x->r, from);
	b = module_offset(&x->m, x->r, to);
	if (n && from <= to && a != RECORDING_NONE && b != RECORDING_NONE)
		recording_range(x->r, a, b, n);
	return true;
}

static bool sample(struct reader *x)
{
	struct recording_sample s = {.event = x->event, .task = RECORDING_NONE};
	uint64_t addr;
	uint32_t at;

	if (!address(&x->l, ":", &addr) || !last_count(&x->l, &s.n))
		return false;
	at = module_offset(&x->m, x->r, addr);
	if (!s.n || at == RECORDING_NONE)
		return true;
	s.period = s.n;
	s.stack = recording_stack(x->r, RECORDING_NONE, at);
	recording_sample(x->r, &s);
	return true;
}

static bool branch(struct reader *x)
{
	uint64_t from, to, n;
	uint32_t a, b;

	if (!address(&x->l, "->", &from) || !address(&x->l, ":", &to) || !last_count(&x->l, &n))
		return false;
	a = module_offset(&x->m, x->r, from);
	b = module_offset(&x->m, x->r, to);
	if (n && (a != RECORDING_NONE || b != RECORDING_NONE))
		recording_branch(x->r, a, b, n, 0);
	return true;
}

static int list(struct reader *x, bool (*one)(struct reader *), const char *form, struct err *e)
{
	uint64_t n;

	if (!lines_next_full(&x->l))
		return lines_bad(&x->l, e, "the file ends before the length of a list");
	if (!last_count(&x->l, &n))
		return lines_bad(&x->l, e, "the length of a list is no number");
	for (; n; n--) {
		if (!lines_next_full(&x->l))
			return lines_bad(&x->l, e, "the file ends within a list");
		if (!one(x))
			return lines_bad(&x->l, e, form);
	}
	return 0;
}

static int read_autofdo(
    struct recording *r, const struct in_file *f, const struct in_options *o, struct err *e)
{
	struct reader x = {.l = {.f = f}, .r = r};
	int result;

	if (module_open(&x.m, r, f, o, e))
		return -1;
	x.event = recording_event(r, "samples", "count");
	result = list(&x, range, "not FROM-TO:COUNT", e) || list(&x, sample, "not ADDR:COUNT", e) ||
			 list(&x, branch, "not FROM->TO:COUNT", e)
		     ? -1
		     : 0;
	module_free(&x.m);
	return result;
}

/* A number alone, and a line that fits the first list that is not empty. */
static bool is_autofdo(const struct in_file *f)
{
	struct lines l = {.f = f};
	uint64_t n = 0, v;
	unsigned i;

	for (i = 0; i < 3 && !n; i++)
		if (!lines_next_full(&l) || !last_count(&l, &n))
			return false;
	if (!n)
		return !lines_next_full(&l);
	if (!lines_next_full(&l) || memchr(l.rest.s, ' ', l.rest.n))
		return false;
	if (i == 2)
		return address(&l, ":", &v);
	return address(&l, i == 1 ? "-" : "->", &v) && address(&l, ":", &v);
}

const struct in_format in_autofdo = {"autofdo",
    "text of create_gcov and create_llvm_prof (needs --program)", is_autofdo, read_autofdo};
