#include "managerd/inspect/answer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void answer_refuse(struct answer *a, const struct err *why)
{
	answer_free(a);
	a->head.refused = 1;
	snprintf(
	    a->head.text, sizeof a->head.text, "%.*s", (int)sizeof a->head.text - 1, why->text);
}

void answer_free(struct answer *a)
{
	buf_free(&a->table);
	buf_free(&a->map);
	*a = (struct answer){0};
}

static int write_at(int fd, const void *p, size_t n, uint64_t at, struct err *e)
{
	const char *from = p;
	ssize_t r;

	while (n) {
		r = pwrite(fd, from, n, (off_t)at);
		if (r < 0 && errno != EINTR)
			return err_sys(e, "the answer");
		if (r > 0) {
			from += r;
			at += (uint64_t)r;
			n -= (size_t)r;
		}
	}
	return 0;
}

static void put_place(uint64_t *at, uint64_t *n, const struct buf *b, uint64_t *end)
{
	*at = b->n ? *end : 0;
	*n = b->n;
	*end += b->n;
}

int answer_write(struct answer *a, int fd, struct err *e)
{
	uint64_t end = sizeof a->head;
	struct err why;

	if (a->table.n > INSPECT_MAX || a->map.n > INSPECT_MAX ||
	    a->table.n + a->map.n > INSPECT_MAX - sizeof a->head) {
		err_set(&why, "functions and block map take more than %d bytes", INSPECT_MAX);
		answer_refuse(a, &why);
	}
	put_place(&a->head.table_at, &a->head.table_n, &a->table, &end);
	put_place(&a->head.map_at, &a->head.map_n, &a->map, &end);
	memcpy(a->head.magic, INSPECT_MAGIC, sizeof a->head.magic);
	if (write_at(fd, a->table.p, a->table.n, a->head.table_at, e) ||
	    write_at(fd, a->map.p, a->map.n, a->head.map_at, e))
		return -1;
	return write_at(fd, &a->head, sizeof a->head, 0, e);
}
