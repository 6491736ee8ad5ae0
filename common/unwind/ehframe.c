#include "common/unwind/ehframe.h"
#include "common/le.h"
#include "common/unwind/ehtable.h"

#include <string.h>

enum { ABSPTR = 0, PCREL_SDATA4 = 0x1b, INDIRECT = 0x80, OMIT = 0xff };

/* The augmentation string, and the data that it describes. */
static int read_augmentation(
    const char *a, const uint8_t *p, const uint8_t *end, uint64_t addr, struct eh_cie *c)
{
	const uint8_t *begin = p;
	uint64_t n;

	if (uleb_read(&p, end, &n) || n > (uint64_t)(end - p))
		return -1;
	c->augmented = true;
	c->insn = p + n;
	for (end = p + n, a++; *a; a++) {
		if (*a == 'B')
			continue;
		c->signal |= *a == 'S';
		if (*a == 'S')
			continue;
		if (p == end)
			return -1;
		if (*a == 'R')
			c->code = *p++;
		else if (*a == 'L')
			c->lsda = *p++;
		else if (*a != 'P')
			return -1;
		else if (c->personality_encoding = *p++,
		    eh_value_read(&p, end, c->personality_encoding, addr + (uint64_t)(p - begin),
			&c->personality))
			return -1;
	}
	return 0;
}

/* n bytes at p, address addr. */
static int read_cie(const uint8_t *p, uint64_t n, uint64_t addr, struct eh_cie *c)
{
	enum { AUGMENTATION = 9 };
	const uint8_t *begin = p, *end = p + n;
	const char *text = (const char *)p + AUGMENTATION;

	*c = (struct eh_cie){
	    .at = addr, .code = ABSPTR, .lsda = OMIT, .personality_encoding = OMIT, .end = end};
	/* Others have more fields. */
	if (n < AUGMENTATION + 1 || (p[8] != 1 && p[8] != 3) || !memchr(text, 0, n - AUGMENTATION))
		return -1;
	p = (const uint8_t *)text + strlen(text) + 1;
	if (uleb_read(&p, end, &c->code_align) || sleb_read(&p, end, &c->data_align) ||
	    uleb_read(&p, end, &c->return_register))
		return -1;
	c->insn = p;
	if (*text != 'z')
		return *text ? -1 : 0;
	return read_augmentation(text, p, end, addr + (uint64_t)(p - begin), c);
}

/* What follows the addresses of the code. */
static int read_rest(const uint8_t *p, uint64_t addr, struct eh_fde *f)
{
	const uint8_t *begin = p, *end = p + f->rest, *field;
	uint64_t n;

	f->insn = p;
	f->end = end;
	if (!f->cie.augmented)
		return 0;
	if (uleb_read(&p, end, &n) || n > (uint64_t)(end - p))
		return -1;
	f->insn = p + n;
	if (f->cie.lsda == OMIT)
		return 0;
	if (f->cie.lsda & INDIRECT)
		return -1;
	field = p;
	f->lsda_at = addr + (uint64_t)(p - begin);
	if (eh_value_read(&p, p + n, f->cie.lsda, f->lsda_at, &f->lsda))
		return -1;
	f->lsda_size = (uint64_t)(p - field);
	return 0;
}

/* The record at offset `at`, of n bytes after its length. */
static int read_fde(const struct eh_frames *s, uint64_t at, uint64_t n, struct eh_fde *f)
{
	const uint8_t *p = s->p + at + 4;
	uint64_t cie = at + 4 - get_le32(p), length, k;

	if (cie >= at || cie + 8 > s->size)
		return -1;
	length = get_le32(s->p + cie);
	*f = (struct eh_fde){.at = s->addr + at};
	if (length < 4 || length > s->size - cie - 4 || get_le32(s->p + cie + 4) ||
	    read_cie(s->p + cie, length + 4, s->addr + cie, &f->cie))
		return -1;
	k = f->cie.code == PCREL_SDATA4 ? 4 : 8;
	if ((f->cie.code != PCREL_SDATA4 && f->cie.code != ABSPTR) || n < 4 + 2 * k)
		return -1;
	if (k == 4) {
		f->pc = s->addr + at + 8 + (uint64_t)(int32_t)get_le32(p + 4);
		f->size = get_le32(p + 8);
	} else {
		f->pc = get_le64(p + 4);
		f->size = get_le64(p + 12);
	}
	f->rest_at = f->at + 8 + 2 * k;
	f->rest = n - 4 - 2 * k;
	return read_rest(p + 4 + 2 * k, f->rest_at, f);
}

int eh_frames_next(struct eh_frames *s, struct eh_fde *f)
{
	uint64_t at, n;

	while (s->next + 4 <= s->size) {
		at = s->next;
		n = get_le32(s->p + at);
		s->next += 4 + n;
		if (!n)
			continue;
		if (n < 4 || n > s->size - at - 4)
			return -1;
		if (get_le32(s->p + at + 4))
			return read_fde(s, at, n, f) ? -1 : 1;
	}
	return 0;
}
