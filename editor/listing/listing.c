#include "editor/listing/listing.h"
#include "editor/asm/text.h"

struct lister {
	const struct unit_impl *u;
	struct listing *out;
	struct htab files; /* .file number -> its statement + 1 */
	uint32_t line;     /* in force; 0 = none */
	const char *file;  /* of it */
	uint32_t number;   /* of that file */
};

/* Moves *p after the next number. */
static bool read_number(const char **p, const char *end, uint32_t *v)
{
	const char *begin;

	while (*p < end && (**p == ' ' || **p == '\t'))
		++*p;
	for (*v = 0, begin = *p; *p < end && **p >= '0' && **p <= '9' && *p - begin < 9; ++*p)
		*v = *v * 10 + (uint32_t)(**p - '0');
	return *p > begin;
}

/* Moves *p after the next text in quotes. */
static bool read_quoted(const char **p, const char *end, struct str *text)
{
	const char *begin;

	while (*p < end && (**p == ' ' || **p == '\t'))
		++*p;
	if (*p == end || **p != '"')
		return false;
	for (begin = ++*p; *p < end && **p != '"'; ++*p)
		if (**p == '\\' && *p + 1 < end)
			++*p;
	*text = (struct str){begin, (uint32_t)(*p - begin)};
	if (*p < end)
		++*p;
	return true;
}

/* .file NUMBER "NAME", .file NUMBER "FOLDER" "NAME" */
static void find_files(struct lister *l)
{
	const struct stmt *st;
	const char *p;
	uint32_t i, n;

	for (i = l->u->dir[DIR_FILE].first; i < l->u->dir[DIR_FILE].end; i++) {
		st = &l->u->stmt.v[i];
		p = st->arg.p;
		if (st->kind == ST_DIR && st->dir == DIR_FILE &&
		    read_number(&p, st->arg.p + st->arg.n, &n))
			*htab_put(&l->files, &n, sizeof n, NULL) = i + 1;
	}
}

static const char *file_name(struct lister *l, uint32_t number)
{
	const uint64_t *at = htab_get(&l->files, &number, sizeof number);
	const struct stmt *st = at ? &l->u->stmt.v[*at - 1] : NULL;
	const char *p = st ? st->arg.p : NULL, *end = st ? p + st->arg.n : NULL;
	struct str first, second;

	if (!st || !read_number(&p, end, &number) || !read_quoted(&p, end, &first))
		return NULL;
	if (!read_quoted(&p, end, &second) || (second.n && *second.p == '/'))
		return arena_strndup(&l->out->mem, first.p, first.n);
	return arena_printf(
	    &l->out->mem, "%.*s/%.*s", (int)first.n, first.p, (int)second.n, second.p);
}

/* .loc FILE LINE …; a line 0 leaves the one before in force. */
static void follow_loc(struct lister *l, const struct stmt *st)
{
	const char *p = st->arg.p, *end = p + st->arg.n;
	uint32_t file, line;

	if (!read_number(&p, end, &file) || !read_number(&p, end, &line) || !line)
		return;
	if (!l->file || file != l->number)
		l->file = file_name(l, file);
	l->number = file;
	l->line = line;
}

static const char *text_of(struct lister *l, const struct stmt *st)
{
	const char *p = st->line.p, *end = p + st->line.n;

	if (st->kind != ST_ASM)
		return arena_printf(&l->out->mem, st->arg.n ? "%.*s %.*s" : "%.*s", (int)st->op.n,
		    st->op.p, (int)st->arg.n, st->arg.p);
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p == end || *p == '#' ? NULL : arena_strndup(&l->out->mem, p, (size_t)(end - p));
}

static void add(struct lister *l, const struct stmt *st, struct listing_block *block)
{
	struct listing_insn insn = {text_of(l, st), l->line ? l->file : NULL, l->line};

	if (insn.text)
		vec_push(&block->insn, insn);
}

void listing_make(const struct unit *u, uint32_t ord, struct listing *out)
{
	struct lister l = {.u = u->impl, .out = out};
	const struct func *f = u->func[ord].impl;
	const struct stmt *st;
	uint32_t i, b = 0;

	*out = (struct listing){.nblock = f->nblk};
	out->block = arena_array(&out->mem, f->nblk, sizeof *out->block);
	find_files(&l);
	for (i = 0; i < f->code.n; i++) {
		st = &l.u->stmt.v[f->code.v[i]];
		if (i == f->part1)
			l.line = 0;
		while (f->blk && b < f->nblk && i >= f->blk[b].last)
			b++;
		if (st->kind == ST_DIR && st->dir == DIR_LOC)
			follow_loc(&l, st);
		else if (b < f->nblk && is_code(st))
			add(&l, st, &out->block[b]);
	}
	htab_free(&l.files);
}

void listing_free(struct listing *l)
{
	uint32_t b;

	for (b = 0; b < l->nblock; b++)
		vec_free(&l->block[b].insn);
	arena_free(&l->mem);
	*l = (struct listing){0};
}
