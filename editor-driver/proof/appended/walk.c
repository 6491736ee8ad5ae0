#include "editor-driver/proof/appended/comparison.h"

/* In a row: a few, and what aligns them. */
enum { PASSED_MAX = 256 };

/* The addresses that code comes through from one on, over jumps and no-operations, to the
 * instruction that comes then. */
struct path {
	uint64_t at[PASSED_MAX];
	unsigned n;
	struct insn insn; /* at the last; INSN_ODD also where that is outside of the new code */
	bool circle;      /* there is none: jumps lead to one another; the last is the lowest of
			     them */
};

static uint64_t last(const struct path *p)
{
	return p->at[p->n - 1];
}

/* ---- spots ---- */

bool in_text(const struct comparison *c, uint64_t addr)
{
	return addr - c->text->p_vaddr < c->text->p_filesz;
}

struct spot *spot_at(const struct comparison *c, uint64_t addr)
{
	uint32_t n = in_text(c, addr) ? c->index[addr - c->text->p_vaddr] : 0;

	return n ? &c->spot.v[n - 1] : NULL;
}

uint32_t spot_number(const struct comparison *c, const struct spot *s)
{
	return (uint32_t)(s - c->spot.v) + 1;
}

static struct spot *add_spot(struct comparison *c, uint64_t addr, unsigned len)
{
	vec_push(
	    &c->spot, (struct spot){.made = (uint32_t)(addr - c->made.begin), .len = (uint8_t)len});
	c->index[addr - c->text->p_vaddr] = (uint32_t)c->spot.n;
	return &c->spot.v[c->spot.n - 1];
}

static void add_pred(struct comparison *c, struct spot *s, uint32_t from)
{
	if (!from || (s->pred && c->pred.v[s->pred - 1].from == from))
		return;
	vec_push(&c->pred, (struct pred){from, s->pred});
	s->pred = (uint32_t)c->pred.n;
}

void walk_add(struct comparison *c, uint64_t made, uint64_t orig, uint32_t from)
{
	vec_push(&c->todo, (struct pair){made, orig, from, 0});
}

int differ(struct comparison *c, uint64_t made, uint64_t orig, const char *what)
{
	*c->where = made;
	return err_set(c->e, "new code at %#llx (%#llx in the original): %s",
	    (unsigned long long)made, (unsigned long long)orig, what);
}

void decode(struct comparison *c, struct loaded *im, uint64_t addr, struct insn *out)
{
	uint64_t n;
	const uint8_t *p = loaded_bytes(im, addr, &n);

	insn_decode(&c->decoder, p, n, addr, out);
}

/* ---- over jumps and no-operations ---- */

/* Does the jump at the end of the path lead back into it? */
static bool is_circle(struct path *p, uint64_t to)
{
	uint64_t least = to;
	unsigned i;

	for (i = 0; i < p->n && p->at[i] != to; i++)
		;
	p->circle = i < p->n;
	for (; i < p->n; i++)
		least = p->at[i] < least ? p->at[i] : least;
	if (p->circle)
		p->at[p->n - 1] = least;
	return p->circle;
}

static int find_path(struct comparison *c, struct loaded *im, uint64_t addr, struct path *p)
{
	p->circle = false;
	for (p->n = 0; p->n < PASSED_MAX;) {
		p->at[p->n++] = addr;
		p->insn = (struct insn){.kind = INSN_ODD};
		if (im == &c->made && !in_text(c, addr))
			return 0;
		decode(c, im, addr, &p->insn);
		if (p->insn.kind == INSN_NOP)
			addr += p->insn.len;
		else if (p->insn.kind != INSN_JMP || is_circle(p, p->insn.to))
			return 0;
		else
			addr = p->insn.to;
	}
	return -1;
}

/* Most instructions are where their path begins, and need not be decoded again. */
static int find_made(struct comparison *c, uint64_t made, const struct path *o, struct path *m)
{
	if (!o->circle && insns_repeat(c, made, last(o), &o->insn, &m->insn)) {
		m->at[0] = made;
		m->n = 1;
		m->circle = false;
		return 0;
	}
	return find_path(c, &c->made, made, m);
}

/* Does a jump have the row of some place that the original comes through there, or of the
 * conditional jump before it, which changes nothing? */
static bool unwinds_as(
    struct comparison *c, const struct spot *s, const struct path *o, uint64_t jcc)
{
	unsigned k;

	for (k = 0; k < o->n; k++)
		if (unwinding_agrees(c, s, o->at[k]))
			return true;
	return jcc && unwinding_agrees(c, s, jcc);
}

/* The jumps and no-operations of the new code before its instruction; p->from becomes the last, or
 * 0 where that is known already. */
static void pass(struct comparison *c, const struct path *m, const struct path *o, struct pair *p)
{
	unsigned n = m->circle ? m->n : m->n - 1, i;
	struct spot *s;
	struct insn x;
	bool known;

	for (i = 0; i < n; i++) {
		s = spot_at(c, m->at[i]);
		known = s != NULL;
		if (!known) {
			decode(c, &c->made, m->at[i], &x);
			s = add_spot(c, m->at[i], x.len);
			s->passed = true;
		}
		add_pred(c, s, p->from);
		p->from = known ? 0 : spot_number(c, s);
		s->unwinds = s->unwinds || unwinds_as(c, s, o, p->jcc);
	}
}

/* Old code is entered where the original comes through, and nothing was replaced. */
static bool same_old(const struct comparison *c, uint64_t made, const struct path *o)
{
	unsigned i;

	for (i = 0; i < o->n && o->at[i] != made; i++)
		;
	return i < o->n && !entries_replaced(c, made);
}

/* ---- from a pair on ---- */

/* jmp stub, and jmp *slot(%rip) instead: a jump that the original has not. */
static bool is_slot_jump(struct comparison *c, const struct path *m, const struct path *o)
{
	return o->n > 1 && m->insn.kind == INSN_LEAVE && m->insn.field &&
	       m->insn.to == stub_slot(c, last(o));
}

/* Where an instruction was met before: it must be the same in the original. A jump through a slot
 * may be one of the original's, too. */
static int compare_again(
    struct comparison *c, const struct pair *p, struct spot *s, const struct path *o, bool slot)
{
	add_pred(c, s, p->from);
	if (s->orig != (uint32_t)(p->orig - c->orig.begin))
		return differ(c, p->made, p->orig, "it has two places in the original");
	if (slot || !s->passed)
		return 1;
	s->passed = false;
	return unwinding_compare(c, p->made, s->len, p->orig, o->insn.len) ? -1 : 1;
}

/* The instructions that two paths lead to. 1: nothing comes after them that has to be looked at,
 * else *p is what does. */
static int compare_ends(
    struct comparison *c, struct pair *p, const struct path *m, const struct path *o)
{
	bool slot = is_slot_jump(c, m, o);
	struct spot *s = spot_at(c, last(m));

	p->made = last(m);
	p->orig = last(o);
	if (s)
		return compare_again(c, p, s, o, slot);
	s = add_spot(c, p->made, m->insn.len);
	s->orig = (uint32_t)(p->orig - c->orig.begin);
	s->passed = slot;
	add_pred(c, s, p->from);
	p->from = spot_number(c, s);
	if (slot) {
		s->unwinds = unwinds_as(c, s, o, p->jcc);
		return 1;
	}
	return unwinding_compare(c, p->made, m->insn.len, p->orig, o->insn.len)
		   ? -1
		   : insns_compare(c, p, &m->insn, &o->insn);
}

static int follow(struct comparison *c, struct pair p)
{
	struct path m, o;
	int rc = 0;

	while (!rc) {
		if (find_path(c, &c->orig, p.orig, &o) || find_made(c, p.made, &o, &m))
			return differ(c, p.made, p.orig, "nothing but jumps and no-operations");
		pass(c, &m, &o, &p);
		if (m.circle || o.circle)
			rc = m.circle && o.circle ? 1 : differ(c, p.made, p.orig, "an empty loop");
		else if (in_text(c, last(&m)))
			rc = compare_ends(c, &p, &m, &o);
		else
			rc = same_old(c, last(&m), &o)
				 ? 1
				 : differ(c, p.made, p.orig, "it leads elsewhere");
	}
	return rc < 0 ? -1 : 0;
}

int walk(struct comparison *c)
{
	while (c->todo.n)
		if (follow(c, c->todo.v[--c->todo.n]))
			return -1;
	return 0;
}
