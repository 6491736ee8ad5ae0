#include "editor-driver/profile/counts.h"
#include "common/sort.h"
#include "common/publish.h"
#include "editor/cfg.h"

#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };
/* Keeps every sum of a whole file, times SAMPLE_ONE, far from overflow. */
static const uint64_t SUM_MAX = (uint64_t)1 << 60;

/* Functions of one name, chained by next[] in artifact order. */
struct names {
	struct htab first; /* name -> index + 1 */
	int64_t *next;
};

static void names_init(struct names *t, const struct art_func *func, size_t nfunc)
{
	uint64_t *head;
	bool fresh;
	size_t i;

	t->first = (struct htab){0};
	t->next = xcalloc(nfunc, sizeof *t->next);
	for (i = nfunc; i-- > 0;) {
		head = htab_put_str(&t->first, func[i].name, &fresh);
		t->next[i] = fresh ? NONE : (int64_t)*head - 1;
		*head = i + 1;
	}
}

static void names_free(struct names *t)
{
	htab_free(&t->first);
	free(t->next);
}

static bool key_matches(const struct art_func *f, const struct profiletext_name *name)
{
	char hex[HASH_HEX];

	return !name->key || !strncasecmp(hash_hex(&f->key, hex), name->key, name->nkey);
}

static void add(uint64_t *sum, uint64_t v)
{
	*sum = *sum > SUM_MAX - v ? SUM_MAX : *sum + v;
}

/* The first of the functions that a name means, all of one key; or NONE and
 * counted in c why not. */
static int64_t resolve(struct counts *c, const struct names *t, const struct art_func *func,
    const struct profiletext_name *name)
{
	const uint64_t *head = htab_get(&t->first, name->p, name->n);
	int64_t i, first = NONE;

	for (i = head ? (int64_t)*head - 1 : NONE; i != NONE; i = t->next[i]) {
		if (!key_matches(&func[i], name))
			continue;
		if (first == NONE)
			first = i;
		if (!hash_equal(&func[i].key, &func[first].key) ||
		    func[i].nblock != func[first].nblock) {
			c->ambiguous++;
			return NONE;
		}
	}
	c->unknown += first == NONE;
	return first;
}

/* Makes all functions that the name means share one array. */
static void share(struct counts *c, const struct names *t, const struct art_func *func,
    const struct profiletext_name *name, int64_t first)
{
	int64_t i;

	if (c->block[first])
		return;
	c->block[first] = arena_array(&c->mem, func[first].nblock, sizeof(uint64_t));
	for (i = first; i != NONE; i = t->next[i])
		if (key_matches(&func[i], name)) {
			c->block[i] = c->block[first];
			c->first[i] = (uint32_t)first;
		}
}

/* Thousandths become fixed point. */
static uint64_t value_of(const struct counts *c, const struct profiletext_line *l)
{
	return c->form == COUNTS_SAMPLES ? (l->value * SAMPLE_ONE + 500) / 1000 : l->value;
}

static void take_line(struct counts *c, const struct names *t, const struct art_func *func,
    const struct profiletext_line *l)
{
	int64_t f = resolve(c, t, func, &l->func), callee = NONE;
	struct counts_flow flow = {(uint32_t)f, l->block, l->block2, value_of(c, l)};
	bool edge = l->kind == PROFILETEXT_EDGE || l->kind == PROFILETEXT_PREDECESSOR;

	c->lines++;
	if (l->kind == PROFILETEXT_BLOCK)
		add(&c->total, flow.value);
	if (f == NONE)
		return;
	if (l->block >= func[f].nblock || (edge && l->block2 >= func[f].nblock)) {
		c->no_block++;
		return;
	}
	if (l->kind == PROFILETEXT_CALL && (callee = resolve(c, t, func, &l->callee)) == NONE)
		return;
	share(c, t, func, &l->func, f);
	switch (l->kind) {
	case PROFILETEXT_BLOCK:
		add(&c->block[f][l->block], flow.value);
		add(&c->used, flow.value);
		break;
	case PROFILETEXT_EDGE:
		vec_push(&c->flow[COUNTS_EDGES], flow);
		break;
	case PROFILETEXT_PREDECESSOR:
		flow.block = l->block2;
		flow.to = l->block;
		vec_push(&c->flow[COUNTS_PRED], flow);
		break;
	case PROFILETEXT_CALL:
		flow.to = (uint32_t)callee;
		vec_push(&c->flow[COUNTS_CALLS], flow);
	}
}

static int by_place(const void *pa, const void *pb)
{
	const struct counts_flow *a = pa, *b = pb;

	return ORDER(a->func, b->func) ?: ORDER(a->block, b->block) ?: ORDER(a->to, b->to);
}

/* Sorts and adds up; returns how many facts are left. */
static size_t sort_and_add(struct counts_flow *v, size_t n)
{
	size_t i, last = 0;

	if (!n)
		return 0;
	qsort(v, n, sizeof *v, by_place);
	for (i = 1; i < n; i++)
		if (by_place(&v[last], &v[i]))
			v[++last] = v[i];
		else
			add(&v[last].value, v[i].value);
	return last + 1;
}

/* A block that was only counted by its edges was executed as often as they. */
static void count_by_edges(struct counts *c, const struct art_func *func)
{
	const struct counts_flow *edge = c->flow[COUNTS_EDGES].v, *v;
	uint64_t *in, *out;
	size_t n = c->flow[COUNTS_EDGES].n, i, end, f;
	uint32_t b;

	for (i = 0; i < n; i = end) {
		f = edge[i].func;
		in = xcalloc(2 * (size_t)func[f].nblock, sizeof *in);
		out = in + func[f].nblock;
		for (end = i; end < n && edge[end].func == f; end++) {
			v = &edge[end];
			add(&out[v->block], v->value);
			add(&in[v->to], v->value);
		}
		for (b = 0; b < func[f].nblock; b++)
			if (!c->block[f][b])
				c->block[f][b] = in[b] > out[b] ? in[b] : out[b];
		free(in);
	}
}

int counts_parse(const char *text, size_t n, const char *name, enum counts_form form,
    const struct art_func *func, size_t nfunc, struct counts *out, struct err *e)
{
	struct profiletext_reader r = {form, text, text + n, 0};
	struct profiletext_line l;
	struct names names;
	int k, rc;

	*out = (struct counts){.form = form};
	out->block = arena_array(&out->mem, nfunc, sizeof *out->block);
	out->first = arena_array(&out->mem, nfunc, sizeof *out->first);
	names_init(&names, func, nfunc);
	while ((rc = profiletext_read(&r, &l, e)) > 0)
		take_line(out, &names, func, &l);
	if (rc)
		err_wrap(e, "%s:%zu", name, r.line);
	names_free(&names);
	for (k = 0; k < COUNTS_FLOWS; k++)
		out->flow[k].n = sort_and_add(out->flow[k].v, out->flow[k].n);
	if (form == COUNTS_EXECUTIONS)
		count_by_edges(out, func);
	return rc;
}

int counts_read(const char *path, enum counts_form form, const struct art_func *func, size_t nfunc,
    struct counts *out, struct err *e)
{
	struct buf text = {0};
	int rc;

	*out = (struct counts){.form = form};
	rc = file_read(path, 0, &text, e);
	if (!rc)
		rc = counts_parse(text.p, text.n, path, form, func, nfunc, out, e);
	buf_free(&text);
	return rc;
}

void counts_free(struct counts *c)
{
	int k;

	arena_free(&c->mem);
	for (k = 0; k < COUNTS_FLOWS; k++)
		vec_free(&c->flow[k]);
	*c = (struct counts){0};
}

size_t counts_flows(
    const struct counts *c, size_t i, enum counts_flows kind, const struct counts_flow **flow)
{
	const struct counts_flow *v = c->flow[kind].v;
	size_t n = c->flow[kind].n, lo, end;

	if (!c->block[i])
		return 0;
	lo = partition_point(0, n, k, v[k].func < c->first[i]);
	end = partition_point(lo, n, k, v[k].func == c->first[i]);
	*flow = n ? v + lo : NULL;
	return end - lo;
}

bool counts_stands(const struct counts *c, size_t i)
{
	return c->block[i] && c->first[i] == i;
}

int counts_named(
    const struct art_func *func, size_t nfunc, const char *text, size_t *first, struct err *e)
{
	enum { KEY_SHOWN = 12 /* digits */ };
	char hex[2][HASH_HEX];
	struct profiletext_name name;
	size_t i;

	profiletext_read_name(text, text + strlen(text), &name);
	for (*first = nfunc, i = 0; i < nfunc; i++) {
		if (strlen(func[i].name) != name.n || memcmp(func[i].name, name.p, name.n) ||
		    !key_matches(&func[i], &name))
			continue;
		if (*first == nfunc)
			*first = i;
		if (!hash_equal(&func[i].key, &func[*first].key))
			return err_set(e,
			    "%s: functions with different keys; write one of %.*s#%.*s, %.*s#%.*s",
			    text, (int)name.n, name.p, KEY_SHOWN,
			    hash_hex(&func[*first].key, hex[0]), (int)name.n, name.p, KEY_SHOWN,
			    hash_hex(&func[i].key, hex[1]));
	}
	return *first < nfunc ? 0 : err_set(e, "%s: the program has no such function", text);
}

uint64_t counts_weight(const struct counts *c, const struct art_func *func, size_t i)
{
	uint64_t w, sum = 0;
	uint32_t b;

	for (b = 0; c->block && c->block[i] && b < func[i].nblock; b++) {
		w = c->block[i][b];
		if (c->form == COUNTS_EXECUTIONS && __builtin_mul_overflow(w, func[i].insns[b], &w))
			w = SUM_MAX;
		add(&sum, w < SUM_MAX ? w : SUM_MAX);
	}
	return sum;
}
