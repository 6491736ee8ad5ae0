#include "common/elf/ifsec.h"
#include "common/le.h"
#include "common/pack.h"

#include <string.h>

enum { IFSEC_FORMAT = 2, IFSEC_HEADER = 56 };

static const char ifsec_magic[8] = "MorphIF1";

void ifsec_put(
    struct buf *out, const char *as_args, const struct buf *funcs, const void *text, size_t n)
{
	struct hash128 hash = hash_bytes(text, n);
	size_t args = strlen(as_args);
	struct buf z = {0};

	pack_bytes(text, n, &z);
	buf_add(out, ifsec_magic, sizeof ifsec_magic);
	buf_le32(out, IFSEC_FORMAT);
	buf_le32(out, (uint32_t)args);
	buf_le64(out, n);
	buf_add(out, hash.b, sizeof hash.b);
	buf_le64(out, z.n);
	buf_le64(out, funcs->n);
	buf_add(out, as_args, args);
	buf_add(out, funcs->p, funcs->n);
	buf_add(out, z.p, z.n);
	buf_free(&z);
}

int ifsec_next(const uint8_t **p, const uint8_t *end, struct ifsec *out, struct err *e)
{
	const uint8_t *h = *p;
	uint64_t left = (uint64_t)(end - h);

	if (!left)
		return 0;
	if (left < IFSEC_HEADER || memcmp(h, ifsec_magic, sizeof ifsec_magic))
		return err_set(e, "section " IFSEC_NAME ": no record where one should begin");
	if (get_le32(h + 8) != IFSEC_FORMAT)
		return err_set(e, "section " IFSEC_NAME ": format %u, this Morph reads %d",
		    get_le32(h + 8), IFSEC_FORMAT);
	left -= IFSEC_HEADER;
	out->as_args = (const char *)h + IFSEC_HEADER;
	out->as_args_n = get_le32(h + 12);
	out->text_size = get_le64(h + 16);
	memcpy(out->hash.b, h + 24, sizeof out->hash.b);
	out->z_size = get_le64(h + 40);
	out->funcs_size = get_le64(h + 48);
	if (out->as_args_n > left || out->z_size > left - out->as_args_n ||
	    out->funcs_size > left - out->as_args_n - out->z_size)
		return err_set(e, "section " IFSEC_NAME ": record is cut off");
	if (out->text_size > PACK_MAX || memchr(out->as_args, '\0', out->as_args_n))
		return err_set(e, "section " IFSEC_NAME ": record is damaged");
	out->funcs = h + IFSEC_HEADER + out->as_args_n;
	out->z = out->funcs + out->funcs_size;
	*p = out->z + out->z_size;
	return 1;
}

int ifsec_text(const struct ifsec *s, struct buf *out, struct err *e)
{
	if (unpack_bytes(s->z, s->z_size, s->text_size, &s->hash, out, e) < 0)
		return err_wrap(e, "section " IFSEC_NAME);
	return 0;
}
