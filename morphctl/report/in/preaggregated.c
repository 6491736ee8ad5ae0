/*
 * Branch records that were added up, for perf2bolt -pa (BOLT's DataAggregator.h), a line each:
 *
 *	B FROM TO COUNT MISPREDICTED    branch
 *	F FROM TO COUNT                 straight-line code; also f, r: entered from elsewhere
 *	T FROM TO END COUNT             branch, and straight-line code from TO to END; also R: a
 *return S ADDR COUNT                    samples E EVENT                         the event of the
 *samples that follow
 *
 * Addresses are [BUILD-ID:]HEX, those of the ELF file; X is an unknown build. Other builds than the
 * module's are nowhere. COUNT is decimal.
 */
#include "morphctl/report/in/module.h"

#include <string.h>

struct kind {
	char letter;
	unsigned addresses, counts;
};

static const struct kind kinds[] = {{'B', 2, 2}, {'F', 2, 1}, {'f', 2, 1}, {'r', 2, 1}, {'T', 3, 1},
    {'R', 3, 1}, {'S', 1, 1}, {'E', 0, 0}};

struct line {
	char letter;
	struct word build[3], event;
	uint64_t addr[3], count[2];
};

struct reader {
	struct module m;
	struct recording *r;
	char id[BUILD_ID_HEX];
	uint32_t event;
};

static bool get_address(struct lines *l, struct word *build, uint64_t *v)
{
	struct word w;

	*build = (struct word){0};
	if (!lines_word(l, &w))
		return false;
	word_split(&w, ":", build);
	return word_hex(w, v);
}

static bool get_line(struct lines *l, struct line *out)
{
	const struct kind *k = NULL;
	struct word w;
	unsigned i;

	if (!lines_word(l, &w) || w.n != 1)
		return false;
	for (i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].letter == *w.s)
			k = &kinds[i];
	if (!k)
		return false;
	*out = (struct line){.letter = k->letter};
	for (i = 0; i < k->addresses; i++)
		if (!get_address(l, &out->build[i], &out->addr[i]))
			return false;
	for (i = 0; i < k->counts; i++)
		if (!lines_word(l, &w) || !word_decimal(w, &out->count[i]))
			return false;
	if (k->letter == 'E' && !lines_word(l, &out->event))
		return false;
	return lines_end(l);
}

static uint32_t location(struct reader *x, const struct line *l, unsigned i)
{
	if (l->build[i].n && !word_is(l->build[i], x->id))
		return RECORDING_NONE;
	return module_location(&x->m, x->r, l->addr[i]);
}

static void add_branch(struct reader *x, uint32_t from, uint32_t to, const struct line *l)
{
	if (from != RECORDING_NONE || to != RECORDING_NONE)
		recording_branch(x->r, from, to, l->count[0], l->count[1]);
}

static void add_range(struct reader *x, uint32_t from, uint32_t to, uint64_t n)
{
	const struct recording_location *l = x->r->location.v;

	if (from != RECORDING_NONE && to != RECORDING_NONE && l[from].offset <= l[to].offset)
		recording_range(x->r, from, to, n);
}

static void add_samples(struct reader *x, uint32_t at, uint64_t n)
{
	struct recording_sample s = {
	    .event = x->event, .task = RECORDING_NONE, .n = n, .period = n};

	if (at == RECORDING_NONE)
		return;
	if (s.event == RECORDING_NONE)
		s.event = x->event = recording_event(x->r, "samples", "count");
	s.stack = recording_stack(x->r, RECORDING_NONE, at);
	recording_sample(x->r, &s);
}

static void set_event(struct reader *x, struct word name)
{
	struct buf b = {0};

	buf_add(&b, name.s, name.n);
	x->event = recording_event(x->r, buf_cstr(&b), "count");
	buf_free(&b);
}

static void add_line(struct reader *x, const struct line *l)
{
	uint32_t at[3], i;

	if (l->letter == 'E')
		set_event(x, l->event);
	if (!l->count[0])
		return;
	for (i = 0; i < 3; i++)
		at[i] = location(x, l, i);
	switch (l->letter) {
	case 'S':
		add_samples(x, at[0], l->count[0]);
		break;
	case 'B':
		add_branch(x, at[0], at[1], l);
		break;
	case 'T':
	case 'R':
		add_branch(x, at[0], at[1], l);
		add_range(x, at[1], at[2], l->count[0]);
		break;
	default:
		add_range(x, at[0], at[1], l->count[0]);
	}
}

static int read_preaggregated(
    struct recording *r, const struct in_file *f, const struct in_options *o, struct err *e)
{
	struct reader x = {.r = r, .event = RECORDING_NONE};
	struct lines l = {.f = f};
	struct line line;
	int result = 0;

	if (module_open(&x.m, r, f, o, e))
		return -1;
	build_id_hex(&x.m.image.id, x.id);
	while (!result && lines_next_full(&l)) {
		if (get_line(&l, &line))
			add_line(&x, &line);
		else
			result = lines_bad(&l, e, "not B, F, f, r, T, R, S or E with its numbers");
	}
	module_free(&x.m);
	return result;
}

static bool is_preaggregated(const struct in_file *f)
{
	struct lines l = {.f = f};
	struct line line;

	return lines_next_full(&l) && get_line(&l, &line);
}

const struct in_format in_preaggregated = {"preaggregated",
    "branch records for perf2bolt -pa (needs --program)", is_preaggregated, read_preaggregated};
