#include "common/sort.h"
#include "morphctl/report/symbols/functions.h"
#include "morphctl/report/symbols/readers.h"
#include "morphctl/report/symbols/answer.h"
#include "morphctl/report/symbols/scopes.h"
#include "morphctl/report/symbols/symbols.h"

#include <string.h>

/* What is known of one file, by virtual address in ascending order. Where nothing is, a name is
 * NULL, or the innermost scope SCOPE_NONE. */
struct names {
	struct program p;
	struct recording *r;
	uint32_t *slot; /* of each location in the following */
	struct function *function;
	struct scopes scopes;
	struct htab demangled; /* linkage name -> const char * */
};

static const char *demangled(struct names *k, const char *linkage)
{
	bool fresh;
	uint64_t *at = htab_put_str(&k->demangled, linkage, &fresh);

	if (fresh)
		*at = (uintptr_t)symbols_demangle(linkage);
	return (const char *)(uintptr_t)*at;
}

/* Names, and where the source is: a function that is made of several files (#include, #line) is
 * one for each, and its definition is in one of them. */
static void describe(struct names *k, uint32_t scope, const char *symbol, const char *source,
    struct recording_function *f)
{
	const char *name = NULL;
	const char *linkage = scope == SCOPE_NONE ? NULL : scopes_name(&k->scopes, scope, &name);
	struct scope_line at = {0};

	linkage = symbol ? symbol : linkage;
	f->name = linkage ? demangled(k, linkage) : name ? name : "[unknown]";
	f->linkage = linkage ? linkage : f->name;
	if (scope != SCOPE_NONE)
		at = scopes_definition(&k->scopes, scope);
	f->source = source ? source : at.source;
	f->line = at.source && f->source && strcmp(f->source, at.source) == 0 ? at.line : 0;
}

/* Where the function that has the code begins, and its size. */
static void set_extent(
    const struct names *k, const struct function *f, uint32_t scope, struct recording_function *to)
{
	uint64_t start = f->start, size = f->size;

	to->file = RECORDING_NONE;
	to->start = UINT64_MAX;
	to->size = 0;
	if (!f->name && (scope == SCOPE_NONE || scopes_extent(&k->scopes, scope, &start, &size)))
		return;
	to->start = program_offset(&k->p, start);
	to->size = to->start == UINT64_MAX ? 0 : size;
}

/* The frames at a slot, from the innermost scope outwards. */
static uint32_t frames(struct names *k, uint32_t i, struct recording_frame frame[ANSWER_DEPTH])
{
	const struct function *fn = &k->function[i];
	uint32_t scope = k->p.dwarf ? k->scopes.innermost[i] : SCOPE_NONE, n = 0;
	struct scope_line at = k->p.dwarf ? k->scopes.line[i] : (struct scope_line){0};
	struct recording_function f;
	uint32_t parent;

	if (scope == SCOPE_NONE && !fn->name)
		return 0;
	set_extent(k, fn, scope, &f);
	do {
		parent = scope == SCOPE_NONE ? SCOPE_NONE : k->scopes.v.v[scope].parent;
		describe(k, scope, parent == SCOPE_NONE ? fn->name : NULL, at.source, &f);
		frame[n++] = (struct recording_frame){
		    recording_function(k->r, &f), at.line, at.discriminator};
		if (parent != SCOPE_NONE)
			at = scopes_call(&k->scopes, scope);
		scope = parent;
	} while (scope != SCOPE_NONE && n < ANSWER_DEPTH);
	return n;
}

struct address {
	uint64_t vaddr;
	uint32_t location;
};

static int by_vaddr(const void *a, const void *b)
{
	const struct address *x = a, *y = b;

	return ORDER(x->vaddr, y->vaddr) ?: ORDER(x->location, y->location);
}

/* Segments may come in another order in memory than in the file. */
static uint64_t *addresses(struct names *k, const struct request *q)
{
	struct address *a = xmalloc(q->n * sizeof *a + 1);
	uint64_t *vaddr = xmalloc(q->n * sizeof *vaddr + 1);
	uint32_t i;

	for (i = 0; i < q->n; i++)
		a[i] = (struct address){program_address(&k->p, q->at[i]), i};
	qsort(a, q->n, sizeof *a, by_vaddr);
	for (i = 0; i < q->n; i++) {
		vaddr[i] = a[i].vaddr;
		k->slot[a[i].location] = i;
	}
	free(a);
	return vaddr;
}

int read_elf(const struct request *q, struct recording *r, struct err *e)
{
	struct names k = {.r = r,
	    .slot = xmalloc(q->n * sizeof *k.slot + 1),
	    .function = xcalloc(q->n + 1, sizeof *k.function)};
	struct recording_frame frame[ANSWER_DEPTH];
	uint64_t *vaddr;
	uint32_t i;

	if (program_open(&k.p, q, e))
		return -1;
	vaddr = addresses(&k, q);
	functions_find(&k.p, vaddr, q->n, k.function);
	if (k.p.dwarf)
		scopes_find(&k.scopes, k.p.dwarf, vaddr, q->n);
	for (i = 0; i < q->n; i++)
		recording_resolve(r, recording_location(r, RECORDING_NONE, q->at[i]), frame,
		    frames(&k, k.slot[i], frame));
	return 0;
}
