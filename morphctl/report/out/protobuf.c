#include "morphctl/report/out/protobuf.h"

enum { VARINT = 0, BYTES = 2 };

void protobuf_number(struct buf *out, unsigned field, uint64_t v)
{
	if (!v)
		return;
	buf_uleb(out, field << 3 | VARINT);
	buf_uleb(out, v);
}

void protobuf_bytes(struct buf *out, unsigned field, const void *p, size_t n)
{
	buf_uleb(out, field << 3 | BYTES);
	buf_uleb(out, n);
	buf_add(out, p, n);
}

void protobuf_message(struct buf *out, unsigned field, struct buf *message)
{
	protobuf_bytes(out, field, message->p, message->n);
	message->n = 0;
}
