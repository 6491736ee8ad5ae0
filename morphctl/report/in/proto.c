#include "morphctl/report/in/proto.h"
#include "common/le.h"

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

static bool damaged(struct proto *m)
{
	m->bad = true;
	return false;
}

/* Ten bytes hold 64 bits; what is beyond them is dropped, as other readers do. */
static bool varint(struct proto *m, uint64_t *v)
{
	unsigned shift;
	uint8_t byte;

	*v = 0;
	for (shift = 0; m->p < m->end && shift < 70; shift += 7) {
		byte = *m->p++;
		if (shift < 64)
			*v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return damaged(m);
}

static bool fixed(struct proto *m, size_t n, uint64_t *v)
{
	if ((size_t)(m->end - m->p) < n)
		return damaged(m);
	*v = n == 8 ? get_le64(m->p) : get_le32(m->p);
	m->p += n;
	return true;
}

static bool bytes(struct proto *m, struct field *f)
{
	uint64_t n;

	if (!varint(m, &n) || n > (uint64_t)(m->end - m->p))
		return damaged(m);
	f->is_bytes = true;
	f->p = m->p;
	f->n = n;
	m->p += n;
	return true;
}

bool proto_next(struct proto *m, struct field *f)
{
	uint64_t tag;

	*f = (struct field){0};
	if (m->bad || m->p == m->end || !varint(m, &tag))
		return false;
	f->number = (uint32_t)(tag >> 3);
	if (!f->number || tag >> 32)
		return damaged(m);
	switch (tag & 7) {
	case VARINT:
		return varint(m, &f->value);
	case FIXED64:
		return fixed(m, 8, &f->value);
	case FIXED32:
		return fixed(m, 4, &f->value);
	case BYTES:
		return bytes(m, f);
	default:
		return damaged(m);
	}
}

struct proto proto_message(const struct field *f)
{
	return (struct proto){f->p, f->p + f->n, !f->is_bytes};
}

bool proto_packed(const struct field *f, struct proto *rest, bool *begun, uint64_t *v)
{
	if (!*begun) {
		*begun = true;
		*rest = f->is_bytes ? proto_message(f) : (struct proto){0};
		*v = f->value;
		if (!f->is_bytes)
			return true;
	}
	return rest->p != rest->end && varint(rest, v);
}
