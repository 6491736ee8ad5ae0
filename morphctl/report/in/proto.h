/* Protocol buffers, read field by field (protobuf.dev, "Encoding"). */
#ifndef MORPH_REPORT_IN_PROTO_H
#define MORPH_REPORT_IN_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct proto { /* the rest of a message */
	const uint8_t *p, *end;
	bool bad; /* it is damaged at p: no field follows */
};

struct field {
	uint32_t number;
	bool is_bytes;
	uint64_t value;   /* of numbers, and of fixed 32 and 64 bits */
	const uint8_t *p; /* of strings, messages and packed numbers */
	size_t n;
};

/* The next field; false: the end, or damage. */
bool proto_next(struct proto *m, struct field *f);
struct proto proto_message(const struct field *f);
/* The next number of a repeated field, which is one number or a packed run of them: *rest begins as
 * its message. false: the end, or damage, which is then in rest->bad. */
bool proto_packed(const struct field *f, struct proto *rest, bool *begun, uint64_t *v);

#endif
