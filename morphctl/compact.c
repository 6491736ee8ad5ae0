#include "morphctl/compact.h"
#include "common/artifact/artifact.h"
#include "common/publish.h"
#include "editor/unit.h"
#include "morphctl/libraries.h"

#include <string.h>

/* ---- text without debug information ---- */

struct line {
	const char *p;
	size_t n;
};

static bool next_line(const char **p, const char *end, struct line *l)
{
	const char *nl;

	if (*p == end)
		return false;
	nl = memchr(*p, '\n', (size_t)(end - *p));
	l->p = *p;
	l->n = (size_t)((nl ? nl + 1 : end) - *p);
	*p += l->n;
	return true;
}

static bool begins(const struct line *l, const char *prefix)
{
	size_t n = strlen(prefix);

	return l->n >= n && !memcmp(l->p, prefix, n);
}

static bool enters_section(const struct line *l)
{
	return begins(l, "\t.section") || begins(l, "\t.text") || begins(l, "\t.data") ||
	       begins(l, "\t.bss");
}

/* Where lines of the source are; a .file without number names the unit. */
static bool is_position(const struct line *l)
{
	return begins(l, "\t.loc ") ||
	       (begins(l, "\t.file ") && l->n > 7 && l->p[7] >= '0' && l->p[7] <= '9');
}

/* What says something of symbols or the file, in whatever section it stands. */
static bool is_anywhere(const struct line *l)
{
	static const char *const directive[] = {
	    "\t.ident", "\t.globl", "\t.hidden", "\t.weak", "\t.local", "\t.comm", "\t.symver"};
	size_t i;

	for (i = 0; i < sizeof directive / sizeof *directive; i++)
		if (begins(l, directive[i]))
			return true;
	return false;
}

enum { NESTED = 32 };

/* Whether a section is one of debug information: the one that is written to, and the one before,
 * now and before each .pushsection that no .popsection undid. */
struct sections {
	struct {
		bool debug, before;
	} level[NESTED];
	size_t n;
};

static void enter(struct sections *s, bool debug)
{
	s->level[s->n].before = s->level[s->n].debug;
	s->level[s->n].debug = debug;
}

/* false: it cannot be told what is debug information. */
static bool follow_section(struct sections *s, const struct line *l)
{
	if (begins(l, "\t.subsection"))
		return false;
	if (begins(l, "\t.previous"))
		return !s->level[s->n].debug && !s->level[s->n].before;
	if (enters_section(l)) {
		enter(s, begins(l, "\t.section\t.debug"));
	} else if (begins(l, "\t.pushsection")) {
		if (s->n + 1 == NESTED)
			return false;
		s->level[s->n + 1] = s->level[s->n];
		s->n++;
		enter(s, memmem(l->p, l->n, ".debug", 6));
	} else if (begins(l, "\t.popsection")) {
		return s->n-- > 0;
	}
	return true;
}

static bool drop_sections(const struct buf *text, struct buf *out)
{
	struct sections s = {0};
	const char *p = text->p;
	struct line l;
	bool was;

	while (next_line(&p, text->p + text->n, &l)) {
		was = s.level[s.n].debug;
		if (!follow_section(&s, &l))
			return false;
		/* With what pushes one what pops it. */
		if (begins(&l, "\t.popsection") ? !was
		    : s.level[s.n].debug        ? is_anywhere(&l)
						: !is_position(&l))
			buf_add(out, l.p, l.n);
	}
	return true;
}

static size_t label_length(const char *p, const char *end)
{
	const char *at = p;

	while (at < end && (*at == '.' || *at == '_' || *at == '$' || (*at >= '0' && *at <= '9') ||
			       (*at >= 'A' && *at <= 'Z') || (*at >= 'a' && *at <= 'z')))
		at++;
	return (size_t)(at - p);
}

static bool is_label(const struct line *l)
{
	size_t n = begins(l, ".L") ? label_length(l->p, l->p + l->n) : 0;

	return n && n < l->n && l->p[n] == ':';
}

static void note_uses(const struct line *l, struct htab *used)
{
	const char *end = l->p + l->n, *p = l->p;
	size_t n;

	while ((p = memmem(p, (size_t)(end - p), ".L", 2))) {
		n = label_length(p, end);
		if (p != l->p)
			htab_put(used, p, n, NULL);
		p += n;
	}
}

static void drop_labels(const struct buf *text, struct buf *out)
{
	struct htab used = {0};
	const char *p = text->p, *end = text->p + text->n;
	struct line l;

	while (next_line(&p, end, &l))
		note_uses(&l, &used);
	p = text->p;
	while (next_line(&p, end, &l))
		if (!is_label(&l) || htab_get(&used, l.p, label_length(l.p, l.p + l.n)))
			buf_add(out, l.p, l.n);
	htab_free(&used);
}

/* ---- labels by number ---- */

/* Macros may make labels of parts. */
static bool makes_labels(const struct line *l)
{
	return begins(l, "\t.macro") || begins(l, "\t.irp") || begins(l, "\t.rept") ||
	       begins(l, "\t.altmacro");
}

/* The next name of a local label at or after p, outside of strings; NULL = none in this line. */
static const char *next_label(const char *p, const struct line *l)
{
	const char *end = l->p + l->n;

	for (; p + 1 < end; p++) {
		if (*p == '"')
			for (p++; p + 1 < end && *p != '"'; p++)
				p += *p == '\\';
		else if (p[0] == '.' && p[1] == 'L' &&
			 (p == l->p || !label_length(p - 1, p) || p[-1] == '$'))
			return p;
	}
	return NULL;
}

static void number_label(struct htab *number, const char *p, size_t n)
{
	uint64_t next = number->n;
	bool fresh;
	uint64_t *v = htab_put(number, p, n, &fresh);

	if (fresh)
		*v = next;
}

static void rename_line(const struct line *l, struct htab *number, struct buf *out)
{
	const char *end = l->p + l->n, *from = l->p, *p = l->p;
	size_t n;

	while ((p = next_label(p, l))) {
		n = label_length(p, end);
		number_label(number, p, n);
		buf_add(out, from, (size_t)(p - from));
		buf_str(out, ".L");
		buf_decimal(out, *htab_get(number, p, n));
		from = p += n;
	}
	buf_add(out, from, (size_t)(end - from));
}

/* Local labels are called .L0, .L1, … as they are defined, others after them. */
static bool number_labels(const struct buf *text, struct buf *out)
{
	struct htab number = {0};
	const char *p = text->p, *end = text->p + text->n;
	bool can = true;
	struct line l;

	while (can && next_line(&p, end, &l)) {
		can = !makes_labels(&l);
		if (is_label(&l))
			number_label(&number, l.p, label_length(l.p, l.p + l.n));
	}
	p = text->p;
	while (can && next_line(&p, end, &l))
		rename_line(&l, &number, out);
	htab_free(&number);
	return can;
}

/* ---- is it still the same unit? ---- */

static bool same_function(const struct unit_func *u, const struct art_func *f)
{
	uint32_t b;

	if (strcmp(u->name, f->name) || u->ord != f->ord || u->cfg.nblock != f->nblock ||
	    !hash_equal(&u->key, &f->key) || strcmp(u->opaque ? u->opaque : "", f->opaque))
		return false;
	for (b = 0; b < f->nblock; b++)
		if (u->cfg.block[b].insns != f->insns[b])
			return false;
	return true;
}

/* f, n: the unit's functions as the artifact lists them. */
static bool same_unit(const struct buf *text, const struct art_func *f, size_t n)
{
	struct arena mem = {0};
	struct unit *u = unit_parse(&mem, text->p, text->n, NULL);
	bool same = u && u->nfunc == n;
	size_t i;

	for (i = 0; same && i < n; i++)
		same = same_function(&u->func[i], &f[i]);
	unit_free(u);
	arena_free(&mem);
	return same;
}

/* The text as it is to be kept. */
static void reduce(struct buf *text, const struct art_func *f, size_t n)
{
	struct buf code = {0}, used = {0}, out = {0}, whole;

	if (drop_sections(text, &code)) {
		drop_labels(&code, &used);
		if (number_labels(&used, &out) && same_unit(&out, f, n)) {
			whole = *text;
			*text = out;
			out = whole;
		}
	}
	buf_free(&code);
	buf_free(&used);
	buf_free(&out);
}

/* ---- copying ---- */

struct compaction {
	struct artifact *in, *out;
	bool stripped;
	struct elf_names names; /* of the shared libraries of all */
	struct err *e;
};

static int copy_units(struct compaction *c)
{
	const struct art_tu *tu;
	const struct art_func *f;
	size_t n = artifact_tus(c->in, &tu), nf = artifact_funcs(c->in, &f), i, k = 0, from;
	struct buf text = {0};
	int r = 0;

	for (i = 0; i < n && !r; i++) {
		for (from = k; k < nf && f[k].tu == i; k++)
			continue;
		text.n = 0;
		r = artifact_text(c->in, tu[i].id, &text, c->e);
		if (!r && c->stripped)
			reduce(&text, f + from, k - from);
		libraries_keep_text(&c->names, &text);
		if (!r)
			r = artifact_put_tu(c->out, &tu[i], text.p, text.n, c->e);
	}
	for (i = 0; i < nf && !r; i++)
		r = artifact_put_func(c->out, &f[i], c->e);
	buf_free(&text);
	return r;
}

/* The names of all programs' libraries are known when this is through with the last. */
static int copy_code(struct compaction *c, uint32_t program)
{
	return artifact_put_meta(c->out, artifact_meta(c->in), c->e) || copy_units(c) ||
		       libraries_keep_link(&c->names, c->in, c->e)
		   ? -1
		   : 0;
}

/* Symbols that gold puts into its output are in an order that follows from the names of all. */
static bool may_rename(const struct compaction *c, const struct art_input *in)
{
	return in->kind == ART_SHARED && strcmp(artifact_meta(c->in)->ld, "ld.gold");
}

static int copy_input(struct compaction *c, const struct art_input *in)
{
	struct buf b = {0}, renamed = {0};
	struct buf *content = &b;
	int r = artifact_content(c->in, in->id, &b, c->e);

	if (!r && may_rename(c, in) && elf_rename(&c->names, b.p, b.n, &renamed, NULL) == 0)
		content = &renamed;
	if (!r)
		r = artifact_put_input(c->out, in, content->p, content->n, c->e);
	buf_free(&b);
	buf_free(&renamed);
	return r;
}

static int copy_link(struct compaction *c, uint32_t program)
{
	const struct art_input *in;
	const char *const *arg;
	size_t n = artifact_inputs(c->in, &in), args = artifact_recipe(c->in, &arg), i;
	struct buf b = {0};
	int r = artifact_turn_to(c->out, program, c->e);

	for (i = 0; i < n && !r; i++)
		r = copy_input(c, &in[i]);
	for (i = 0; i < args && !r; i++)
		r = artifact_put_recipe(c->out, (uint32_t)i, arg[i], c->e);
	if (!r)
		r = artifact_blockmap(c->in, &b, c->e);
	if (!r)
		r = artifact_put_blockmap(c->out, b.p, b.n, c->e);
	buf_free(&b);
	return r;
}

/* One open at a time: each is as large as its program. */
static int copy_each(struct compaction *c, const struct compact_source *from, size_t n,
    int (*copy)(struct compaction *c, uint32_t program))
{
	size_t i;
	int r = 0;

	for (i = 0; i < n && !r; i++) {
		c->in = artifact_open(from[i].artifact, c->e);
		c->stripped = from[i].stripped;
		r = c->in ? copy(c, (uint32_t)i) : -1;
		artifact_close(c->in);
	}
	return r;
}

static int write_to(
    struct compaction *c, const struct compact_source *from, size_t n, const char *path)
{
	c->out = artifact_create(path, true, c->e);
	if (!c->out)
		return -1;
	if (copy_each(c, from, n, copy_code) || copy_each(c, from, n, copy_link)) {
		artifact_close(c->out);
		return -1;
	}
	return artifact_commit(c->out, c->e);
}

int compact_artifacts(const struct compact_source *from, size_t n, const char *to, struct err *e)
{
	struct compaction c = {.e = e};
	struct publish p;
	int r = publish_open(&p, to, 0644, e);

	if (!r && (r = write_to(&c, from, n, p.tmp)))
		publish_abort(&p);
	else if (!r)
		r = publish_commit(&p, e);
	elf_names_free(&c.names);
	return r;
}
