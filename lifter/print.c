/*
 * The text of a function's unit (docs/notes/legacy.md, "The text").
 */
#include "common/hash.h"
#include "common/le.h"
#include "lifter/att.h"
#include "lifter/body.h"

#include <stdio.h>
#include <string.h>

static const char *const CONDITION[] = {
    "o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"};

struct printer {
	struct body *b;
	struct buf *out;
	struct buf sets; /* .set directives */
	struct htab set; /* names that have one */
	cfi_notes cfi[2];
	size_t note; /* the next of the part's */
};

typedef unsigned long long ull;

/* ---- names ---- */

/* Defines a name as an address, once. */
static void define(struct printer *r, const char *name, uint64_t addr)
{
	bool fresh;

	htab_put_str(&r->set, name, &fresh);
	if (fresh)
		buf_printf(&r->sets, "\t.set\t%s, image+%#llx\n", name, (ull)addr);
}

/* The symbol that a jump or call to an address names; of a stub with @PLT. */
static const char *symbol(struct printer *r, uint64_t addr)
{
	const struct function *f = survey_entry(r->b->s, addr);
	const struct image_stub *stub = image_stub(r->b->m, addr);
	struct arena *mem = &r->b->mem;
	const char *name;

	if (f)
		return f->name;
	if (stub && image_plain(stub->name) && !survey_named(r->b->s, stub->name)) {
		define(r, stub->name, addr);
		if (stub->bound)
			define(r, arena_printf(mem, "got.%s", stub->name), stub->slot);
		return arena_printf(mem, "%s@PLT", stub->name);
	}
	name = arena_printf(mem, "old.%llx", (ull)addr);
	define(r, name, addr);
	return name;
}

static const char DIGIT[] = "0123456789abcdef";

static void put_hex(struct buf *out, uint64_t v)
{
	char text[16];
	unsigned n = 0;

	do
		text[sizeof text - ++n] = DIGIT[v & 15];
	while ((v >>= 4));
	buf_add(out, text + sizeof text - n, n);
}

static void put_address(struct buf *out, const char *before, uint64_t addr)
{
	buf_str(out, before);
	put_hex(out, addr);
}

/* Where a jump goes: a label of the function, or another. */
static void target(struct printer *r, uint64_t addr)
{
	if (body_step(r->b, addr))
		put_address(r->out, ".L", addr);
	else
		buf_str(r->out, symbol(r, addr));
	buf_char(r->out, '\n');
}

/* ---- instructions ---- */

/* The bytes, with '@' for the four of a distance. */
static void bytes(struct printer *r, const struct step *s, const uint8_t *p)
{
	enum { MOST = 2 * 15 + 1 };
	char *begin, *to;
	unsigned i;

	buf_str(r->out, "\t#=");
	begin = to = buf_grow(r->out, MOST);
	for (i = 0; i < s->c.len; i++) {
		if (s->c.field && i == s->c.field) {
			*to++ = '@';
			i += 3;
			continue;
		}
		*to++ = DIGIT[p[i] >> 4];
		*to++ = DIGIT[p[i] & 15];
	}
	*to++ = '\n';
	r->out->n -= (size_t)(begin + MOST - to);
}

/* What Zydis prints as "N(%rip)", or of a table "N(,", with an address in place of N. */
static void with_operand(
    struct printer *r, const char *text, const char *mark, const char *before, uint64_t addr)
{
	const char *at = strstr(text, mark), *from = at ? at : text;

	while (from > text && !strchr(" ,*:", from[-1]))
		from--;
	buf_add(r->out, text, (size_t)(from - text));
	put_address(r->out, before, addr);
	buf_str(r->out, at ? at : "");
}

/* The text of an instruction, a distance in it as 0: in room, or valid until the thread's next
 * call. Those printed last are kept, since three in four come again. */
static const char *text_of(const struct step *s, const uint8_t *p, char room[ATT_TEXT])
{
	enum { BITS = 12, LENGTH = 15 };
	static const uint64_t mix = 0x9e3779b97f4a7c15;
	static _Thread_local struct {
		uint8_t insn[LENGTH + 1]; /* and its length */
		char text[48];
	} __attribute__((aligned(64))) kept[1 << BITS], *k;
	uint8_t insn[LENGTH + 1] = {[LENGTH] = s->c.len};
	size_t n;

	memcpy(insn, p, s->c.len);
	if (s->c.field)
		put_le32(insn + s->c.field, 0);
	k = &kept[(get_le64(insn) * mix + get_le64(insn + 8)) * mix >> (64 - BITS)];
	if (!memcmp(k->insn, insn, sizeof insn))
		return k->text;
	att_print(insn, s->c.len, 0, room);
	n = strlen(room);
	if (n < sizeof k->text) {
		memcpy(k->insn, insn, sizeof insn);
		memcpy(k->text, room, n + 1);
	}
	return room;
}

static void plain(struct printer *r, const struct step *s, const uint8_t *p)
{
	const struct jump_table *t = s->operand ? &r->b->table.v[s->operand - 1] : NULL;
	char room[ATT_TEXT];
	const char *text = text_of(s, p, room);

	buf_char(r->out, '\t');
	if (t)
		with_operand(r, text, t->wide ? "(" : "(%rip)", ".LT", t->addr);
	else if (s->c.field)
		with_operand(r, text, "(%rip)", "image+0x", step_target(s));
	else
		buf_str(r->out, text);
	if (t && t->wide)
		buf_char(r->out, '\n');
	else
		bytes(r, s, p);
}

static void instruction(struct printer *r, const struct step *s)
{
	const uint8_t *p = image_at(r->b->m, s->addr, s->c.len);
	char text[ATT_TEXT];

	switch (s->c.kind) {
	case CODE_JCC:
		buf_str(r->out, "\tj");
		buf_str(r->out, CONDITION[s->c.cond]);
		buf_char(r->out, '\t');
		target(r, step_target(s));
		break;
	case CODE_JMP:
		buf_str(r->out, s->c.prefixed && *p == 0xf2 ? "\tbnd jmp\t" : "\tjmp\t");
		target(r, step_target(s));
		break;
	case CODE_SHORT:
		att_print(p, s->c.len, s->addr, text);
		buf_printf(r->out, "\t%.*s\t", (int)strcspn(text, " "), text);
		target(r, step_target(s));
		break;
	case CODE_CALL:
		buf_str(r->out, "\tcall\t");
		buf_str(r->out, symbol(r, step_target(s)));
		bytes(r, s, p);
		break;
	default:
		plain(r, s, p);
	}
}

/* ---- tables ---- */

static void print_table(struct printer *r, struct jump_table *t)
{
	uint32_t i;

	if (t->printed)
		return;
	t->printed = true;
	buf_printf(r->out, "\t.section\t.rodata\n\t.align %d\n\t.align %d\n.LT%llx:\n",
	    t->wide ? 8 : 4, t->wide ? 8 : 4, (ull)t->addr);
	for (i = 0; i < t->n; i++) {
		buf_str(r->out, t->wide ? "\t.quad\t" : "\t.long\t");
		put_address(
		    r->out, body_step(r->b, t->target[i]) ? ".L" : "image+0x", t->target[i]);
		if (!t->wide)
			put_address(r->out, "-.LT", t->addr);
		buf_char(r->out, '\n');
	}
}

/* Before the code: data behind an indirect jump would be that one's table. */
static void print_words(struct printer *r)
{
	const struct image_word *w = r->b->word.v, *end = w + r->b->word.n;

	if (w < end)
		buf_str(r->out, "\t.section\t.morph.words,\"\",@progbits\n");
	for (; w < end; w++)
		if (w->to == r->b->part[0]->fde.pc)
			buf_printf(
			    r->out, "\t.quad\timage+%#llx, %s\n", (ull)w->addr, r->b->f->name);
		else
			buf_printf(
			    r->out, "\t.quad\timage+%#llx, .L%llx\n", (ull)w->addr, (ull)w->to);
}

static const char *const SECTION[] = {"\t.text\n", "\t.section\t.text.unlikely\n"};

static void tables_after(struct printer *r, const struct step *s)
{
	unsigned i;

	for (i = 0; i < 2; i++)
		if (s->table[i])
			print_table(r, &r->b->table.v[s->table[i] - 1]);
	if (s->table[0])
		buf_str(r->out, SECTION[s->part]);
}

/* ---- code ---- */

/* No-operations from step i on that only align what follows: to the first step behind them. */
static uint32_t skip_padding(const struct printer *r, uint32_t i, uint32_t end, unsigned *align)
{
	const struct step *s = r->b->step.v;
	uint32_t k = i;

	while (k < end && s[k].c.kind == CODE_NOP && (k == i || !s[k].label) && !s[i].label)
		k++;
	if (k == i || (k < end && !s[k].label))
		return i;
	*align = k == end ? 0 : (unsigned)__builtin_ctzll(s[k].addr | 64);
	return k == end || *align >= 3 ? k : i;
}

/* Unwind directives up to an address; false: one lies inside an instruction. */
static bool notes(struct printer *r, unsigned part, uint64_t addr)
{
	const cfi_notes *n = &r->cfi[part];

	for (; r->note < n->n && n->v[r->note].addr <= addr; r->note++) {
		if (n->v[r->note].addr < addr)
			return false;
		buf_char(r->out, '\t');
		buf_str(r->out, n->v[r->note].text);
		buf_char(r->out, '\n');
	}
	return true;
}

static const char *steps(struct printer *r, unsigned part, uint32_t i, uint32_t end)
{
	static const char odd[] = "unwind information that names no instruction";
	struct step *s = r->b->step.v;
	unsigned align = 0;
	uint32_t k;

	while (i < end) {
		k = skip_padding(r, i, end, &align);
		if (k > i && k < end)
			buf_printf(r->out, "\t.p2align %u,,%d\n", align, (1 << align) - 1);
		for (; i < k; i++) {
			s[i].padding = true;
			if (!notes(r, part, s[i].addr))
				return odd;
		}
		if (i == end)
			break;
		if (!notes(r, part, s[i].addr))
			return odd;
		if (s[i].label) {
			put_address(r->out, ".L", s[i].addr);
			buf_str(r->out, ":\n");
		}
		instruction(r, &s[i]);
		tables_after(r, &s[i++]);
	}
	return NULL;
}

static void personality(struct printer *r, unsigned part)
{
	const struct eh_cie *c = &r->b->part[part]->fde.cie;
	const struct image_slot *slot = image_slot(r->b->m, c->personality);
	const struct image_stub *stub = image_stub(r->b->m, c->personality);
	const char *name = NULL;

	if (!c->personality)
		return;
	if (slot && image_plain(slot->name))
		name = arena_printf(&r->b->mem, "DW.ref.%s", slot->name);
	else if (stub && image_plain(stub->name) && !survey_named(r->b->s, stub->name))
		name = stub->name;
	if (!name)
		name = arena_printf(&r->b->mem, "old.%llx", (ull)c->personality);
	define(r, name, c->personality);
	buf_printf(r->out, "\t.cfi_personality\t%#x,%s\n", c->personality_encoding, name);
	if (r->b->part[part]->fde.lsda)
		buf_printf(r->out, "\t.cfi_lsda\t%#x,.LLSDA%llx\n", c->lsda,
		    (ull)r->b->part[part]->fde.pc);
}

static const char *print_part(struct printer *r, unsigned part)
{
	const struct body *b = r->b;
	const struct fragment *f = b->part[part];
	uint32_t from = part ? b->first1 : 0, end = part ? (uint32_t)b->step.n : b->first1;
	const char *suffix = part ? ".cold" : "", *why;
	bool fresh = !b->step.v[from].label;

	buf_str(r->out, SECTION[part]);
	if (!part)
		buf_str(r->out, "\t.p2align 4\n");
	buf_printf(r->out, "\t%s\t%s%s\n\t.type\t%s%s, @function\n%s%s:\n",
	    part ? ".local" : ".globl", b->f->name, suffix, b->f->name, suffix, b->f->name, suffix);
	buf_str(r->out, "\t.cfi_startproc\n");
	personality(r, part);
	if (fresh)
		buf_printf(r->out, ".L%llx:\n", (ull)f->fde.pc);
	r->note = 0;
	why = steps(r, part, from, end);
	if (why)
		return why;
	buf_printf(r->out, ".L%llx.end:\n\t.cfi_endproc\n", (ull)f->fde.pc);
	lsda_print(b, part, r->out);
	if (f->fde.lsda)
		buf_str(r->out, SECTION[part]);
	return NULL;
}

static void sizes(const struct body *b, struct buf *out)
{
	buf_printf(out, "\t.text\n\t.size\t%s, .-%s\n", b->f->name, b->f->name);
	if (b->part[1])
		buf_printf(
		    out, "%s\t.size\t%s.cold, .-%s.cold\n", SECTION[1], b->f->name, b->f->name);
}

static void begin(const char *name, struct buf *out)
{
	buf_printf(out, "\t.file\t\"%s\"\n", name);
}

static void end(struct buf *out)
{
	buf_str(out, "\t.ident\t\"morph: lifted\"\n");
}

const char *body_print(struct body *b, struct buf *out)
{
	struct printer r = {.b = b, .out = out};
	const char *why = NULL;
	unsigned i;

	for (i = 0; i < 2 && !why; i++)
		if (b->part[i])
			why = cfi_read(&b->part[i]->fde, &b->mem, &r.cfi[i]);
	if (!why) {
		begin(b->f->name, out);
		print_words(&r);
		why = print_part(&r, 0);
	}
	if (!why && b->part[1])
		why = print_part(&r, 1);
	if (!why) {
		sizes(b, out);
		buf_add(out, r.sets.p, r.sets.n);
		end(out);
	}
	vec_free(&r.cfi[0]);
	vec_free(&r.cfi[1]);
	buf_free(&r.sets);
	htab_free(&r.set);
	return why;
}

void body_print_stays(const char *name, const char *why, struct buf *out)
{
	begin(name, out);
	buf_printf(out,
	    "\t.text\n\t.type\t%s, @function\n%s:\n\t.stays\t\"%s\"\n\t.size\t%s, .-%s\n", name,
	    name, why, name, name);
	end(out);
}
