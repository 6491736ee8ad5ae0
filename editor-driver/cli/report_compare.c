#include "editor-driver/cli/cli.h"

#include <stdio.h>

enum { KEY_SHOWN = 12 /* digits */ };

/* ---- JSON ---- */

static json_t *agreement_json(const struct agreement *a)
{
	return json_pack(
	    "{s:f, s:f, s:f}", "work", a->work, "blocks", a->blocks, "edges", a->edges);
}

static json_t *hot_json(const struct comparison *c)
{
	json_t *list = json_array();
	const struct compared_hot *h;

	for (h = c->hot; h < c->hot + COMPARED_HOT; h++)
		json_array_append_new(
		    list, json_pack("{s:f, s:[I, I], s:I, s:[I, I], s:f}", "share", h->share,
			      "blocks", (json_int_t)h->blocks[0], (json_int_t)h->blocks[1], "both",
			      (json_int_t)h->both, "bytes", (json_int_t)h->bytes[0],
			      (json_int_t)h->bytes[1], "held", h->held));
	return list;
}

static json_t *func_json(const struct compared_func *f)
{
	char hex[HASH_HEX];

	return json_pack("{s:o, s:s, s:[f, f], s:o}", "function",
	    editanswer_text_json(f->func->name), "key", hash_hex(&f->func->key, hex), "share",
	    f->share[0], f->share[1], "overlap", agreement_json(&f->in));
}

json_t *compare_json(const struct job *j)
{
	const struct comparison *c = &j->comparison;
	json_t *funcs = json_array();
	size_t i;

	for (i = 0; i < c->func.n && i < j->o->top; i++)
		json_array_append_new(funcs, func_json(&c->func.v[i]));
	return json_pack("{s:b, s:{s:o, s:o}, s:o, s:{s:o, s:o, s:o}, s:I, s:o}", "ok", 1,
	    "overlap", "whole", agreement_json(&c->whole), "within", agreement_json(&c->within),
	    "hot", hot_json(c), "layouts", "a", score_json_part(&c->a), "b", score_json_part(&c->b),
	    "original", score_json_part(&c->original), "functions", (json_int_t)c->func.n, "top",
	    funcs);
}

/* ---- text ---- */

static void print_profile(const char *name, const struct counts *c)
{
	double unit = c->form == COUNTS_SAMPLES ? SAMPLE_ONE : 1;

	printf("%-12s %.10g %s in %llu lines, %.1f %% of them in known blocks\n", name,
	    (double)c->total / unit, c->form == COUNTS_SAMPLES ? "samples" : "executions",
	    (unsigned long long)c->lines, c->total ? 100 * (double)c->used / (double)c->total : 0);
}

static void print_agreement(const char *name, const struct agreement *a)
{
	printf("%-28s %12.1f%% %12.1f%% %12.1f%%\n", name, 100 * a->work, 100 * a->blocks,
	    100 * a->edges);
}

static void print_hot(const struct compared_hot *h)
{
	printf("%11.0f%% %8zu %8zu %8zu %9llu %9llu %8.1f%%\n", 100 * h->share, h->blocks[0],
	    h->blocks[1], h->both, (unsigned long long)h->bytes[0], (unsigned long long)h->bytes[1],
	    100 * h->held);
}

static void print_layout(const char *name, const struct score *s, const struct score *original)
{
	printf("%-12s %8.3f %8.1f%% %8llu %10.1f%%\n", name,
	    s->total > 0 ? s->exttsp / s->total : 0, s->total > 0 ? 100 * s->taken / s->total : 0,
	    (unsigned long long)s->lines95, 100 * fe_gain(&original->cost, &s->cost));
}

/* How many of the functions have each name. */
static void count_names(const struct comparison *c, struct htab *names)
{
	size_t i;

	for (i = 0; i < c->func.n; i++)
		++*htab_put_str(names, c->func.v[i].func->name, NULL);
}

/* With its key, as in profiles, where the name is ambiguous. */
static void print_func(const struct compared_func *f, const struct htab *names)
{
	const char *name = f->func->name;
	char hex[HASH_HEX];

	printf("%6.2f%% %6.2f%% %6.1f%% %6.1f%% %6.1f%%  %s", 100 * f->share[0], 100 * f->share[1],
	    100 * f->in.work, 100 * f->in.blocks, 100 * f->in.edges, name);
	if (*htab_get_str(names, name) > 1)
		printf("#%.*s", KEY_SHOWN, hash_hex(&f->func->key, hex));
	printf("\n");
}

void compare_text(const struct job *j)
{
	const struct comparison *c = &j->comparison;
	unsigned top = j->o->top;
	struct htab names = {0};
	size_t i;

	print_profile("A", &c->counts[0]);
	print_profile("B", &c->counts[1]);
	printf("\n%-28s %13s %13s %13s\n", "overlap", "instructions", "executions", "edges");
	print_agreement("whole program", &c->whole);
	print_agreement("inside functions, mean", &c->within);
	printf("\n%-12s %8s %8s %8s %9s %9s %9s\n", "hottest", "A blocks", "B blocks", "in both",
	    "A bytes", "B bytes", "B in A's");
	for (i = 0; i < COMPARED_HOT; i++)
		print_hot(&c->hot[i]);
	printf("\n%-12s %8s %9s %8s %11s\n", "under B", "ext-TSP", "taken", "lines95", "gain");
	print_layout("A's layout", &c->a, &c->original);
	print_layout("B's layout", &c->b, &c->original);
	print_layout("original's", &c->original, &c->original);
	if (top && c->func.n)
		printf("\nshare A share B   work  blocks   edges  function\n");
	count_names(c, &names);
	for (i = 0; i < c->func.n && i < top; i++)
		print_func(&c->func.v[i], &names);
	htab_free(&names);
}
