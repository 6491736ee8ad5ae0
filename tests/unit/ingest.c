#include "managerd/samples/ingest.h"
#include "managerd/parent/sockets.h"
#include "common/publish.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char dir[64], path[80];
static uv_loop_t loop;
static struct ingest *in;
static struct err e;
static unsigned taken, committed, offered;
static bool over;
static int verdict, commit_verdict;

static int take(
    void *arg, const struct wire_hello *h, const struct wire_batch *b, bool last, struct err *er)
{
	ck_assert_uint_eq(h->session, 5);
	ck_assert_uint_eq(b->taken, 7);
	offered++;
	if (verdict == 1 && !last)
		return 1;
	taken++;
	over = last;
	if (verdict == 1)
		return 0;
	return verdict ? err_set(er, "the store says no") : 0;
}

static int commit(void *arg, struct err *er)
{
	committed++;
	return commit_verdict ? err_set(er, "the disk is full") : 0;
}

static void setup(void)
{
	struct ingest_ops ops = {take, commit, NULL};
	int fd;

	strcpy(dir, "/tmp/morph-ingest-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/monitor.sock", dir);
	taken = committed = offered = 0;
	verdict = commit_verdict = 0;
	uv_loop_init(&loop);
	fd = socket_listen(path, 0600, (gid_t)-1, &e);
	ck_assert_msg(fd >= 0, "%s", e.text);
	in = ingest_start(&loop, fd, -1, &ops, &e);
	ck_assert_ptr_nonnull(in);
}

static void teardown(void)
{
	ingest_stop(in);
	uv_run(&loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
	dir_remove(dir, NULL);
}

static int dial(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	strcpy(a.sun_path, path);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
	return fd;
}

static void turn(void)
{
	int i;

	for (i = 0; i < 20; i++)
		uv_run(&loop, UV_RUN_NOWAIT);
}

static void say(int fd, const struct buf *b, size_t from, size_t n)
{
	size_t done = 0;
	ssize_t k;

	while (done < n) {
		k = write(fd, b->p + from + done, n - done);
		if (k > 0)
			done += (size_t)k;
		else if (errno != EAGAIN)
			return;
		turn();
	}
	turn();
}

/* What came back: acknowledgements, or -1 when the connection is closed. */
static int acks(int fd)
{
	char b[4096];
	ssize_t n;
	int count = 0;
	long len;
	char *p;
	enum wire_type type;

	turn();
	n = read(fd, b, sizeof b);
	if (n <= 0)
		return n < 0 && errno == EAGAIN ? 0 : -1;
	for (p = b; p < b + n; p += len, count++) {
		len = wire_frame(p, (size_t)(b + n - p), &type, &e);
		ck_assert_int_gt(len, 0);
		ck_assert_int_eq(type, WIRE_ACK);
	}
	return count;
}

static struct buf hello(void)
{
	struct buf b = {0};

	wire_put_hello(
	    &b, &(struct wire_hello){
		    .session = 5, .period_ns = 4000000, .source = WIRE_SRC_RECORDED, .pid = 1});
	return b;
}

static void add_batch(struct buf *b, uint64_t seq)
{
	struct wire_sample s = {0x1000, 7};
	struct wire_module m = {.path = "/bin/x", .sample = &s, .nsample = 1};

	build_id_parse("0102", &m.id);
	wire_put_batch(b,
	    &(struct wire_batch){.session = 5, .seq = seq, .taken = 7, .module = &m, .nmodule = 1});
}

/* The builds of the next frame, which must be a WANT; -1: there is none. */
static int wants(int fd)
{
	char b[4096];
	struct arena a = {0};
	struct wire_want w;
	ssize_t n;

	turn();
	n = read(fd, b, sizeof b);
	if (n <= 0)
		return -1;
	ck_assert_msg(!wire_get_want(b, (size_t)n, &a, &w, &e), "%s", e.text);
	n = (ssize_t)w.n;
	arena_free(&a);
	return (int)n;
}

START_TEST(monitors_are_told_what_is_wanted)
{
	struct build_id id[2] = {{1, {1}}, {1, {2}}};
	struct buf b = hello();
	int early = dial(), silent = dial(), late;

	say(early, &b, 0, b.n);
	ck_assert_int_eq(wants(early), -1);
	ingest_want(in, &(struct wire_want){id, 2});
	ck_assert_int_eq(wants(early), 2);
	ck_assert_int_eq(wants(silent), -1);
	late = dial();
	say(late, &b, 0, b.n);
	ck_assert_int_eq(wants(late), 2);
	ingest_want(in, &(struct wire_want){id, 0});
	ck_assert_int_eq(wants(early), 0);
	ck_assert_int_eq(wants(late), 0);
	close(early);
	close(silent);
	close(late);
	buf_free(&b);
	turn();
}
END_TEST

START_TEST(batches_in_any_pieces)
{
	struct buf b = hello();
	int fd = dial();
	size_t i;

	add_batch(&b, 1);
	add_batch(&b, 2);
	if (_i) {
		for (i = 0; i < b.n; i++)
			say(fd, &b, i, 1);
	} else {
		say(fd, &b, 0, b.n);
	}
	ck_assert_int_eq(acks(fd), 2);
	ck_assert_uint_eq(taken, 2);
	ck_assert_uint_eq(committed, _i ? 2 : 1); /* what waits is one transaction */
	ck_assert(ingest_status(in)->connected);
	ck_assert_uint_eq(ingest_status(in)->hello.period_ns, 4000000);
	ck_assert_int_gt(ingest_status(in)->last_batch_ms, 0);
	close(fd);
	turn();
	ck_assert(!ingest_status(in)->connected);
	buf_free(&b);
}
END_TEST

START_TEST(no_ack_without_commit)
{
	struct buf b = hello();
	int fd = dial();

	verdict = _i ? 0 : -1;
	commit_verdict = _i ? -1 : 0;
	add_batch(&b, 1);
	add_batch(&b, 2);
	say(fd, &b, 0, b.n);
	ck_assert_int_eq(acks(fd), -1);
	ck_assert_uint_eq(taken, _i ? 2 : 1);
	ck_assert_uint_eq(committed, _i ? 1 : 0);
	close(fd);
	buf_free(&b);
}
END_TEST

/* Whatever is garbled closes its own connection and no other. */
START_TEST(garbage_closes)
{
	struct buf b = {0}, good = hello();
	int other = dial(), fd;

	add_batch(&good, 1);
	switch (_i) {
	case 0: /* no frame at all */
		buf_str(&b, "GET / HTTP/1.1\r\nHost: morph\r\n\r\n");
		break;
	case 1: /* a batch before the hello */
		add_batch(&b, 1);
		break;
	case 2: /* a bit flipped */
		b = hello();
		add_batch(&b, 1);
		b.p[b.n - 3] ^= 1;
		break;
	case 3: /* only managers send these */
		b = hello();
		wire_put_ack(&b, &(struct wire_ack){5, 1});
		break;
	case 4: /* the length of a giant */
		b = hello();
		add_batch(&b, 1);
		memset(b.p + WIRE_HEADER, 0xff, b.n - WIRE_HEADER);
		break;
	}
	fd = dial();
	say(fd, &b, 0, b.n);
	ck_assert_int_eq(acks(fd), -1);
	ck_assert_uint_eq(taken, 0);
	say(other, &good, 0, good.n);
	ck_assert_int_eq(acks(other), 1);
	close(fd);
	close(other);
	buf_free(&b);
	buf_free(&good);
}
END_TEST

/* What was good before the garbage is kept and acknowledged. */
START_TEST(good_before_bad)
{
	struct buf b = hello();
	int fd = dial();

	add_batch(&b, 1);
	buf_str(&b, "a frame should begin here");
	say(fd, &b, 0, b.n);
	ck_assert_uint_eq(taken, 1);
	ck_assert_uint_eq(committed, 1);
	close(fd);
	buf_free(&b);
}
END_TEST

START_TEST(gone_in_the_middle)
{
	struct buf b = hello();
	int fd = dial();

	add_batch(&b, 1);
	say(fd, &b, 0, b.n - 1);
	close(fd);
	turn();
	ck_assert_uint_eq(taken, 0);
	ck_assert(!ingest_status(in)->connected);
	buf_free(&b);
}
END_TEST

START_TEST(only_so_many)
{
	int fd[INGEST_MAX_CLIENTS + 1], i;

	for (i = 0; i <= INGEST_MAX_CLIENTS; i++) {
		fd[i] = dial();
		turn();
	}
	ck_assert_int_eq(acks(fd[0]), 0);
	ck_assert_int_eq(acks(fd[INGEST_MAX_CLIENTS]), -1);
	close(fd[0]);
	turn();
	close(fd[INGEST_MAX_CLIENTS]);
	fd[0] = dial();
	ck_assert_int_eq(acks(fd[0]), 0);
	for (i = 0; i < INGEST_MAX_CLIENTS; i++)
		close(fd[i]);
}
END_TEST

/* A batch that is not taken yet stays, with those after it; others go on. */
START_TEST(batches_wait)
{
	struct buf b = hello(), one = hello();
	int fd = dial(), other = dial();

	verdict = 1;
	add_batch(&b, 1);
	add_batch(&b, 2);
	say(fd, &b, 0, b.n);
	ck_assert_uint_eq(offered, 1);
	ck_assert_int_eq(acks(fd), 0);
	ingest_resume(in);
	ck_assert_uint_eq(offered, 2);
	ck_assert_int_eq(acks(fd), 0);
	verdict = 0;
	add_batch(&one, 1);
	say(other, &one, 0, one.n);
	ck_assert_int_eq(acks(other), 1);
	ck_assert_int_eq(acks(fd), 0);
	ingest_resume(in);
	ck_assert_int_eq(acks(fd), 2);
	ck_assert_uint_eq(taken, 3);
	/* And it reads on. */
	b.n = 0;
	add_batch(&b, 3);
	say(fd, &b, 0, b.n);
	ck_assert_int_eq(acks(fd), 1);
	close(fd);
	close(other);
	buf_free(&b);
	buf_free(&one);
}
END_TEST

START_TEST(nothing_waits_for_long)
{
	struct buf b = hello();
	int fd = dial(), ms;

	verdict = 1;
	add_batch(&b, 1);
	add_batch(&b, 2);
	say(fd, &b, 0, b.n);
	ck_assert_uint_eq(taken, 0);
	for (ms = 0; taken < 1 && ms < 10 * INGEST_HOLD_MS; ms += 10) {
		turn();
		usleep(10000);
	}
	ck_assert(over);
	ck_assert_int_eq(acks(fd), 1);
	ck_assert_int_ge(ms, INGEST_HOLD_MS / 2);
	/* The second one has a second of its own. */
	ck_assert_uint_eq(taken, 1);
	for (ms = 0; taken < 2 && ms < 10 * INGEST_HOLD_MS; ms += 10) {
		turn();
		usleep(10000);
	}
	ck_assert_int_eq(acks(fd), 1);
	ck_assert_int_ge(ms, INGEST_HOLD_MS / 2);
	/* Who goes while it waits takes nothing along. */
	b.n = 0;
	add_batch(&b, 3);
	say(fd, &b, 0, b.n);
	close(fd);
	turn();
	buf_free(&b);
}
END_TEST

START_TEST(who_may_send)
{
	ck_assert(ingest_uid_allowed(0, 1000, -1));
	ck_assert(ingest_uid_allowed(1000, 1000, -1));
	ck_assert(!ingest_uid_allowed(1001, 1000, -1));
	ck_assert(ingest_uid_allowed(1001, 1000, 1001));
	ck_assert(!ingest_uid_allowed((uid_t)-1, 1000, -1));
}
END_TEST

START_TEST(sockets_are_taken_over_only_when_dead)
{
	char dead[90];
	int fd;

	ck_assert_int_eq(socket_listen(path, 0600, (gid_t)-1, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "another manager"));
	snprintf(dead, sizeof dead, "%s/dead.sock", dir);
	fd = socket_listen(dead, 0600, (gid_t)-1, &e);
	close(fd);
	fd = socket_listen(dead, 0600, (gid_t)-1, &e);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(socket_listen("/nonexistent/s.sock", 0600, (gid_t)-1, &e), -1);
}
END_TEST

UNIT_MAIN("ingest", 60, setup, teardown, UNIT_LOOP(batches_in_any_pieces, 2),
    UNIT_LOOP(no_ack_without_commit, 2), monitors_are_told_what_is_wanted, good_before_bad,
    UNIT_LOOP(garbage_closes, 5), gone_in_the_middle, only_so_many, batches_wait,
    nothing_waits_for_long, who_may_send, sockets_are_taken_over_only_when_dead)
