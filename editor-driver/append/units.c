#include "editor-driver/append/units.h"
#include "common/publish.h"
#include "editor-driver/link/relink.h"
#include "editor-driver/os/parallel.h"
#include "lifter/encode.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH_TEXT = 256 << 10 }; /* bytes of text, as the artifact has them */

/* ---- which ---- */

static const char SYMBOL[] = "0123456789.$ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

/* One that needs no quotes wherever it is written. */
static bool plain_name(const char *s)
{
	return *s && !strchr("$0123456789", *s) && strncmp(s, ".L", 2) && strcmp(s, "image") &&
	       !s[strspn(s, SYMBOL)];
}

static int check_name(const char *name, struct htab *names, struct err *e)
{
	bool fresh = false;

	if (plain_name(name))
		htab_put_str(names, name, &fresh);
	return fresh ? 0 : err_set(e, "%.200s: not the name of one function", name);
}

int units_list(struct plan *p, struct units *u, struct err *e)
{
	struct htab names = {0};
	struct plan_tu *t;
	int rc = 0;

	*u = (struct units){{0}};
	for (t = p->tu; !rc && t < p->tu + p->ntu; t++) {
		rc = t->nfunc == 1 ? check_name(t->func->name, &names, e)
				   : err_set(e, "%s: not one function", t->art->name);
		if (!rc && t->edited && t->placement->edit)
			vec_push(&u->moved, t);
	}
	htab_free(&names);
	return rc ? err_wrap(e, "the artifact was not lifted as this version does") : 0;
}

/* ---- texts ---- */

/* The labels that the editor prints in each unit are of this one alone, and so are those of jump
 * tables, which functions may share. */
static void put_renamed(const struct buf *text, size_t unit, struct buf *out)
{
	static const char label[] = ".L", kinds[] = "MT";
	const char *p = text->p, *end = p + text->n, *at;
	bool inside;

	while (p < end && (at = memmem(p, (size_t)(end - p), label, strlen(label)))) {
		inside = at > text->p && at[-1] != '$' && strchr(SYMBOL, at[-1]);
		buf_add(out, p, (size_t)(at - p));
		p = at + strlen(label);
		if (!inside && p < end && memchr(kinds, *p, strlen(kinds)))
			buf_printf(out, ".L%zu.", unit);
		else
			buf_str(out, label);
	}
	buf_add(out, p, (size_t)(end - p));
}

static int put_unit(struct plan *p, struct plan_tu *t, size_t i, struct buf *out, struct err *e)
{
	struct buf text = {0}, encoded = {0};
	int rc = plan_print(p, t, &text, e);

	if (!rc && encode(text.p, text.n, &encoded, e))
		rc = err_wrap(e, "%s", t->art->name);
	buf_str(out, "\t.text\n");
	if (!rc)
		put_renamed(&encoded, i, out);
	buf_free(&text);
	buf_free(&encoded);
	return rc;
}

/* ---- objects ---- */

struct batches {
	struct plan *p;
	struct objects *o;
	const struct units *u;
	VEC(size_t) end; /* of each, in moved[] */
};

static void cut(struct batches *b)
{
	size_t i, n = 0;

	for (i = 0; i < b->u->moved.n; i++) {
		n += b->u->moved.v[i]->art->text_size;
		if (n < BATCH_TEXT && i + 1 < b->u->moved.n)
			continue;
		vec_push(&b->end, i + 1);
		n = 0;
	}
}

static int assemble(
    struct objects *o, const char *name, const struct buf *text, const char *path, struct err *e)
{
	return objects_assemble(
	    o, NULL, &(struct art_tu){.name = name, .as_args = "--64"}, text->p, text->n, path, e);
}

/* Debuggers find unwind information in one section of a name: theirs is .debug_frame. */
static int make_batch(void *arg, size_t k, struct err *e)
{
	const struct batches *b = arg;
	struct buf text = {0};
	size_t i, first = k ? b->end.v[k - 1] : 0;
	char *name;
	int rc = 0;

	buf_str(&text, "\t.cfi_sections .eh_frame, .debug_frame\n");
	for (i = first; !rc && i < b->end.v[k]; i++)
		rc = put_unit(b->p, b->u->moved.v[i], i, &text, e);
	name = xasprintf("%s and others", b->u->moved.v[first]->art->name);
	if (!rc)
		rc = assemble(b->o, name, &text, b->u->object.v[k], e);
	free(name);
	buf_free(&text);
	return rc;
}

static void put_names(const struct plan *p, struct buf *out)
{
	const struct bm_frag *f;
	const struct plan_tu *t;

	buf_str(out, "\t.globl image\n\t.set image, 0\n");
	for (t = p->tu; t < p->tu + p->ntu; t++) {
		f = mapindex_entry(&p->index, hash_short(&t->art->hash), 0);
		if (f && !(t->edited && t->placement->edit))
			buf_printf(out, "\t.globl %s\n\t.set %s, %#llx\n", t->func->name,
			    t->func->name, (unsigned long long)f->addr);
	}
}

static int make_rest(const struct plan *p, struct objects *o, const char *path, struct err *e)
{
	struct buf text = {0};
	int rc;

	put_names(p, &text);
	relink_property(NULL, 0, &text);
	relink_note(&artifact_meta(p->art)->id, false, &text);
	buf_str(&text, "\t.section .eh_frame,\"a\",@unwind\n\t.long 0\n");
	rc = assemble(o, "the names of functions", &text, path, e);
	buf_free(&text);
	return rc;
}

int units_make(struct plan *p, struct objects *o, const char *dir, struct units *u, struct err *e)
{
	struct batches b = {.p = p, .o = o, .u = u};
	char *rest = xasprintf("%s/rest.o", dir);
	size_t i;
	int rc;

	cut(&b);
	for (i = 0; i < b.end.n; i++)
		vec_push(&u->object, xasprintf("%s/%zu.o", dir, i));
	rc = dir_make(dir, 0700, e) || parallel_for(p->jobs, b.end.n, make_batch, &b, e) ||
		     make_rest(p, o, rest, e)
		 ? -1
		 : 0;
	vec_push(&u->object, rest); /* the last: it ends the unwind information */
	vec_free(&b.end);
	return rc;
}

void units_free(struct units *u)
{
	size_t i;

	for (i = 0; i < u->object.n; i++)
		free(u->object.v[i]);
	vec_free(&u->object);
	vec_free(&u->moved);
}
