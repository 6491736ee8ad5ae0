#include "common/artifact/columns.h"
#include "common/elf/elf.h"
#include "common/le.h"

#include <elf.h>

/* ---- block maps ---- */

enum { REST, IDS, GAPS, SIZES };
enum { MAGIC = 8, SEGMENT_NUMBERS = 3, UNIT_HASH = 8, FRAGMENT_NUMBERS = 4 };

/* Both ways: what is read goes to `rest`, but for the blocks, which pass from one side to the
 * other. */
struct passing {
	const uint8_t *p, *end; /* of the blob, or of REST */
	struct buf *rest;
	bool bad;
};

static uint64_t pass_number(struct passing *x)
{
	uint64_t v = 0;

	if (uleb_read(&x->p, x->end, &v) < 0)
		x->bad = true;
	else
		buf_uleb(x->rest, v);
	return v;
}

static void pass_bytes(struct passing *x, uint64_t n)
{
	if (n > (uint64_t)(x->end - x->p)) {
		x->bad = true;
		return;
	}
	buf_add(x->rest, x->p, n);
	x->p += n;
}

static void pass_short(struct passing *x)
{
	uint8_t n = x->p < x->end ? *x->p : 0;

	pass_bytes(x, 1 + (uint64_t)n);
}

/* Up to the fragments, of which it returns the number. */
static uint64_t pass_head(struct passing *x)
{
	uint64_t i, n;

	pass_bytes(x, MAGIC);
	pass_short(x);
	pass_short(x);
	for (i = 0, n = pass_number(x) * SEGMENT_NUMBERS; i < n && !x->bad; i++)
		pass_number(x);
	n = pass_number(x);
	pass_bytes(x, n > (uint64_t)(x->end - x->p) ? n : n * UNIT_HASH);
	return pass_number(x);
}

/* Up to the blocks of a fragment, of which it returns the number. */
static uint64_t pass_fragment(struct passing *x)
{
	int i;

	for (i = 0; i < FRAGMENT_NUMBERS; i++)
		pass_number(x);
	return pass_number(x);
}

static uint64_t number(struct passing *x)
{
	uint64_t v = 0;

	if (uleb_read(&x->p, x->end, &v) < 0)
		x->bad = true;
	return v;
}

bool map_split(const char *p, size_t n, struct buf s[MAP_STREAMS])
{
	struct passing x = {
	    .p = (const uint8_t *)p, .end = (const uint8_t *)p + n, .rest = &s[REST]};
	uint64_t fragments = pass_head(&x), blocks, next, id;
	struct buf again = {0};
	int i;

	while (!x.bad && fragments--) {
		next = 0;
		for (blocks = pass_fragment(&x); !x.bad && blocks--; next = id + 1) {
			id = number(&x);
			buf_uleb(&s[IDS], id - next);
			buf_uleb(&s[GAPS], number(&x));
			buf_uleb(&s[SIZES], number(&x));
		}
	}
	/* Numbers may be written longer than they need be. */
	x.bad |=
	    x.p != x.end || map_join(s, n, &again, NULL) || again.n != n || memcmp(again.p, p, n);
	buf_free(&again);
	for (i = 0; i < MAP_STREAMS && x.bad; i++)
		buf_free(&s[i]);
	return !x.bad;
}

int map_join(const struct buf s[MAP_STREAMS], uint64_t size, struct buf *out, struct err *e)
{
	struct passing x = {.rest = out}, from[MAP_STREAMS] = {0};
	uint64_t fragments, blocks, next;
	size_t was = out->n;
	bool bad;
	int i;

	for (i = 0; i < MAP_STREAMS; i++) {
		from[i].p = (const uint8_t *)s[i].p;
		from[i].end = s[i].n ? from[i].p + s[i].n : from[i].p;
	}
	x.p = from[REST].p;
	x.end = from[REST].end;
	fragments = pass_head(&x);
	bad = x.bad;
	while (!bad && fragments--) {
		next = 0;
		for (blocks = pass_fragment(&x); !bad && !x.bad && blocks--; next++) {
			next += number(&from[IDS]);
			buf_uleb(out, next);
			buf_uleb(out, number(&from[GAPS]));
			buf_uleb(out, number(&from[SIZES]));
			bad = from[IDS].bad || from[GAPS].bad || from[SIZES].bad ||
			      out->n - was > size;
		}
		bad |= x.bad;
	}
	for (from[REST].p = x.p, i = 0; i < MAP_STREAMS; i++)
		bad |= from[i].p != from[i].end;
	if (!bad && out->n - was <= size)
		return 0;
	out->n = was;
	return err_set(e, "the columns of a block map are damaged");
}

/* ---- shared libraries ---- */

enum { PLACE, BYTES };

/* Of each symbol's name, in place. */
static void restate_names(uint8_t *p, uint64_t n, bool differences)
{
	uint32_t last = 0, v;
	uint64_t i;

	for (i = 0; i < n; i++, p += sizeof(Elf64_Sym)) {
		v = get_le32(p);
		put_le32(p, differences ? v - last : v + last);
		last = differences ? v : v + last;
	}
}

bool library_split(const char *p, size_t n, struct buf s[LIBRARY_STREAMS])
{
	struct elf *f = elf_mem_open(p, n, "shared library", NULL);
	struct elf_section symbols;
	bool has = f && elf_file_section(f, ".dynsym", &symbols, NULL) > 0 && symbols.data;

	if (has) {
		buf_uleb(&s[PLACE], symbols.offset);
		buf_uleb(&s[PLACE], symbols.size / sizeof(Elf64_Sym));
		buf_add(&s[BYTES], p, n);
		restate_names(
		    (uint8_t *)s[BYTES].p + symbols.offset, symbols.size / sizeof(Elf64_Sym), true);
	}
	elf_file_close(f);
	return has;
}

int library_join(const struct buf s[LIBRARY_STREAMS], struct buf *out, struct err *e)
{
	const uint8_t *p = (const uint8_t *)s[PLACE].p, *end = s[PLACE].n ? p + s[PLACE].n : p;
	uint64_t at, n, size = s[BYTES].n;
	size_t was = out->n;

	if (uleb_read(&p, end, &at) < 0 || uleb_read(&p, end, &n) < 0 || p != end || at > size ||
	    n > (size - at) / sizeof(Elf64_Sym))
		return err_set(e, "the symbols of a library are damaged");
	buf_add(out, s[BYTES].p, size);
	restate_names((uint8_t *)out->p + was + at, n, false);
	return 0;
}
