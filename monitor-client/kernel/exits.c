#include "monitor-client/kernel/exits.h"
#include "common/mem.h"
#include "monitor-client/kernel/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/acct.h>
#include <linux/filter.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The kernel doubles ROOM, and a record takes 1.4 KiB of it: 12,000 processes of one thread between
 * two rounds. It is memory only while they wait. */
enum { ROOM = 8 << 20, OLDEST_VERSION = 12, ANSWER_MS = 1000, CPUS_TEXT = 4096 };

/* Fields stay where they are from version to version; later ones come after these. */
#define TICK_LONGEST 10000000U /* ns, at 100 Hz */
#define STATS_LEAST (offsetof(struct taskstats, ac_tgetime))

struct exits {
	int fd;
	uint16_t family;
	bool on;
};

/* ---- reading ---- */

struct attributes {
	const uint8_t *p, *end;
};

/* The next attribute; *value: what it holds. -1: none, or not a whole one. */
static int next_attribute(struct attributes *a, struct attributes *value)
{
	struct nlattr head;
	size_t left = (size_t)(a->end - a->p), step;

	if (left < NLA_HDRLEN)
		return -1;
	memcpy(&head, a->p, sizeof head);
	if (head.nla_len < NLA_HDRLEN || head.nla_len > left)
		return -1;
	*value = (struct attributes){a->p + NLA_HDRLEN, a->p + head.nla_len};
	step = NLA_ALIGN(head.nla_len);
	a->p += step < left ? step : left;
	return head.nla_type & NLA_TYPE_MASK;
}

/* The attributes of a message of this type; false: it is none. */
static bool message(const void *p, size_t n, uint16_t type, struct attributes *a)
{
	struct nlmsghdr h;

	if (n < NLMSG_HDRLEN + GENL_HDRLEN)
		return false;
	memcpy(&h, p, sizeof h);
	if (h.nlmsg_type != type || h.nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN || h.nlmsg_len > n)
		return false;
	a->p = (const uint8_t *)p + NLMSG_HDRLEN + GENL_HDRLEN;
	a->end = (const uint8_t *)p + h.nlmsg_len;
	return true;
}

/* The statistics in an aggregate; what this version of the kernel lacks is 0. */
static bool stats_of(struct attributes aggregate, struct taskstats *s)
{
	struct attributes v;
	size_t n;
	int type;

	while ((type = next_attribute(&aggregate, &v)) >= 0) {
		if (type != TASKSTATS_TYPE_STATS)
			continue;
		n = (size_t)(v.end - v.p);
		if (n < STATS_LEAST)
			return false;
		memset(s, 0, sizeof *s);
		memcpy(s, v.p, n < sizeof *s ? n : sizeof *s);
		return true;
	}
	return false;
}

/* What a thread has run since the last clock tick is not in cpu_run_virtual_total yet. Of one that
 * never slept the rest of its time was waiting for a processor, which is counted exactly. */
static uint64_t cpu_of(const struct taskstats *s)
{
	uint64_t ran = s->cpu_run_virtual_total, whole = s->ac_etime * 1000;

	if (!ran)
		return (s->ac_utime + s->ac_stime) * 1000;
	if (!s->nvcsw && whole > ran + s->cpu_delay_total &&
	    whole - s->cpu_delay_total - ran < TICK_LONGEST)
		return whole - s->cpu_delay_total;
	return ran;
}

static bool thread_record(const struct taskstats *s, struct exit_record *r)
{
	if (s->version < OLDEST_VERSION || !s->ac_pid || !s->ac_tgid)
		return false;
	*r = (struct exit_record){.pid = s->ac_pid,
	    .tgid = s->ac_tgid,
	    .uid = s->ac_uid,
	    .elapsed_ns = s->ac_etime * 1000,
	    .cpu_ns = cpu_of(s),
	    .faults = s->ac_minflt + s->ac_majflt,
	    .status = s->ac_exitcode,
	    .last = s->ac_flag & AGROUP};
	memcpy(r->comm, s->ac_comm, sizeof s->ac_comm);
	return true;
}

int exits_parse(const void *p, size_t n, uint16_t family, struct exit_record *r)
{
	struct attributes a, v;
	struct taskstats s;
	uint64_t group = 0;
	bool found = false;
	int type;

	if (!message(p, n, family, &a))
		return 0;
	while ((type = next_attribute(&a, &v)) >= 0) {
		if (type == TASKSTATS_TYPE_AGGR_PID && stats_of(v, &s))
			found = thread_record(&s, r);
		else if (type == TASKSTATS_TYPE_AGGR_TGID && stats_of(v, &s))
			group = s.cpu_run_virtual_total;
	}
	if (found)
		r->group_ns = group;
	return found;
}

/* ---- the socket ---- */

/* A datagram from the kernel: its length, -1 with errno. */
static ssize_t take(const struct exits *x, void *p, size_t size)
{
	struct sockaddr_nl from;
	socklen_t n;
	ssize_t got;

	do {
		n = sizeof from;
		got = recvfrom(x->fd, p, size, MSG_DONTWAIT, (struct sockaddr *)&from, &n);
	} while ((got < 0 && errno == EINTR) || (got >= 0 && (n < sizeof from || from.nl_pid)));
	return got;
}

uint64_t exits_drain(struct exits *x, exit_fn *fn, void *arg)
{
	struct exit_record r;
	uint64_t lost = 0;
	char b[4096];
	ssize_t n;

	while ((n = take(x, b, sizeof b)) >= 0 || errno == ENOBUFS)
		if (n < 0)
			lost++;
		else if (exits_parse(b, (size_t)n, x->family, &r))
			fn(&r, arg);
	return lost;
}

static void ignore(const struct exit_record *r, void *arg)
{
	(void)r;
	(void)arg;
}

void exits_switch(struct exits *x, bool on)
{
	struct sock_filter none = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog drop_all = {1, &none};
	int unused = 0;

	if (x->on == on)
		return;
	x->on = on;
	if (on) {
		setsockopt(x->fd, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof unused);
		return;
	}
	setsockopt(x->fd, SOL_SOCKET, SO_ATTACH_FILTER, &drop_all, sizeof drop_all);
	exits_drain(x, ignore, NULL);
}

/* ---- opening ---- */

/* A request with one attribute. */
static int request(const struct exits *x, uint16_t type, uint8_t command, uint16_t attribute,
    const char *value, uint16_t flags)
{
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	size_t n = strlen(value) + 1;
	struct nlattr a = {(uint16_t)(NLA_HDRLEN + n), attribute};
	struct genlmsghdr g = {.cmd = command, .version = 1};
	struct nlmsghdr h = {
	    .nlmsg_len = (uint32_t)(NLMSG_HDRLEN + GENL_HDRLEN + NLA_ALIGN(a.nla_len)),
	    .nlmsg_type = type,
	    .nlmsg_flags = NLM_F_REQUEST | flags};
	struct buf b = {0};
	ssize_t sent;

	buf_add(&b, &h, sizeof h);
	buf_add(&b, &g, sizeof g);
	buf_add(&b, &a, sizeof a);
	buf_add(&b, value, n);
	memset(buf_grow(&b, h.nlmsg_len - b.n), 0, h.nlmsg_len - b.n);
	sent = sendto(x->fd, b.p, b.n, 0, (struct sockaddr *)&kernel, sizeof kernel);
	buf_free(&b);
	return sent < 0 ? -1 : 0;
}

/* The error that a message reports: 0 is none, it may be the acknowledgement; -1: it is no such
 * message. */
static int error_of(const void *p, size_t n)
{
	struct nlmsghdr h;
	struct nlmsgerr said;

	if (n < NLMSG_HDRLEN + sizeof said)
		return -1;
	memcpy(&h, p, sizeof h);
	memcpy(&said, (const char *)p + NLMSG_HDRLEN, sizeof said);
	return h.nlmsg_type == NLMSG_ERROR ? -said.error : -1;
}

/* Waits for an answer to a request; -1 with errno. */
static ssize_t answer(const struct exits *x, void *p, size_t size)
{
	struct pollfd poller = {.fd = x->fd, .events = POLLIN};

	if (poll(&poller, 1, ANSWER_MS) <= 0) {
		errno = ETIMEDOUT;
		return -1;
	}
	return take(x, p, size);
}

static int find_family(struct exits *x, struct err *e)
{
	char b[4096];
	struct attributes a, v;
	ssize_t n = -1;
	int type;

	if (!request(
		x, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, TASKSTATS_GENL_NAME, 0))
		n = answer(x, b, sizeof b);
	if (n < 0)
		return err_sys(e, "taskstats");
	if (!message(b, (size_t)n, GENL_ID_CTRL, &a))
		return err_set(e, "the kernel keeps no taskstats");
	while ((type = next_attribute(&a, &v)) >= 0)
		if (type == CTRL_ATTR_FAMILY_ID && v.end - v.p >= 2)
			memcpy(&x->family, v.p, sizeof x->family);
	return x->family ? 0 : err_set(e, "the kernel's answer names no family");
}

/* "0-3", as the kernel wrote it. */
static int read_possible(char text[CPUS_TEXT], struct err *e)
{
	int fd = open("/sys/devices/system/cpu/possible", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, CPUS_TEXT - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return err_sys(e, "list of possible CPUs");
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return 0;
}

static int listen_to_all(struct exits *x, struct err *e)
{
	char cpus[CPUS_TEXT], b[4096];
	ssize_t n = -1;
	int error = 0;

	if (read_possible(cpus, e))
		return -1;
	if (!request(x, x->family, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, cpus,
		NLM_F_ACK))
		do
			n = answer(x, b, sizeof b);
		while (n >= 0 && (error = error_of(b, (size_t)n)) < 0);
	if (n >= 0 && !error)
		return 0;
	if (n >= 0)
		errno = error;
	return err_sys(e, "listening for ends of processes (taskstats)");
}

static int open_socket(struct exits *x, struct err *e)
{
	int room = ROOM;

	x->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (x->fd < 0)
		return err_sys(e, "netlink socket");
	setsockopt(x->fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
	return find_family(x, e) || listen_to_all(x, e) ? -1 : 0;
}

struct exits *exits_open(struct err *e)
{
	struct exits *x = xcalloc(1, sizeof *x);

	if (open_socket(x, e)) {
		exits_close(x);
		return NULL;
	}
	x->on = true;
	exits_switch(x, false);
	return x;
}

void exits_close(struct exits *x)
{
	if (x && x->fd >= 0)
		close(x->fd);
	free(x);
}
