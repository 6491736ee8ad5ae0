/* The hashes of blocks, and the file that has them. */
#include "common/le.h"
#include "common/sort.h"
#include "editor/asm/insn.h"
#include "editor/shape/shape.h"

#include <stdlib.h>

enum { BLOCK_MIN = 4 * SHAPE_LEVELS + 2, KEY = sizeof(struct hash128) };
static const char magic[] = "morph shapes 1\n";

/* ---- hashes ---- */

static void put_operands(struct buf *out, struct str arg)
{
	const char *p = arg.p, *end = arg.p + arg.n, *from = p;
	struct str t;
	uint32_t n;

	while (token_next(&p, end, &t)) {
		n = name_stem(t);
		buf_add(out, from, (size_t)(t.p + n - from));
		from = t.p + t.n;
	}
	buf_add(out, from, (size_t)(end - from));
}

/* The symbols it names; no registers and numbers. */
static void put_symbols(struct buf *out, struct str arg)
{
	const char *p = arg.p, *end = arg.p + arg.n;
	struct str t;

	while (token_next(&p, end, &t)) {
		if ((*t.p >= '0' && *t.p <= '9') || *t.p == '-' || (t.p > arg.p && t.p[-1] == '%'))
			continue;
		buf_char(out, ' ');
		buf_add(out, t.p, name_stem(t));
	}
}

static int by_text(const void *pa, const void *pb)
{
	const struct str *a = pa, *b = pb;
	int c = memcmp(a->p, b->p, a->n < b->n ? a->n : b->n);

	return c ? c : ORDER(a->n, b->n);
}

struct hasher {
	struct buf text, ops;
	VEC(struct str) set;
};

static void put_jcc(struct hasher *h, struct str mnemonic)
{
	static const struct str jcc = {"j", 1};
	const char *other = insn_inverse(mnemonic);

	if (other && by_text(&(struct str){other, (uint32_t)strlen(other)}, &mnemonic) < 0)
		buf_str(&h->text, other);
	else
		buf_add(&h->text, mnemonic.p, mnemonic.n);
	buf_str(&h->ops, "j\n");
	vec_push(&h->set, jcc);
}

static void put_insn(struct hasher *h, const struct stmt *st)
{
	enum insn_class class;
	struct str operand;

	class = insn_classify(st, &operand);
	if (class == INSN_JMP && str_starts(operand, ".L"))
		return;
	if (class == INSN_JCC) {
		put_jcc(h, st->op);
		return;
	}
	buf_add(&h->text, st->op.p, st->op.n);
	buf_char(&h->text, ' ');
	put_operands(&h->text, st->arg);
	buf_char(&h->text, '\n');
	if (str_starts(st->op, "nop"))
		return;
	buf_add(&h->ops, st->op.p, st->op.n);
	put_symbols(&h->ops, st->arg);
	buf_char(&h->ops, '\n');
	vec_push(&h->set, st->op);
}

static uint32_t short_hash(const struct buf *b)
{
	struct hash128 h = hash_bytes(b->p, b->n);

	return get_le32(h.b);
}

static uint32_t hash_set(struct hasher *h)
{
	struct buf b = {0};
	uint32_t hash;
	size_t i;

	vec_sort(&h->set, by_text);
	for (i = 0; i < h->set.n; i++)
		if (!i || by_text(&h->set.v[i - 1], &h->set.v[i])) {
			buf_add(&b, h->set.v[i].p, h->set.v[i].n);
			buf_char(&b, '\n');
		}
	hash = short_hash(&b);
	buf_free(&b);
	return hash;
}

static void put_block(
    const struct unit_impl *u, const struct func *f, uint32_t b, struct hasher *h, struct buf *out)
{
	const struct blk *k = f->blk ? &f->blk[b] : NULL;
	const struct stmt *st;
	uint32_t i;

	h->text.n = h->ops.n = h->set.n = 0;
	for (i = k ? k->first : 0; k && i < k->last; i++) {
		st = &u->stmt.v[f->code.v[i]];
		if (st->kind == ST_INSN)
			put_insn(h, st);
		else if (is_code(st))
			put_operands(&h->text, st->line);
	}
	buf_le32(out, short_hash(&h->text));
	buf_le32(out, short_hash(&h->ops));
	buf_le32(out, hash_set(h));
}

/* ---- writing ---- */

static void put_text(struct buf *out, const char *s)
{
	size_t n = strlen(s);

	buf_uleb(out, n);
	buf_add(out, s, n);
}

static void put_succs(const struct cfg *g, uint32_t b, struct buf *out)
{
	VEC(uint32_t) succ = {0};
	uint32_t i, k;

	for (i = g->succ[b]; i < g->succ[b + 1]; i++) {
		for (k = 0; k < succ.n && succ.v[k] != g->edge[i].dst; k++)
			;
		if (k == succ.n)
			vec_push(&succ, g->edge[i].dst);
	}
	buf_uleb(out, succ.n);
	for (k = 0; k < succ.n; k++)
		buf_uleb(out, succ.v[k]);
	vec_free(&succ);
}

void shapes_begin(struct buf *out)
{
	buf_str(out, magic);
}

void shapes_add(const struct unit *u, const char *tu, struct buf *out)
{
	const struct unit_func *f, *end = u->func + u->nfunc;
	struct hasher h = {0};
	uint32_t b;

	for (f = u->func; f < end; f++) {
		put_text(out, f->name);
		put_text(out, tu);
		buf_add(out, f->key.b, KEY);
		buf_uleb(out, f->cfg.nblock);
		for (b = 0; b < f->cfg.nblock; b++) {
			put_block(u->impl, f->impl, b, &h, out);
			buf_uleb(out, f->cfg.block[b].insns);
			put_succs(&f->cfg, b, out);
		}
	}
	buf_free(&h.text);
	buf_free(&h.ops);
	vec_free(&h.set);
}

/* ---- reading ---- */

struct reader {
	const uint8_t *p, *end;
	struct arena *mem;
};

static int read_text(struct reader *r, const char **out)
{
	uint64_t n;

	if (uleb_count(&r->p, r->end, 1, &n) || memchr(r->p, 0, n))
		return -1;
	*out = arena_strndup(r->mem, (const char *)r->p, n);
	r->p += n;
	return 0;
}

static int read_number(struct reader *r, uint64_t max, uint32_t *out)
{
	uint64_t v;

	if (uleb_read(&r->p, r->end, &v) || v > max)
		return -1;
	*out = (uint32_t)v;
	return 0;
}

static int read_block(struct reader *r, uint32_t nblock, struct shape_block *b)
{
	uint64_t n;
	uint32_t i;

	if ((size_t)(r->end - r->p) < 4 * SHAPE_LEVELS)
		return -1;
	for (i = 0; i < SHAPE_LEVELS; i++, r->p += 4)
		b->hash[i] = get_le32(r->p);
	if (read_number(r, UINT32_MAX, &b->insns) || uleb_count(&r->p, r->end, 1, &n))
		return -1;
	b->nsucc = (uint32_t)n;
	b->succ = arena_array(r->mem, n, sizeof *b->succ);
	for (i = 0; i < b->nsucc; i++)
		if (read_number(r, nblock - 1, &b->succ[i]))
			return -1;
	return 0;
}

static int read_func(struct reader *r, struct shape_func *f)
{
	uint64_t n;
	uint32_t i;

	if (read_text(r, &f->name) || read_text(r, &f->tu) || r->end - r->p < KEY)
		return -1;
	memcpy(f->key.b, r->p, KEY);
	r->p += KEY;
	if (uleb_count(&r->p, r->end, BLOCK_MIN, &n))
		return -1;
	f->nblock = (uint32_t)n;
	f->block = arena_array(r->mem, n, sizeof *f->block);
	for (i = 0; i < f->nblock; i++)
		if (read_block(r, f->nblock, &f->block[i]))
			return -1;
	return 0;
}

int shapes_decode(const void *p, size_t n, struct shapes *s, struct err *e)
{
	const size_t head = sizeof magic - 1;
	struct reader r = {p, (const uint8_t *)p + n, &s->mem};
	struct shape_func f;

	*s = (struct shapes){0};
	if (n < head || memcmp(p, magic, head))
		return err_set(e, "these are no shapes of this version: make them again");
	for (r.p += head; r.p < r.end;) {
		if (read_func(&r, &f)) {
			err_set(e, "shapes: damaged at function %zu: make them again", s->func.n);
			shapes_free(s);
			return -1;
		}
		vec_push(&s->func, f);
	}
	return 0;
}

void shapes_free(struct shapes *s)
{
	vec_free(&s->func);
	arena_free(&s->mem);
	*s = (struct shapes){0};
}
