/*
 * Frames between the manager and its privileged parent: one message of a
 * SOCK_SEQPACKET pair each, with the descriptors that belong to it.
 *
 *	u32 verb, then its fields in the order of its form (verbs.h):
 *	u32, u64 little-endian as the machine has them; a string as
 *	u32 length and bytes without NUL; a build-id as u8 length and bytes
 *
 * A reply repeats the verb, then i32 status, string error, and the result. Ends of
 * tasks come over a pair of their own: u32 event, u64 task, then its fields.
 */
#ifndef MORPH_MANAGERD_FRAME_H
#define MORPH_MANAGERD_FRAME_H

#include "common/elf/buildid.h"
#include "common/err.h"
#include "common/mem.h"

#include <stdbool.h>
#include <stdint.h>

enum { FRAME_MAX = 64 * 1024, FRAME_FDS = 4 };

/* ---- writing ---- */
void frame_u32(struct buf *b, uint32_t v);
void frame_u64(struct buf *b, uint64_t v);
void frame_str(struct buf *b, const char *s); /* NULL is "" */

/* ---- reading: past the end or of a wrong form sets bad, and gives 0, "" ---- */
struct frame_in {
	const char *p, *end;
	struct arena mem; /* of the strings */
	bool bad;
};
uint32_t frame_get_u32(struct frame_in *in);
uint64_t frame_get_u64(struct frame_in *in);
char *frame_get_str(struct frame_in *in); /* never NULL; no NUL inside */
struct build_id frame_get_id(struct frame_in *in);
/* Nothing bad, and nothing left over. */
bool frame_whole(const struct frame_in *in);

/* ---- moving ---- */
struct frame {
	char bytes[FRAME_MAX];
	size_t n;
	int fd[FRAME_FDS]; /* owned by the receiver */
	unsigned nfd;
};
/* 0, or -1; errno EAGAIN where the socket does not block and is full. */
int frame_send(int sock, const struct buf *b, const int *fd, unsigned nfd, struct err *e);
/* 1 received, 0 the other side is gone, -1 error or a frame out of form. */
int frame_receive(int sock, struct frame *f, struct err *e);
void frame_close_fds(struct frame *f);

#endif
