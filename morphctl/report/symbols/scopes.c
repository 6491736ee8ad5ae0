#include "morphctl/report/symbols/scopes.h"
#include "common/sort.h"

#include <dwarf.h>

#include <string.h>

enum { DEPTH_MAX = 200 }; /* of DIEs in one another */
enum { AT_GNU_DISCRIMINATOR = 0x2136 };

/* ---- one compilation unit ---- */

struct unit {
	struct scopes *s;
	const uint64_t *vaddr;
	size_t from, to; /* the addresses that are in it */
	bool qualify;    /* names alone do not say where functions belong */
};

/* Calls fn for each run of addresses in the ranges of a DIE. */
static size_t each_range(Dwarf_Die *die, const uint64_t *vaddr, size_t from, size_t to,
    void (*fn)(size_t from, size_t to, void *arg), void *arg)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;
	size_t i, k, hits = 0;

	while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		i = partition_point(from, to, m, vaddr[m] < low);
		k = partition_point(i, to, m, vaddr[m] < high);
		if (i < k)
			fn(i, k, arg);
		hits += k - i;
	}
	return hits;
}

struct claim {
	struct scopes *s;
	uint32_t scope, parent;
	bool any;
};

static void claim(size_t from, size_t to, void *arg)
{
	struct claim *c = arg;

	for (; from < to; from++)
		if (c->s->innermost[from] == c->parent) {
			c->s->innermost[from] = c->scope;
			c->any = true;
		}
}

/* A scope of the addresses that have its parent as innermost one so far; SCOPE_NONE: none has. */
static uint32_t add_scope(struct unit *u, Dwarf_Die *die, uint32_t parent)
{
	struct claim c = {u->s, (uint32_t)u->s->v.n, parent, false};

	each_range(die, u->vaddr, u->from, u->to, claim, &c);
	if (!c.any)
		return SCOPE_NONE;
	vec_push(&u->s->v, (struct scope){*die, parent});
	return c.scope;
}

/* ---- names of files ---- */

/* libdw leaves some as they are in the line table: relative to the folder of the compiler. */
static const char *absolute(struct scopes *s, Dwarf_Die *cu, const char *source)
{
	Dwarf_Attribute a;
	const char *dir;
	uint64_t *at;
	bool fresh;

	if (!source || source[0] == '/')
		return source;
	at = htab_put(&s->path, &source, sizeof source, &fresh);
	if (fresh) {
		dir = dwarf_formstring(dwarf_attr(cu, DW_AT_comp_dir, &a));
		*at = (uintptr_t)(dir && dir[0] == '/' ? arena_printf(&s->mem, "%s/%s", dir, source)
						       : source);
	}
	return (const char *)(uintptr_t)*at;
}

static const char *file_of(struct scopes *s, Dwarf_Die *cu, uint64_t file)
{
	Dwarf_Files *files;
	size_t n;

	if (dwarf_getsrcfiles(cu, &files, &n) || file >= n)
		return NULL;
	return absolute(s, cu, dwarf_filesrc(files, file, NULL, NULL));
}

/* ---- names of what is around ---- */

static const char *join(struct scopes *s, const char *outer, const char *name)
{
	return *outer ? arena_printf(&s->mem, "%s::%s", outer, name) : name;
}

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute a;

	return dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &a));
}

static const char *linkage_of(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &a));

	return name ? name
		    : dwarf_formstring(dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a));
}

/* The qualifier of what is in a DIE. */
static const char *qualifier(struct unit *u, Dwarf_Die *die, int tag, const char *outer)
{
	const char *name;

	if (!u->qualify)
		return outer;
	switch (tag) {
	case DW_TAG_subprogram:
		if (*outer)
			*htab_put(&u->s->qualifier, &die->addr, sizeof die->addr, NULL) =
			    (uintptr_t)outer;
		name = name_of(die);
		return name ? join(u->s, outer, name) : outer;
	case DW_TAG_namespace:
		name = name_of(die);
		return join(u->s, outer, name ? name : "(anonymous namespace)");
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		name = name_of(die);
		return join(u->s, outer, name ? name : "(anonymous class)");
	default:
		return outer;
	}
}

/* ---- the walk ---- */

static bool may_have_code(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_namespace:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_module:
		return true;
	default:
		return false;
	}
}

/* All below a DIE; scope: the innermost function around it, SCOPE_NONE = none with code. */
static void walk(struct unit *u, Dwarf_Die *die, uint32_t scope, const char *outer, unsigned depth)
{
	uint32_t inner;
	Dwarf_Die child;
	int tag;

	if (depth > DEPTH_MAX || dwarf_child(die, &child))
		return;
	do {
		tag = dwarf_tag(&child);
		if (!may_have_code(tag))
			continue;
		inner = scope;
		if (tag == DW_TAG_inlined_subroutine)
			inner = scope == SCOPE_NONE ? scope : add_scope(u, &child, scope);
		else if (tag == DW_TAG_subprogram)
			inner = add_scope(u, &child, SCOPE_NONE);
		if (tag != DW_TAG_inlined_subroutine || inner != SCOPE_NONE)
			walk(u, &child, inner, qualifier(u, &child, tag, outer), depth + 1);
	} while (dwarf_siblingof(&child, &child) == 0);
}

static void find_lines(struct unit *u, Dwarf_Die *cu, size_t from, size_t to)
{
	struct scope_line *l;
	Dwarf_Line *row;
	unsigned disc;
	int line;

	for (; from < to; from++) {
		l = &u->s->line[from];
		row = l->source ? NULL : dwarf_getsrc_die(cu, u->vaddr[from]);
		if (!row || dwarf_lineno(row, &line) || line < 0)
			continue;
		l->source = absolute(u->s, cu, dwarf_linesrc(row, NULL, NULL));
		l->line = (uint32_t)line;
		l->discriminator = dwarf_linediscriminator(row, &disc) ? 0 : disc;
	}
}

struct found {
	struct unit *u;
	Dwarf_Die *cu;
};

static void see_range(size_t from, size_t to, void *arg)
{
	struct found *f = arg;

	f->u->from = f->u->from < from ? f->u->from : from;
	f->u->to = f->u->to > to ? f->u->to : to;
	find_lines(f->u, f->cu, from, to);
}

static bool has_scopes(Dwarf_Die *cu)
{
	switch (dwarf_srclang(cu)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Mips_Assembler:
		return false;
	default:
		return true;
	}
}

void scopes_find(struct scopes *s, Dwarf *dwarf, const uint64_t *vaddr, size_t n)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;
	uint8_t type;
	size_t i;

	*s = (struct scopes){.innermost = xmalloc(n * sizeof *s->innermost + 1),
	    .line = xcalloc(n + 1, sizeof *s->line)};
	for (i = 0; i < n; i++)
		s->innermost[i] = SCOPE_NONE;
	while (dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, &split) == 0) {
		struct unit u = {s, vaddr, n, 0, has_scopes(&die)};

		if (!each_range(&die, vaddr, 0, n, see_range, &(struct found){&u, &die}))
			continue;
		walk(&u, &die, SCOPE_NONE, "", 0);
	}
}

/* ---- what there is to say of a scope ---- */

static uint32_t number(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute a;
	Dwarf_Word v;

	return dwarf_formudata(dwarf_attr(die, attribute, &a), &v) || v > INT32_MAX ? 0
										    : (uint32_t)v;
}

struct scope_line scopes_call(struct scopes *s, uint32_t scope)
{
	Dwarf_Die die = s->v.v[scope].die, cu;
	uint32_t file = number(&die, DW_AT_call_file);
	struct scope_line l = {
	    NULL, number(&die, DW_AT_call_line), number(&die, AT_GNU_DISCRIMINATOR)};

	if (dwarf_diecu(&die, &cu, NULL, NULL))
		l.source = file_of(s, &cu, file);
	return l;
}

/* The DIE that a concrete or inlined function is an instance of, or its declaration. */
static bool origin(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	Dwarf_Die to;

	if (!dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &a), &to) &&
	    !dwarf_formref_die(dwarf_attr(die, DW_AT_specification, &a), &to))
		return false;
	*die = to;
	return true;
}

const char *scopes_name(struct scopes *s, uint32_t scope, const char **name)
{
	Dwarf_Die die = s->v.v[scope].die;
	const char *linkage = linkage_of(&die);
	const uint64_t *outer = NULL, *q;
	unsigned step;

	*name = name_of(&die);
	if (linkage || !*name)
		return linkage;
	for (step = 0; step < 8; step++) {
		q = htab_get(&s->qualifier, &die.addr, sizeof die.addr);
		outer = q ? q : outer;
		if (!origin(&die))
			break;
	}
	if (outer)
		*name = join(s, (const char *)(uintptr_t)*outer, *name);
	return NULL;
}

struct scope_line scopes_definition(struct scopes *s, uint32_t scope)
{
	Dwarf_Die die = s->v.v[scope].die, cu;
	struct scope_line l = {0};
	Dwarf_Attribute a;
	Dwarf_Word file;
	int line;

	if (dwarf_attr_integrate(&die, DW_AT_decl_file, &a) && !dwarf_formudata(&a, &file) &&
	    dwarf_cu_die(a.cu, &cu, NULL, NULL, NULL, NULL, NULL, NULL))
		l.source = file_of(s, &cu, file);
	if (!dwarf_decl_line(&die, &line) && line > 0)
		l.line = (uint32_t)line;
	return l;
}

int scopes_extent(const struct scopes *s, uint32_t scope, uint64_t *start, uint64_t *size)
{
	Dwarf_Die die;
	Dwarf_Addr low, high;

	while (s->v.v[scope].parent != SCOPE_NONE)
		scope = s->v.v[scope].parent;
	die = s->v.v[scope].die;
	if (dwarf_lowpc(&die, &low) || dwarf_highpc(&die, &high) || high <= low)
		return -1;
	*start = low;
	*size = high - low;
	return 0;
}
