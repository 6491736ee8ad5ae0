#include "editor/asm/lsda.h"
#include "editor/emit/emit.h"

#include <stdlib.h>

static struct str first_arg(const struct unit_impl *u, uint8_t dir)
{
	return u->dir[dir].end ? unquote(u->stmt.v[u->dir[dir].first].arg) : (struct str){"", 0};
}

static const char *refuse(const struct unit_impl *u)
{
	size_t i;

	for (i = 0; i < u->section.n; i++) {
		if (str_starts(u->section.v[i].name, ".gnu.lto_"))
			return "LTO object: code is made at link time";
		if (own_section(u->section.v[i].name))
			return "has a block map already";
		if (str_is(u->section.v[i].name, ".eh_frame"))
			return "unwind tables without CFI directives";
	}
	return u->dir[DIR_IDENT].end ? NULL : "no .ident of a compiler: hand-written assembly";
}

/* Functions may leave sections that GNU ld gathers by name into .text, but
 * only ones that nobody addresses by section. */
static bool section_movable(const struct section *s)
{
	return str_is(s->name, ".text") || str_starts(s->name, ".text.");
}

static void publish_functions(struct unit_impl *u)
{
	struct unit_func *pub;
	struct stmt *st;
	struct func *f;
	size_t i;

	u->pub->nfunc = (uint32_t)u->func.n;
	for (i = 0; i < u->func.n; i++) {
		f = &u->func.v[i];
		pub = f->pub;
		pub->name = arena_strndup(u->mem, unquote(f->name).p, unquote(f->name).n);
		pub->ord = (uint32_t)i;
		pub->opaque = f->why;
		pub->one_part = f->one_part;
		pub->movable =
		    !f->unsorted && !f->pinned && section_movable(&u->section.v[f->section]);
		pub->impl = f;
	}
	for (i = 0; i < u->stmt.n; i++) {
		struct label *l;
		st = &u->stmt.v[i];
		if (st->kind != ST_DIR || st->dir != DIR_SYMBOL ||
		    !(str_is(st->op, ".globl") || str_is(st->op, ".global") ||
			str_is(st->op, ".weak")))
			continue;
		l = label_find(u, st->arg);
		if (l && l->func != NONE)
			u->func.v[l->func].pub->global = true;
	}
}

static void impl_free(struct unit_impl *u)
{
	size_t i;

	for (i = 0; i < u->func.n; i++) {
		vec_free(&u->func.v[i].code);
		vec_free(&u->func.v[i].data);
		free(u->func.v[i].blk);
		lsda_func_free(&u->func.v[i]);
	}
	vec_free(&u->stmt);
	vec_free(&u->section);
	vec_free(&u->label);
	vec_free(&u->func);
	vec_free(&u->cfi);
	htab_free(&u->label_by_name);
	htab_free(&u->alias);
	htab_free(&u->section_by_name);
	htab_free(&u->section_by_text);
}

static void outline_func(struct arena *a, const struct unit_func *from, struct unit_func *to)
{
	const struct cfg *g = &from->cfg;
	uint32_t i;

	*to = *from;
	to->impl = NULL;
	to->name = arena_strdup(a, from->name);
	to->opaque = from->opaque ? arena_strdup(a, from->opaque) : NULL;
	to->cfg.block = arena_copy(a, g->block, g->nblock, sizeof *g->block);
	to->cfg.edge = arena_copy(a, g->edge, g->nedge, sizeof *g->edge);
	cfg_index(&to->cfg, a);
	to->call = arena_copy(a, from->call, from->ncall, sizeof *from->call);
	for (i = 0; i < to->ncall; i++)
		to->call[i].callee = arena_strdup(a, from->call[i].callee);
}

struct unit *unit_outline(struct arena *a, const struct unit *u)
{
	struct unit *outline = arena_alloc(a, sizeof *outline);
	uint32_t i;

	*outline = (struct unit){.name = arena_strdup(a, u->name),
	    .producer = arena_strdup(a, u->producer),
	    .func = arena_array(a, u->nfunc, sizeof *u->func),
	    .nfunc = u->nfunc};
	for (i = 0; i < u->nfunc; i++)
		outline_func(a, &u->func[i], &outline->func[i]);
	return outline;
}

void unit_free(struct unit *unit)
{
	if (unit)
		impl_free(unit->impl);
}

static struct unit *parse(struct arena *a, const char *text, size_t n, bool debug, struct err *e)
{
	struct unit *unit = arena_alloc(a, sizeof *unit);
	struct unit_impl *u = arena_alloc(a, sizeof *u);
	struct str name, producer;
	const char *why;
	struct func *f;
	size_t i;

	unit->impl = u;
	u->pub = unit;
	u->mem = a;
	vec_push(&u->cfi, cfi_initial());
	if (unit_scan(u, text, n, debug, e) || unit_sections(u, e))
		goto fail;
	why = refuse(u);
	if (why) {
		err_set(e, "%s", why);
		goto fail;
	}
	name = first_arg(u, DIR_FILE);
	producer = first_arg(u, DIR_IDENT);
	unit->name = arena_strndup(a, name.p, name.n);
	unit->producer = arena_strndup(a, producer.p, producer.n);
	if (unit_functions(u, e) || unit_labels(u, e))
		goto fail;
	unit->func = arena_array(a, u->func.n, sizeof *unit->func);
	debug_follow_locs(u);
	if (debug) {
		debug_find_pairs(u);
		ranges_find(u);
	}
	for (i = 0; i < u->func.n; i++) {
		f = &u->func.v[i];
		f->pub = &unit->func[i];
		if (!f->why)
			f->why = blocks_build(u, f);
		if (f->why)
			blocks_opaque(u, f);
		labels_of_ends(u, f);
	}
	publish_functions(u);
	for (i = 0; i < u->func.n; i++)
		unit->func[i].key = func_key(u, &u->func.v[i]);
	return unit;
fail:
	impl_free(u);
	return NULL;
}

struct unit *unit_parse(struct arena *a, const char *text, size_t n, struct err *e)
{
	return parse(a, text, n, true, e);
}

struct unit *unit_parse_code(struct arena *a, const char *text, size_t n, struct err *e)
{
	return parse(a, text, n, false, e);
}
