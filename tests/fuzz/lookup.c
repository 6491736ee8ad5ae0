/*
 * cov >= 48
 * What the monitor hears from its reader of /proc, whose child has read a user's
 * file: answers of 56 bytes of the input each, cut where it ends, with none to three
 * descriptors. No descriptor stays open but the one that is returned.
 */
#include "monitor-client/maps/lookup.c" /* its answers are its own */

static int null; /* /dev/null */

static void put(int sock, const struct answer *a, size_t n, unsigned nfd)
{
	const int fd[3] = {null, null, null};
	char control[CMSG_SPACE(sizeof fd)] = {0};
	struct iovec v = {(void *)a, n};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	struct cmsghdr *c;

	if (nfd) {
		m.msg_control = control;
		m.msg_controllen = CMSG_SPACE(nfd * sizeof *fd);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(nfd * sizeof *fd);
		memcpy(CMSG_DATA(c), fd, nfd * sizeof *fd);
	}
	if (sendmsg(sock, &m, MSG_NOSIGNAL) != (ssize_t)n)
		abort();
}

static int lowest_free(void)
{
	int fd = dup(null);

	close(fd);
	return fd;
}

/* Each answer is to the next question, or to the one before. */
static void put_all(int sock, const uint8_t *p, size_t n)
{
	uint32_t seq = 1;
	struct answer a;
	size_t take;

	while (n) {
		uint8_t how = p[0];

		take = n - 1 < sizeof a ? n - 1 : sizeof a;
		memcpy(&a, p + 1, take);
		a.seq = seq++ - (how >> 2 & 1);
		if (how & 8)
			a.result %= 5;
		put(sock, &a, how & 16 ? take : sizeof a, how & 3);
		p += take + 1;
		n -= take + 1;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct event_map m = {.start = 1, .end = 2, .path = (char *)"/x"};
	int before, sock[2], fd;
	struct build_id id = {0};
	struct lookup l = {.fd = -1};
	bool whole = false;
	uint64_t view;
	int i;

	if (!null)
		null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (n > 400 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock))
		return 0;
	before = lowest_free();
	l.fd = sock[0];
	put_all(sock[1], p, n);
	shutdown(sock[1], SHUT_WR);
	for (i = 0; i < 4; i++) {
		fd = lookup_maps(&l, 1, &view);
		if (fd >= 0)
			close(fd);
		if (lookup_file(&l, 1, &m, (enum lookup_how)(i % 3), &id, &whole) == LOOKUP_FOUND &&
		    (!id.n || id.n > sizeof id.b))
			abort();
	}
	if (lowest_free() != before)
		abort();
	close(sock[0]);
	close(sock[1]);
	return 0;
}
