#include "common/uops.h"
#include "common/le.h"
#include "common/sort.h"

#include <stdlib.h>
#include <string.h>

static const char MAGIC[8] = "MorphUO5";

/* Which fields of a uop follow; others are 0. */
enum {
	HAS_DST = 1,
	HAS_SRC = 2,
	HAS_ADDRESS = 4,
	HAS_AUX = 8,
	HAS_IMM = 16,
	SIZE_SHIFT = 5,
	HAS_FRAME = 128
};

enum { REGS_MASK = 31, OPEN = 128, FRAMES_EACH = 16 };

void uops_free(struct uops *u)
{
	vec_free(&u->func);
	vec_free(&u->block);
	vec_free(&u->uop);
	vec_free(&u->table);
	vec_free(&u->target);
	vec_free(&u->from);
	vec_free(&u->frame);
	vec_free(&u->frames_before);
}

size_t uops_size(const struct uops *u)
{
	return u->func.cap * sizeof *u->func.v + u->block.cap * sizeof *u->block.v +
	       u->uop.cap * sizeof *u->uop.v + u->table.cap * sizeof *u->table.v +
	       u->target.cap * sizeof *u->target.v + u->from.cap * sizeof *u->from.v +
	       u->frame.cap * sizeof *u->frame.v +
	       u->frames_before.cap * sizeof *u->frames_before.v;
}

/* The first entry of frame[] for a uop after i. */
static size_t frame_after(const struct uops *u, uint32_t i)
{
	size_t lo = 0, hi = u->frame.n, piece = i / FRAMES_EACH;

	if (i == UOPS_NONE)
		return 0;
	if (piece + 1 < u->frames_before.n) {
		lo = u->frames_before.v[piece];
		hi = u->frames_before.v[piece + 1];
	}
	return partition_point(lo, hi, k, u->frame.v[k].uop <= i);
}

/* ---- where blocks are entered from ---- */

uint32_t uops_next(const struct uops_block *b, uint32_t to[2])
{
	switch (b->term) {
	case UT_GO:
		to[0] = b->to;
		return 1;
	case UT_COND_OUT:
		to[0] = b->other;
		return 1;
	case UT_COND:
		to[0] = b->to;
		to[1] = b->other;
		return b->to == b->other ? 1 : 2;
	default:
		return 0;
	}
}

static void link_func(struct uops *u, const struct uops_func *f)
{
	struct uops_block *b = u->block.n ? u->block.v + f->block : NULL;
	uint32_t i, k, n, to[2], at = (uint32_t)u->from.n;

	for (i = 0; i < f->nblock; i++)
		for (n = uops_next(&b[i], to), k = 0; k < n; k++)
			b[to[k]].nfrom++;
	for (i = 0; i < f->nblock; i++) {
		b[i].open |= i == 0;
		b[i].from = at;
		at += b[i].nfrom;
		for (; b[i].nfrom; b[i].nfrom--)
			vec_push(&u->from, UOPS_NONE);
	}
	for (i = 0; i < f->nblock; i++)
		for (n = uops_next(&b[i], to), k = 0; k < n; k++)
			u->from.v[b[to[k]].from + b[to[k]].nfrom++] = i;
}

static void link_frames(struct uops *u)
{
	uint32_t i = 0, k;

	u->frames_before.n = 0;
	for (k = 0; k < u->uop.n + FRAMES_EACH; k += FRAMES_EACH) {
		while (i < u->frame.n && u->frame.v[i].uop < k)
			i++;
		vec_push(&u->frames_before, i);
	}
}

void uops_link(struct uops *u)
{
	size_t i;

	for (i = 0; i < u->func.n; i++)
		link_func(u, &u->func.v[i]);
	link_frames(u);
}

/* ---- writing ---- */

static int by_key(const void *a, const void *b)
{
	const struct uops_func *x = a, *y = b;

	return memcmp(x->key.b, y->key.b, sizeof x->key.b);
}

void uops_sort(struct uops *u)
{
	size_t i, n = 0;

	vec_sort(&u->func, by_key);
	for (i = 0; i < u->func.n; i++)
		if (!n || by_key(&u->func.v[n - 1], &u->func.v[i]))
			u->func.v[n++] = u->func.v[i];
	u->func.n = n;
}

static void put_signed(struct buf *out, int64_t v)
{
	buf_uleb(out, ((uint64_t)v << 1) ^ (uint64_t)(v >> 63));
}

static unsigned fields(const struct uop *o)
{
	unsigned f = (unsigned)o->size << SIZE_SHIFT;

	f |= o->dst ? HAS_DST : 0;
	f |= o->src ? HAS_SRC : 0;
	f |= o->base || o->index || o->scale || o->disp ? HAS_ADDRESS : 0;
	f |= o->aux ? HAS_AUX : 0;
	return f | (o->imm ? HAS_IMM : 0);
}

/* prev: where the uop before it begins; of the first one of a block, 0. */
static void put_uop(
    const struct uop *o, uint32_t prev, const struct uops_frame *frame, struct buf *out)
{
	unsigned f = fields(o) | (frame ? HAS_FRAME : 0);

	buf_char(out, (char)o->kind);
	buf_char(out, (char)f);
	buf_uleb(out, o->at == UOPS_NONE ? 0 : (uint64_t)o->at - prev + 1);
	if (f & HAS_DST)
		buf_char(out, (char)o->dst);
	if (f & HAS_SRC)
		buf_char(out, (char)o->src);
	if (f & HAS_ADDRESS) {
		buf_char(out, (char)o->base);
		buf_char(out, (char)(o->index | o->scale << SIZE_SHIFT));
		put_signed(out, o->disp);
	}
	if (f & HAS_AUX)
		buf_char(out, (char)o->aux);
	if (f & HAS_IMM)
		put_signed(out, o->imm);
	if (f & HAS_FRAME) {
		buf_char(out, (char)frame->reg);
		put_signed(out, frame->offset);
	}
}

static void put_block(
    const struct uops *u, const struct uops_block *b, size_t *frame, struct buf *out)
{
	const struct uops_frame *f;
	uint32_t i, prev = 0;

	buf_char(out, (char)(b->term | (b->open ? OPEN : 0)));
	buf_char(out, (char)b->cond);
	buf_char(out, (char)b->reg);
	buf_uleb(out, b->to);
	buf_uleb(out, b->other);
	buf_uleb(out, (uint32_t)(b->join + 1));
	if (b->join != UOPS_NONE)
		buf_uleb(out, (uint64_t)b->writes << 1 | b->stores);
	buf_uleb(out, b->nuop);
	for (i = b->uop; i < b->uop + b->nuop; i++) {
		f = *frame < u->frame.n && u->frame.v[*frame].uop == i ? &u->frame.v[*frame] : NULL;
		*frame += f != NULL;
		put_uop(&u->uop.v[i], prev, f, out);
		prev = u->uop.v[i].at;
	}
}

void uops_encode(const struct uops *u, struct buf *out)
{
	const struct uops_table *t;
	const struct uops_func *f;
	size_t i, frame = 0;
	uint32_t k, j;

	buf_add(out, MAGIC, sizeof MAGIC);
	buf_uleb(out, u->func.n);
	for (i = 0; i < u->func.n; i++) {
		f = &u->func.v[i];
		buf_add(out, f->key.b, sizeof f->key.b);
		buf_uleb(out, f->nblock);
		buf_uleb(out, f->ntable);
		for (k = 0; k < f->ntable; k++) {
			t = &u->table.v[f->table + k];
			buf_uleb(out, t->n);
			for (j = 0; j < t->n; j++)
				buf_uleb(out, (uint64_t)(u->target.v[t->first + j] + 1));
		}
		frame = f->nblock ? frame_after(u, u->block.v[f->block].uop - 1) : 0;
		for (k = 0; k < f->nblock; k++)
			put_block(u, &u->block.v[f->block + k], &frame, out);
	}
}

/* ---- reading ---- */

struct reader {
	const uint8_t *p, *end;
	struct uops *u;
	const struct uops_func *f; /* the function that is read */
};

static int get_byte(struct reader *r, unsigned max, uint8_t *v)
{
	if (r->p == r->end || *r->p > max)
		return -1;
	*v = *r->p++;
	return 0;
}

/* A number of things that take a byte or more each. */
static int get_count(struct reader *r, uint32_t *v)
{
	uint64_t x;

	if (uleb_count(&r->p, r->end, 1, &x) || x > INT32_MAX)
		return -1;
	*v = (uint32_t)x;
	return 0;
}

static int get_signed(struct reader *r, int64_t *v)
{
	uint64_t x;

	if (uleb_read(&r->p, r->end, &x))
		return -1;
	*v = (int64_t)(x >> 1) ^ -(int64_t)(x & 1);
	return 0;
}

static int get_int32(struct reader *r, int32_t *v)
{
	int64_t x;

	if (get_signed(r, &x) || x < INT32_MIN || x > INT32_MAX)
		return -1;
	*v = (int32_t)x;
	return 0;
}

static int get_address(struct reader *r, struct uop *o)
{
	if (get_byte(r, UA_N - 1, &o->base) || r->p == r->end)
		return -1;
	o->index = *r->p & REGS_MASK;
	o->scale = *r->p++ >> SIZE_SHIFT;
	return o->index > UA_NONE || o->scale > 3 || get_int32(r, &o->disp) ? -1 : 0;
}

static bool high(uint8_t operand)
{
	return operand >= UO_HIGH && operand < UO_MEM;
}

bool uops_sound(const struct uop *o, uint32_t ntable)
{
	if ((high(o->dst) && o->size) || o->dst == UO_IMM)
		return false;
	switch (o->kind) {
	case UOP_MOVZX:
	case UOP_MOVSX:
		return o->aux < o->size && !(high(o->src) && o->aux) && o->dst < UR_N;
	case UOP_LEA:
	case UOP_IMUL:
	case UOP_BSF:
	case UOP_BSR:
	case UOP_TZCNT:
	case UOP_LZCNT:
	case UOP_POPCNT:
		return o->size && o->dst < UR_N && !high(o->src);
	case UOP_BSWAP:
		return o->size > 1 && o->dst < UR_N;
	case UOP_IMUL3:
		return o->size && o->dst < UR_N && !high(o->src) && o->src != UO_IMM;
	case UOP_MULA:
	case UOP_IMULA:
	case UOP_DIV:
	case UOP_IDIV:
	case UOP_SIGN_DX:
		return o->size && !high(o->src);
	case UOP_SHLD:
	case UOP_SHRD:
		return o->size && o->aux < UR_N;
	case UOP_BT:
	case UOP_BTS:
	case UOP_BTR:
	case UOP_BTC:
		return o->size && !high(o->src);
	case UOP_SETCC:
		return o->aux < UC_N && !o->size;
	case UOP_CMOV:
		return o->aux < UC_N && o->size && o->dst < UR_N && !high(o->src);
	case UOP_CMPXCHG:
	case UOP_XADD:
		return (o->src < UR_N || high(o->src)) && !(high(o->src) && o->size);
	case UOP_PUSH:
	case UOP_POP:
		return !high(o->src) && !high(o->dst) && (o->size == 1 || o->size == 3);
	case UOP_LOOKUP:
		return o->dst < UR_N && o->index < UR_N && (uint64_t)o->imm < ntable;
	case UOP_ADD_BASE:
		return o->dst < UR_N && o->src < UR_N;
	case UOP_XCHG:
		return o->src != UO_IMM && o->src != UO_MEM && !(high(o->src) && o->size);
	default:
		/* A shift's count is a byte of its own. */
		return !(high(o->src) && o->size);
	}
}

static int get_frame(struct reader *r)
{
	struct uops_frame f = {.uop = (uint32_t)r->u->uop.n};

	if (get_byte(r, UA_NONE, &f.reg) || get_int32(r, &f.offset))
		return -1;
	vec_push(&r->u->frame, f);
	return 0;
}

/* *at: where the one before it begins. */
static int get_uop(struct reader *r, bool first, bool last, uint32_t *at)
{
	struct uop o = {0};
	uint64_t step;
	uint8_t f;

	if (get_byte(r, UOP_N - 1, &o.kind) || get_byte(r, 255, &f) ||
	    uleb_read(&r->p, r->end, &step) || step > UINT32_MAX)
		return -1;
	o.size = f >> SIZE_SHIFT & 3;
	o.at = step ? (uint32_t)(*at + step - 1) : UOPS_NONE;
	if ((o.kind == UOP_END) != last || (!step && !last) ||
	    (step && (o.at < *at || o.at >= INT32_MAX || (o.at > *at) == first)))
		return -1;
	if ((f & HAS_DST && get_byte(r, UO_N - 1, &o.dst)) ||
	    (f & HAS_SRC && get_byte(r, UO_N - 1, &o.src)) ||
	    (f & HAS_ADDRESS && get_address(r, &o)) || (f & HAS_AUX && get_byte(r, 255, &o.aux)) ||
	    (f & HAS_IMM && get_signed(r, &o.imm)) || !uops_sound(&o, r->f->ntable) ||
	    (f & HAS_FRAME && get_frame(r)))
		return -1;
	vec_push(&r->u->uop, o);
	*at = o.at;
	return 0;
}

static bool sound_block(const struct uops_func *f, const struct uops_block *b)
{
	bool to = b->to < f->nblock, other = b->other < f->nblock;

	switch (b->term) {
	case UT_GO:
		return to;
	case UT_COND:
		return to && other;
	case UT_COND_OUT:
		return other;
	case UT_LOOKUP:
		return b->to < f->ntable;
	default:
		return true;
	}
}

static int get_join(struct reader *r, struct uops_block *b)
{
	uint64_t join, changes = 0;

	if (uleb_read(&r->p, r->end, &join) || join > r->f->nblock ||
	    (join && uleb_read(&r->p, r->end, &changes)) || changes >> 1 > UINT16_MAX)
		return -1;
	b->join = (uint32_t)join - 1;
	b->writes = (uint16_t)(changes >> 1);
	b->stores = changes & 1;
	return 0;
}

static int get_block(struct reader *r)
{
	struct uops_block b = {.uop = (uint32_t)r->u->uop.n};
	uint64_t to, other;
	uint32_t i, at = 0;

	if (get_byte(r, 255, &b.term) || get_byte(r, UC_N - 1, &b.cond) ||
	    get_byte(r, UR_N - 1, &b.reg) || uleb_read(&r->p, r->end, &to) ||
	    uleb_read(&r->p, r->end, &other) || to > UINT32_MAX || other > UINT32_MAX ||
	    get_join(r, &b) || get_count(r, &b.nuop) || !b.nuop)
		return -1;
	b.open = b.term & OPEN;
	b.term &= OPEN - 1;
	b.to = (uint32_t)to;
	b.other = (uint32_t)other;
	if (b.term >= UT_N || !sound_block(r->f, &b))
		return -1;
	for (i = 0; i < b.nuop; i++)
		if (get_uop(r, i == 0, i + 1 == b.nuop, &at))
			return -1;
	vec_push(&r->u->block, b);
	return 0;
}

static int get_table(struct reader *r)
{
	struct uops_table t = {.first = (uint32_t)r->u->target.n};
	uint64_t id;
	uint32_t i;

	if (get_count(r, &t.n))
		return -1;
	for (i = 0; i < t.n; i++) {
		if (uleb_read(&r->p, r->end, &id) || id > r->f->nblock)
			return -1;
		vec_push(&r->u->target, (uint32_t)id - 1);
	}
	vec_push(&r->u->table, t);
	return 0;
}

static int get_func(struct reader *r)
{
	struct uops_func f = {.block = (uint32_t)r->u->block.n, .table = (uint32_t)r->u->table.n};
	uint32_t i;

	if ((size_t)(r->end - r->p) < sizeof f.key.b)
		return -1;
	memcpy(f.key.b, r->p, sizeof f.key.b);
	r->p += sizeof f.key.b;
	if (r->u->func.n && memcmp(r->u->func.v[r->u->func.n - 1].key.b, f.key.b, 16) >= 0)
		return -1;
	if (get_count(r, &f.nblock) || get_count(r, &f.ntable))
		return -1;
	r->f = &f;
	for (i = 0; i < f.ntable; i++)
		if (get_table(r))
			return -1;
	for (i = 0; i < f.nblock; i++)
		if (get_block(r))
			return -1;
	vec_push(&r->u->func, f);
	return 0;
}

/* Undoes get_func(). */
static void drop_last(struct uops *u)
{
	const struct uops_func *f = &u->func.v[u->func.n - 1];
	const struct uops_block *b = u->block.v + f->block;

	if (f->ntable)
		u->target.n = u->table.v[f->table].first;
	if (f->nblock)
		u->uop.n = b->uop;
	while (u->frame.n && u->frame.v[u->frame.n - 1].uop >= u->uop.n)
		u->frame.n--;
	u->block.n = f->block;
	u->table.n = f->table;
	u->func.n--;
}

int uops_decode(const void *p, size_t n, struct uops *u, struct err *e)
{
	return uops_decode_some(p, n, NULL, NULL, u, e);
}

int uops_decode_some(
    const void *p, size_t n, uops_keep_fn *keep, void *arg, struct uops *u, struct err *e)
{
	struct reader r = {.p = p, .u = u};
	uint32_t i, count;

	*u = (struct uops){0};
	if (n < sizeof MAGIC || memcmp(p, MAGIC, sizeof MAGIC))
		return err_set(e, "replay table: not one");
	r.end = r.p + n;
	r.p += sizeof MAGIC;
	if (n > INT32_MAX || get_count(&r, &count))
		goto garbled;
	for (i = 0; i < count; i++) {
		if (get_func(&r))
			goto garbled;
		if (keep && !keep(arg, &u->func.v[u->func.n - 1].key, r.p))
			drop_last(u);
	}
	if (r.p == r.end) {
		uops_link(u);
		return 0;
	}
garbled:
	uops_free(u);
	return err_set(e, "replay table: garbled at byte %zu", (size_t)(r.p - (const uint8_t *)p));
}

/* ---- looking up ---- */

uint32_t uops_find(const struct uops *u, const struct hash128 *key)
{
	size_t at =
	    partition_point(0, u->func.n, i, memcmp(u->func.v[i].key.b, key->b, sizeof key->b) < 0);

	return at < u->func.n && hash_equal(&u->func.v[at].key, key) ? (uint32_t)at : UOPS_NONE;
}

static const struct uops_block *find_block(const struct uops *u, uint32_t func, uint32_t block)
{
	const struct uops_func *f = func < u->func.n ? &u->func.v[func] : NULL;

	return f && block < f->nblock ? &u->block.v[f->block + block] : NULL;
}

uint32_t uops_at(const struct uops *u, uint32_t func, uint32_t block, uint32_t offset)
{
	const struct uops_block *b = find_block(u, func, block);
	uint32_t at, last;

	if (!b)
		return UOPS_NONE;
	last = b->uop + b->nuop - 1;
	if (offset >= u->uop.v[last].at)
		return last;
	at = (uint32_t)partition_point(b->uop, last, i, u->uop.v[i].at < offset);
	return u->uop.v[at].at == offset ? at : UOPS_NONE;
}

uint32_t uops_callee(const char *name, size_t n)
{
	struct hash128 h = hash_bytes(name, n);
	uint32_t short_hash = (uint32_t)hash_short(&h) & INT32_MAX;

	return short_hash ? short_hash : 1;
}

/* A call that does not return ends its block as if it were left. */
static bool block_returns(const struct uops *u, const struct uops_block *b)
{
	const struct uop *last = b->nuop > 1 ? &u->uop.v[b->uop + b->nuop - 2] : NULL;

	switch (b->term) {
	case UT_GO:
	case UT_COND:
	case UT_LOOKUP:
	case UT_RET:
		return true;
	case UT_STOP:
		return last && last->kind == UOP_CALL && last->aux;
	default:
		return false;
	}
}

bool uops_returns(const struct uops *u, uint32_t func)
{
	const struct uops_func *f = &u->func.v[func];
	uint32_t i;

	for (i = 0; i < f->nblock; i++)
		if (!block_returns(u, &u->block.v[f->block + i]))
			return false;
	return true;
}

uint32_t uops_after_call(const struct uops *u, uint32_t func, uint32_t block, uint32_t offset)
{
	uint32_t i = uops_at(u, func, block, offset);

	if (i != UOPS_NONE && u->uop.v[i].at == offset && i > find_block(u, func, block)->uop &&
	    u->uop.v[i - 1].kind == UOP_CALL)
		return i;
	return UOPS_NONE;
}

const struct uops_frame *uops_frame(const struct uops *u, uint32_t uop)
{
	size_t k = frame_after(u, uop);

	return k && u->frame.v[k - 1].reg < UR_N ? &u->frame.v[k - 1] : NULL;
}
