/*
 * cov >= 30
 * Exit records of the kernel: the input is a datagram; with an even first byte its head is put
 * right, so that the attributes are reached.
 */
#include "monitor-client/kernel/exits.h"

#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

enum { FAMILY = 31 };

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct nlmsghdr h = {.nlmsg_type = FAMILY};
	struct exit_record r;
	uint8_t *copy;

	if (!n)
		return 0;
	h.nlmsg_len = (uint32_t)(n - 1);
	copy = malloc(n);
	memcpy(copy, p + 1, n - 1);
	if (!(p[0] & 1))
		memcpy(copy, &h, n - 1 < sizeof h ? n - 1 : sizeof h);
	if (exits_parse(copy, n - 1, FAMILY, &r) &&
	    (!r.pid || !r.tgid || strnlen(r.comm, sizeof r.comm) == sizeof r.comm))
		abort();
	free(copy);
	return 0;
}
