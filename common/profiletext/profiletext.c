#include "common/profiletext/profiletext.h"

#include <ctype.h>
#include <string.h>

enum { KEY_MIN = 8, KEY_MAX = 32, ONE = 1000 /* thousandths */ };

/* ---- writing ---- */

struct profiletext_name profiletext_name(
    const char *name, const struct hash128 *key, char hex[HASH_HEX])
{
	return (struct profiletext_name){name, hash_hex(key, hex), strlen(name), HASH_HEX - 1};
}

static void write_name(struct buf *out, const struct profiletext_name *name)
{
	buf_add(out, name->p, name->n);
	if (name->key) {
		buf_char(out, '#');
		buf_add(out, name->key, name->nkey);
	}
}

static void write_samples(struct buf *out, uint64_t thousandths)
{
	char *end;

	buf_decimal(out, thousandths / ONE);
	buf_str(out, ".000");
	for (end = out->p + out->n, thousandths %= ONE; thousandths; thousandths /= 10)
		*--end = (char)('0' + thousandths % 10);
}

/* A profile may have a million lines: no printf(). */
void profiletext_write(struct buf *out, enum counts_form form, const struct profiletext_line *l)
{
	write_name(out, &l->func);
	buf_char(out, ' ');
	buf_decimal(out, l->block);
	if (l->kind != PROFILETEXT_BLOCK) {
		buf_add(out, (const char[]){' ', (char)l->kind, ' '}, 3);
		if (l->kind == PROFILETEXT_CALL)
			write_name(out, &l->callee);
		else
			buf_decimal(out, l->block2);
	}
	buf_char(out, ' ');
	if (form == COUNTS_SAMPLES)
		write_samples(out, l->value);
	else
		buf_decimal(out, l->value);
	buf_char(out, '\n');
}

/* ---- reading ---- */

static const char *skip_blank(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

static bool at_blank(const char *p, const char *end)
{
	return p == end || *p == ' ' || *p == '\t';
}

static const char *read_whole(const char *p, const char *end, uint64_t max, uint64_t *v)
{
	const char *begin = p;

	for (*v = 0; p < end && isdigit((unsigned char)*p); p++) {
		*v = *v * 10 + (uint64_t)(*p - '0');
		if (*v > max)
			return NULL;
	}
	return p == begin ? NULL : p;
}

static const char *read_samples(const char *p, const char *end, uint64_t *v)
{
	uint64_t place;

	p = read_whole(p, end, PROFILETEXT_VALUE_MAX, v);
	if (!p)
		return NULL;
	*v *= ONE;
	if (p == end || *p != '.')
		return p;
	if (++p == end || !isdigit((unsigned char)*p))
		return NULL;
	for (place = ONE / 10; place && p < end && isdigit((unsigned char)*p); place /= 10)
		*v += place * (uint64_t)(*p++ - '0');
	return p;
}

const char *profiletext_read_name(const char *p, const char *end, struct profiletext_name *name)
{
	const char *hash;
	size_t i, n;

	*name = (struct profiletext_name){.p = p};
	while (!at_blank(p, end))
		p++;
	name->n = (size_t)(p - name->p);
	hash = memrchr(name->p, '#', name->n);
	if (!hash || hash == name->p)
		return p;
	n = (size_t)(p - hash - 1);
	if (n < KEY_MIN || n > KEY_MAX)
		return p;
	for (i = 0; i < n; i++)
		if (!isxdigit((unsigned char)hash[1 + i]))
			return p;
	name->key = hash + 1;
	name->nkey = n;
	name->n = (size_t)(hash - name->p);
	return p;
}

static const char *read_block(const char *p, const char *end, uint32_t *block)
{
	uint64_t v;

	p = read_whole(p, end, UINT32_MAX, &v);
	*block = (uint32_t)v;
	return p && at_blank(p, end) ? skip_blank(p, end) : NULL;
}

/* What follows a block on a line: nothing, another block, or a callee. */
static const char *read_kind(const char *p, const char *end, struct profiletext_line *l)
{
	l->kind = PROFILETEXT_BLOCK;
	if (p == end || (*p != '>' && *p != '<' && *p != '@') || !at_blank(p + 1, end))
		return p;
	l->kind = (enum profiletext_kind) * p;
	p = skip_blank(p + 1, end);
	if (l->kind != PROFILETEXT_CALL)
		return read_block(p, end, &l->block2);
	return skip_blank(profiletext_read_name(p, end, &l->callee), end);
}

static int read_line(const char *p, const char *end, enum counts_form form,
    struct profiletext_line *l, struct err *e)
{
	p = skip_blank(profiletext_read_name(p, end, &l->func), end);
	p = read_block(p, end, &l->block);
	if (!p)
		return err_set(e, "expected a block number after the function");
	p = read_kind(p, end, l);
	if (!p)
		return err_set(e, "expected a block number after '>' or '<'");
	p = form == COUNTS_SAMPLES ? read_samples(p, end, &l->value)
				   : read_whole(p, end, PROFILETEXT_VALUE_MAX, &l->value);
	if (!p || skip_blank(p, end) != end)
		return err_set(e, "expected %s at the end of the line",
		    form == COUNTS_SAMPLES ? "a number with at most 3 fraction digits"
					   : "a whole number");
	return 1;
}

int profiletext_read(struct profiletext_reader *r, struct profiletext_line *l, struct err *e)
{
	const char *p, *eol;

	while (r->p < r->end) {
		eol = memchr(r->p, '\n', (size_t)(r->end - r->p));
		if (!eol)
			eol = r->end;
		p = skip_blank(r->p, eol);
		r->p = eol < r->end ? eol + 1 : eol;
		r->line++;
		if (p != eol && (*p != '#' || !(p + 1 == eol || p[1] == ' ')))
			return read_line(p, eol, r->form, l, e);
	}
	return 0;
}
