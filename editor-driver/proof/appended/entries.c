#include "editor-driver/proof/appended/comparison.h"
#include "common/le.h"
#include "common/sort.h"

#include <string.h>

enum { ENDBR64 = 4 };

static bool is_endbr64(struct loaded *im, uint64_t addr)
{
	const uint8_t *p = loaded_at(im, addr, ENDBR64);

	return p && !memcmp(p, "\xf3\x0f\x1e\xfa", ENDBR64);
}

static int wrong_entry(struct comparison *c, uint64_t at, const char *what)
{
	*c->where = at;
	return err_set(c->e, "the old entry at %#llx: %s", (unsigned long long)at, what);
}

/* A function that begins at an address jumps to new code there, behind endbr64. */
static int read_entry(struct comparison *c, uint64_t at)
{
	struct entry n = {.at = at, .jump = at + (is_endbr64(&c->orig, at) ? ENDBR64 : 0)};
	const struct frame *f = frames_find(&c->orig_frames, at);
	const uint8_t *p = loaded_at(&c->made, n.jump, ENTRY_JUMP);

	if (!f || f->fde.pc != at || f->fde.size < n.jump - at + ENTRY_JUMP ||
	    !loaded_at(&c->orig, n.jump, ENTRY_JUMP))
		return wrong_entry(c, at, "no function of the original, or one that is too short");
	if (!p || *p != 0xe9)
		return wrong_entry(c, at, "there is no jump to a new body");
	n.to = n.jump + ENTRY_JUMP + (uint64_t)(int32_t)get_le32(p + 1);
	if (!in_text(c, n.to))
		return wrong_entry(c, at, "the jump does not lead to new code");
	vec_push(&c->entry, n);
	walk_add(c, n.to, is_endbr64(&c->made, n.to) ? at : n.jump, SPOT_UNKNOWN);
	return 0;
}

int entries_read(struct comparison *c, const uint64_t *edited, size_t n)
{
	const struct bm_frag *f = c->orig_map->frag.v, *end = f + c->orig_map->frag.n;

	for (; f < end; f++)
		if (!f->fragment && n && bsearch(&f->tu, edited, n, sizeof *edited, order_u64) &&
		    read_entry(c, f->addr))
			return -1;
	return 0;
}

/* The entry whose jump holds an address, or NULL. */
static const struct entry *entry_at(const struct comparison *c, uint64_t addr)
{
	size_t n = partition_point(0, c->entry.n, i, c->entry.v[i].jump <= addr);

	return n && addr - c->entry.v[n - 1].jump < ENTRY_JUMP ? &c->entry.v[n - 1] : NULL;
}

bool entries_replaced(const struct comparison *c, uint64_t addr)
{
	const struct entry *f = entry_at(c, addr);

	return f && addr != f->jump;
}

/* ---- nothing of the original leads into what was replaced ---- */

static int leads_inside(struct comparison *c, uint64_t to, const char *what, uint64_t from)
{
	*c->where = to;
	return err_set(c->e,
	    "the old entry at %#llx: %s at %#llx leads to %#llx, inside of its jump",
	    (unsigned long long)entry_at(c, to)->at, what, (unsigned long long)from,
	    (unsigned long long)to);
}

/* The distances from an address of read-only data on that lead to code, up to the next address
 * there that code takes: perhaps a jump table. */
static int check_table(struct comparison *c, uint64_t table, uint64_t end)
{
	uint64_t k, to;

	for (k = 0; table + 4 * k < end && loaded_at(&c->orig, table + 4 * k, 4); k++) {
		to = table_target(&c->orig, table, 4, k);
		if (!loaded_is_code(&c->orig, to))
			break;
		if (entries_replaced(c, to))
			return leads_inside(c, to, "a jump table", table);
	}
	return 0;
}

static int check_tables(struct comparison *c)
{
	size_t i;

	vec_sort(&c->taken, order_u64);
	for (i = 0; i < c->taken.n; i++)
		if (check_table(
			c, c->taken.v[i], i + 1 < c->taken.n ? c->taken.v[i + 1] : UINT64_MAX))
			return -1;
	return 0;
}

static void add_taken(struct comparison *c, uint64_t addr)
{
	if (loaded_is_constant(&c->orig, addr) && !loaded_is_code(&c->orig, addr))
		vec_push(&c->taken, addr);
}

static int makes_address(struct comparison *c, uint64_t at, uint64_t to)
{
	*c->where = to;
	return err_set(c->e,
	    "an instruction at %#llx makes the address of the function at %#llx, to which pointers "
	    "lead to its new body",
	    (unsigned long long)at, (unsigned long long)to);
}

static int check_insn(struct comparison *c, uint64_t at, const uint8_t *p, const struct insn *i)
{
	const struct entry *f = i->field ? entry_at(c, i->to) : NULL;

	if (i->lea && words_lead(c, i->to))
		return makes_address(c, at, i->to);
	if (i->lea)
		add_taken(c, i->to);
	if (i->table)
		add_taken(c, (uint64_t)(int32_t)get_le32(p + i->table));
	if (!f || entry_at(c, at))
		return 0;
	if (i->to != f->jump)
		return leads_inside(c, i->to, "an instruction", at);
	if (i->kind == INSN_PLAIN && !i->lea)
		return leads_inside(c, i->to, "an instruction that reads code", at);
	return 0;
}

/* All instructions from one address to another, in their order; what is none counts as one of a
 * byte. Between functions data may lie, in which a jump of short reach is soon seen. */
static int check_run(struct comparison *c, uint64_t from, uint64_t to, bool function)
{
	uint64_t n;
	const uint8_t *p = loaded_bytes(&c->orig, from, &n), *end;
	struct insn i;

	for (end = p + (n < to - from ? n : to - from); p < end;) {
		insn_decode(&c->decoder, p, (uint64_t)(end - p), from, &i);
		if ((function || i.width != 1) && check_insn(c, from, p, &i))
			return -1;
		p += i.len ? i.len : 1;
		from += i.len ? i.len : 1;
	}
	return 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Functions are where unwind information is. */
static int check_section(struct comparison *c, const struct loaded_range *r)
{
	const struct frame *f = c->orig_frames.frame.v, *end = f + c->orig_frames.frame.n;
	uint64_t at = r->begin, next;

	f += partition_point(0, c->orig_frames.frame.n, i, f[i].fde.pc + f[i].fde.size <= at);
	for (; f < end && f->fde.pc < r->end; f++, at = next) {
		next = least(f->fde.pc + f->fde.size, r->end);
		if (check_run(c, at, f->fde.pc, false) || check_run(c, f->fde.pc, next, true))
			return -1;
	}
	return check_run(c, at, r->end, false);
}

static int check_code(struct comparison *c)
{
	size_t i;

	for (i = 0; i < c->orig.code.n; i++)
		if (check_section(c, &c->orig.code.v[i]))
			return -1;
	return check_tables(c);
}

static int check_landing_pads(struct comparison *c)
{
	struct frame *f = c->orig_frames.frame.v, *end = f + c->orig_frames.frame.n;
	size_t i;

	for (; f < end; f++) {
		if (f->fde.lsda && frames_read(&c->orig_frames, f, c->e))
			return -1;
		for (i = 0; i < f->table.site.n; i++)
			if (entries_replaced(c, f->table.site.v[i].pad))
				return leads_inside(
				    c, f->table.site.v[i].pad, "an exception table", f->fde.lsda);
	}
	return 0;
}

static int check_symbol(const struct elf_symbol *s, void *arg)
{
	struct comparison *c = arg;

	return s->shndx && entries_replaced(c, s->value)
		   ? leads_inside(c, s->value, "a dynamic symbol", s->value)
		   : 0;
}

/* Addresses that the loader puts into memory. */
static int check_relocations(struct comparison *c, const struct elf_section *s)
{
	const uint8_t *p = s->data, *end = p + s->size / sizeof(Elf64_Rela) * sizeof(Elf64_Rela);
	uint64_t to;

	for (; p < end; p += sizeof(Elf64_Rela)) {
		to = get_le64(p + offsetof(Elf64_Rela, r_addend));
		if (entries_replaced(c, to))
			return leads_inside(c, to, "a relocation", get_le64(p));
	}
	return 0;
}

/* Words that are addresses already. */
static int check_words(struct comparison *c, const struct elf_section *s)
{
	uint64_t i, to;

	for (i = -s->addr % 8; i + 8 <= s->size; i += 8) {
		to = get_le64(s->data + i);
		if (entries_replaced(c, to))
			return leads_inside(c, to, "a word", s->addr + i);
	}
	return 0;
}

static int check_data(struct comparison *c)
{
	const struct elf_section *s = c->orig.section.v, *end = s + c->orig.section.n;
	bool words = loaded_has_words(&c->orig);

	for (; s < end; s++) {
		if (!(s->flags & SHF_ALLOC) || !s->data || s->flags & SHF_EXECINSTR)
			continue;
		if (s->type == SHT_RELA && check_relocations(c, s))
			return -1;
		if (s->type != SHT_RELA && words && check_words(c, s))
			return -1;
	}
	return 0;
}

int entries_check(struct comparison *c)
{
	int rc = check_code(c) || check_landing_pads(c) || check_data(c);

	if (!rc && elf_file_symbols(c->orig.f, true, check_symbol, c))
		rc = -1;
	return rc ? -1 : 0;
}
