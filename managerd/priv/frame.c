#include "managerd/priv/frame.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void frame_u32(struct buf *b, uint32_t v)
{
	buf_add(b, &v, sizeof v);
}

void frame_u64(struct buf *b, uint64_t v)
{
	buf_add(b, &v, sizeof v);
}

void frame_str(struct buf *b, const char *s)
{
	size_t n = s ? strlen(s) : 0;

	frame_u32(b, (uint32_t)n);
	buf_add(b, s, n);
}

static const void *take(struct frame_in *in, size_t n)
{
	const char *p = in->p;

	if (in->bad || n > (size_t)(in->end - in->p)) {
		in->bad = true;
		return NULL;
	}
	in->p += n;
	return p;
}

uint32_t frame_get_u32(struct frame_in *in)
{
	const void *p = take(in, sizeof(uint32_t));
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, sizeof v);
	return v;
}

uint64_t frame_get_u64(struct frame_in *in)
{
	const void *p = take(in, sizeof(uint64_t));
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, sizeof v);
	return v;
}

char *frame_get_str(struct frame_in *in)
{
	size_t n = frame_get_u32(in);
	const char *p = take(in, n);

	if (p && memchr(p, 0, n)) {
		in->bad = true;
		p = NULL;
	}
	return p ? arena_strndup(&in->mem, p, n) : arena_strdup(&in->mem, "");
}

struct build_id frame_get_id(struct frame_in *in)
{
	const uint8_t *n = take(in, 1), *p;
	struct build_id id = {0};

	if (!n || *n > sizeof id.b || !(p = take(in, *n))) {
		in->bad = true;
		return id;
	}
	id.n = *n;
	memcpy(id.b, p, *n);
	return id;
}

bool frame_whole(const struct frame_in *in)
{
	return !in->bad && in->p == in->end;
}

int frame_send(int sock, const struct buf *b, const int *fd, unsigned nfd, struct err *e)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * FRAME_FDS)];
	} control = {.bytes = {0}};
	struct iovec io = {b->p, b->n};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};
	struct cmsghdr *c;
	ssize_t r;

	if (b->n > FRAME_MAX) {
		errno = EMSGSIZE;
		return err_set(e, "a request of %zu bytes is too long", b->n);
	}
	if (nfd) {
		m.msg_control = control.bytes;
		m.msg_controllen = CMSG_SPACE(sizeof(int) * nfd);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * nfd);
		memcpy(CMSG_DATA(c), fd, sizeof(int) * nfd);
	}
	do
		r = sendmsg(sock, &m, MSG_NOSIGNAL);
	while (r < 0 && errno == EINTR);
	return r < 0 ? err_sys(e, "the privileged parent") : 0;
}

/* The control buffer's alignment may have room for more than FRAME_FDS: -1 when more
 * came, which are then closed. */
static int take_fds(struct msghdr *m, struct frame *f)
{
	struct cmsghdr *c;
	int fd, r = 0;
	size_t i;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof fd; i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
			if (f->nfd < FRAME_FDS)
				f->fd[f->nfd++] = fd;
			else {
				close(fd);
				r = -1;
			}
		}
	}
	return r;
}

int frame_receive(int sock, struct frame *f, struct err *e)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * FRAME_FDS)];
	} control;
	struct iovec io = {f->bytes, sizeof f->bytes};
	struct msghdr m = {.msg_iov = &io,
	    .msg_iovlen = 1,
	    .msg_control = control.bytes,
	    .msg_controllen = sizeof control.bytes};
	ssize_t r;

	f->n = f->nfd = 0;
	do
		r = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
	while (r < 0 && errno == EINTR);
	if (r < 0 && errno != ECONNRESET)
		return err_sys(e, "the other half of morphd");
	if (r <= 0)
		return 0;
	f->n = (size_t)r;
	if (take_fds(&m, f) < 0 || m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) {
		frame_close_fds(f);
		return err_set(e, "a frame between the halves of morphd is too long");
	}
	return 1;
}

void frame_close_fds(struct frame *f)
{
	while (f->nfd)
		close(f->fd[--f->nfd]);
}
