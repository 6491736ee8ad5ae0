/*
 * The signature of a conditional jump: the last instructions up to it, without their registers and
 * stack offsets. Copies of the same source (a macro, an inlined function, an unrolled loop) have
 * equal signatures.
 */
#include "editor/asm/text.h"

#include <ctype.h>

enum { INSNS = 3 }; /* the jump among them */

/* Of a number before "(%rsp": its length, else 0. */
static uint32_t stack_offset(struct str s, uint32_t at)
{
	static const char sp[] = "(%rsp";
	uint32_t i = at;

	while (i < s.n && (s.p[i] == '-' || isdigit((unsigned char)s.p[i])))
		i++;
	return s.n - i >= sizeof sp - 1 && !memcmp(s.p + i, sp, sizeof sp - 1) ? i - at : 0;
}

static uint32_t word(struct str s, uint32_t at)
{
	uint32_t i = at;

	while (i < s.n && isalnum((unsigned char)s.p[i]))
		i++;
	return i - at;
}

static void put_operands(struct buf *out, struct str s)
{
	uint32_t i = 0;

	while (i < s.n) {
		i += stack_offset(s, i);
		buf_char(out, s.p[i]);
		if (s.p[i] == '%' || (s.p[i] == 'L' && i && s.p[i - 1] == '.'))
			i += word(s, i + 1);
		i++;
	}
}

static uint64_t signature(const struct unit_impl *u, const struct func *f, const struct blk *k)
{
	struct buf text = {0};
	struct hash128 h;
	const struct stmt *st;
	uint32_t i = k->last, n = 0;

	while (i > k->first && n < INSNS) {
		st = &u->stmt.v[f->code.v[--i]];
		if (st->kind != ST_INSN)
			continue;
		if (n++) /* the target is not significant */
			put_operands(&text, st->arg);
		buf_char(&text, ' ');
		buf_add(&text, st->op.p, st->op.n);
		buf_char(&text, '\n');
	}
	h = hash_bytes(text.p, text.n);
	buf_free(&text);
	return hash_short(&h);
}

void unit_signatures(const struct unit *unit, uint32_t ord)
{
	const struct unit_impl *u = unit->impl;
	const struct func *f = &u->func.v[ord];
	uint32_t b;

	for (b = 0; f->blk && b < f->nblk; b++)
		if (f->blk[b].term == TERM_COND)
			unit->func[ord].cfg.block[b].signature = signature(u, f, &f->blk[b]);
}
