#include "morphctl/report/show/rows.h"
#include "morphctl/report/show/show.h"
#include "morphctl/text/table.h"
#include "morphctl/text/words.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

/* A function with the arcs to it and from it, most time first. */
struct around {
	VEC(const struct callgraph_arc *) caller, callee;
};

enum { ARCS_SHOWN = 8 };

static int by_time(const void *a, const void *b)
{
	const struct callgraph_arc *x = *(const struct callgraph_arc *const *)a;
	const struct callgraph_arc *y = *(const struct callgraph_arc *const *)b;

	return (y->time > x->time) - (y->time < x->time) ?: (x > y) - (x < y);
}

/* Of the first n nodes, to free one by one. */
static struct around *collect(const struct callgraph *g, size_t n)
{
	struct around *around = xcalloc(n + 1, sizeof *around);
	const struct callgraph_arc *arc;
	size_t i;

	for (i = 0; i < g->arc.n; i++) {
		arc = &g->arc.v[i];
		if (arc->callee < n)
			vec_push(&around[arc->callee].caller, arc);
		if (arc->caller < n)
			vec_push(&around[arc->caller].callee, arc);
	}
	for (i = 0; i < n; i++) {
		if (around[i].caller.n)
			qsort(around[i].caller.v, around[i].caller.n, sizeof arc, by_time);
		if (around[i].callee.n)
			qsort(around[i].callee.v, around[i].callee.n, sizeof arc, by_time);
	}
	return around;
}

static void free_around(struct around *around, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		vec_free(&around[i].caller);
		vec_free(&around[i].callee);
	}
	free(around);
}

struct graph {
	const struct recording *r;
	const struct callgraph *g;
	const char *unit;
	struct arena mem;
	struct table t;
};

static const char *node_name(struct graph *p, uint32_t node, const char *before)
{
	const struct callgraph_node *n = &p->g->node.v[node];

	if (n->cycle)
		return arena_printf(&p->mem, "%s%s (cycle %u) [%u]", before,
		    rows_function(&p->mem, p->r, n->function), n->cycle, node + 1);
	return arena_printf(
	    &p->mem, "%s%s [%u]", before, rows_function(&p->mem, p->r, n->function), node + 1);
}

static void add_arc(struct graph *p, const struct callgraph_arc *arc, bool is_caller)
{
	uint32_t other = is_caller ? arc->caller : arc->callee;
	struct table_row *row =
	    table_row(&p->t, NULL, NULL, NULL, rows_amount(&p->mem, p->unit, arc->time),
		isnan(arc->calls) ? "" : words_number(&p->mem, arc->calls),
		node_name(p, other, is_caller ? "  ↑ " : "  ↓ "),
		rows_file(&p->mem, p->r, p->g->node.v[other].file));
	unsigned i;

	for (i = 0; i < p->t.ncolumn; i++)
		row->cell[i].paint = DIM;
}

static void add_node(struct graph *p, uint32_t node, const struct around *around)
{
	const struct callgraph_node *n = &p->g->node.v[node];
	struct table_row *row;
	size_t i;

	for (i = around->caller.n < ARCS_SHOWN ? around->caller.n : ARCS_SHOWN; i > 0; i--)
		add_arc(p, around->caller.v[i - 1], true);
	row = table_row(&p->t, arena_printf(&p->mem, "[%u]", node + 1),
	    words_share(&p->mem, n->total / p->g->sum), rows_amount(&p->mem, p->unit, n->self),
	    rows_amount(&p->mem, p->unit, n->total), NULL, node_name(p, node, ""),
	    rows_file(&p->mem, p->r, n->file));
	row->cell[5].paint = BOLD;
	for (i = 0; i < around->callee.n && i < ARCS_SHOWN; i++)
		add_arc(p, around->callee.v[i], false);
	table_row(&p->t, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
}

static json_t *arcs_json(struct graph *p, const struct callgraph_arc *const *arc, size_t n, bool up)
{
	json_t *list = json_array();
	uint32_t other;
	size_t i;

	for (i = 0; i < n; i++) {
		other = up ? arc[i]->caller : arc[i]->callee;
		json_array_append_new(list,
		    json_pack("{s:I, s:s, s:s, s:f, s:o}", "node", (json_int_t)other, "function",
			rows_function(&p->mem, p->r, p->g->node.v[other].function), "module",
			rows_file(&p->mem, p->r, p->g->node.v[other].file), "time", arc[i]->time,
			"calls", isnan(arc[i]->calls) ? json_null() : json_real(arc[i]->calls)));
	}
	return list;
}

static void print_json(FILE *out, struct graph *p, const struct around *around, size_t n)
{
	json_t *list = json_array(), *all;
	const struct callgraph_node *node;
	size_t i;

	for (i = 0; i < n; i++) {
		node = &p->g->node.v[i];
		json_array_append_new(list,
		    json_pack("{s:I, s:s, s:s, s:f, s:f, s:I, s:o, s:o}", "node", (json_int_t)i,
			"function", rows_function(&p->mem, p->r, node->function), "module",
			rows_file(&p->mem, p->r, node->file), "self", node->self, "total",
			node->total, "cycle", (json_int_t)node->cycle, "callers",
			arcs_json(p, around[i].caller.v, around[i].caller.n, true), "callees",
			arcs_json(p, around[i].callee.v, around[i].callee.n, false)));
	}
	all = json_pack("{s:s, s:f, s:o}", "unit", p->unit, "sum", p->g->sum, "functions", list);
	json_dumpf(all, out, JSON_INDENT(2));
	fputc('\n', out);
	json_decref(all);
}

void show_callgraph(FILE *out, const struct recording *r, const struct callgraph *g,
    const char *unit, const struct show_options *o)
{
	static const struct column column[] = {{"", LEFT}, {"TOTAL", RIGHT}, {"SELF", RIGHT},
	    {"WITH CALLEES", RIGHT}, {"CALLS", RIGHT}, {"FUNCTION", CUT_END}, {"MODULE", LEFT}};
	struct graph p = {.r = r,
	    .g = g,
	    .unit = unit,
	    .t = {.column = column, .ncolumn = sizeof column / sizeof *column, .whole = o->whole}};
	size_t n = g->node.n < o->limit ? g->node.n : o->limit, i;
	struct around *around;

	while (n && g->node.v[n - 1].total <= 0)
		n--;
	around = collect(g, n);
	if (o->json) {
		print_json(out, &p, around, n);
	} else {
		for (i = 0; i < n; i++)
			add_node(&p, (uint32_t)i, &around[i]);
		table_print(out, &p.t, table_colour());
	}
	table_free(&p.t);
	free_around(around, n);
	arena_free(&p.mem);
}
