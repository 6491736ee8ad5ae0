/*
 * Messages of Protocol Buffers (protobuf.dev, "Encoding"), as far as profile.proto needs them:
 * fields are varints or strings of bytes. Zeros and empty strings are left out, as proto3 has it.
 */
#ifndef MORPH_REPORT_OUT_PROTOBUF_H
#define MORPH_REPORT_OUT_PROTOBUF_H

#include "common/mem.h"

void protobuf_number(struct buf *out, unsigned field, uint64_t v);
/* A string, or a message within the message, which may be empty. */
void protobuf_bytes(struct buf *out, unsigned field, const void *p, size_t n);
/* As protobuf_bytes() of what message has; empties message for the next one. */
void protobuf_message(struct buf *out, unsigned field, struct buf *message);

#endif
