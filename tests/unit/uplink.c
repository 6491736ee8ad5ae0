/* The conversation, with a manager that the test plays and a clock it sets. */
#include "monitor-client/uplink/uplink.h"
#include "common/log.h"
#include "common/publish.h"
#include "monitor-client/kernel/clock.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char dir[64];
static char *path, *spool_dir;
static struct spool spool;
static struct uplink up;
static struct err e;
static int listener = -1, peer = -1;
static struct buf in;
static uint64_t now;

static void manager_up(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	strcpy(a.sun_path, path);
	unlink(path);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&a, sizeof a), 0);
	ck_assert_int_eq(listen(listener, 8), 0);
}

static void peer_close(void)
{
	if (peer >= 0)
		close(peer);
	peer = -1;
	in.n = 0;
}

static void setup(void)
{
	struct wire_hello h = {.session = 5, .period_ns = 4, .source = WIRE_SRC_TICK, .pid = 1};

	log_init("uplink", LOG_LVL_ERROR);
	strcpy(dir, "/tmp/morph-uplink.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	path = xasprintf("%s/sock", dir);
	spool_dir = xasprintf("%s/spool", dir);
	ck_assert_int_eq(spool_open(&spool, spool_dir, 1 << 20, &e), 0);
	uplink_init(&up, path, &h, &spool);
	now = 100 * SECOND;
}

static void teardown(void)
{
	uplink_close(&up);
	spool_close(&spool);
	peer_close();
	if (listener >= 0)
		close(listener);
	listener = -1;
	buf_free(&in);
	dir_remove(dir, &e);
	free(path);
	free(spool_dir);
}

static struct envelope envelope(uint64_t session, uint64_t seq)
{
	struct envelope l = {
	    .hello = {.session = session, .period_ns = 4, .source = WIRE_SRC_TICK, .pid = 1},
	    .seq = seq,
	    .start_ns = session * 1000 + seq,
	    .taken = 10 * seq,
	    .runs = seq};
	struct wire_batch b = {.session = session,
	    .seq = seq,
	    .start_ns = l.start_ns,
	    .end_ns = l.start_ns + 1,
	    .taken = l.taken,
	    .outside = l.taken,
	    .runs_unsent = l.runs};

	wire_put_batch(&l.batch, &b);
	return l;
}

static void offer(uint64_t seq)
{
	struct envelope l = envelope(5, seq);

	uplink_offer(&up, &l);
	envelope_free(&l);
}

/* What the manager reads next: "H5" a greeting of session 5, "B5.2" its second
 * batch, "" nothing, "-" the end. */
static const char *next(void)
{
	static char text[64];
	struct wire_hello h;
	struct wire_batch b;
	struct arena a = {0};
	enum wire_type type;
	long n;

	if (peer < 0 && (peer = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) < 0)
		return "";
	ssize_t got = recv(peer, buf_grow(&in, 4096), 4096, 0);
	in.n -= (size_t)(4096 - (got > 0 ? got : 0));
	if (got == 0 && in.n == 0) {
		peer_close();
		return "-";
	}
	n = wire_frame(in.p, in.n, &type, &e);
	ck_assert_int_ge(n, 0);
	if (!n)
		return "";
	if (type == WIRE_HELLO && !wire_get_hello(in.p, (size_t)n, &h, &e))
		snprintf(text, sizeof text, "H%lu", h.session);
	else if (type == WIRE_BATCH && !wire_get_batch(in.p, (size_t)n, &a, &b, &e))
		snprintf(text, sizeof text, b.nregs ? "B%lu.%lu+%u" : "B%lu.%lu", b.session, b.seq,
		    b.nregs);
	else
		ck_abort_msg("unexpected frame: %s", e.text);
	arena_free(&a);
	in.n -= (size_t)n;
	memmove(in.p, in.p + n, in.n);
	return text;
}

static void ack(uint64_t session, uint64_t seq)
{
	struct buf b = {0};

	wire_put_ack(&b, &(struct wire_ack){session, seq});
	ck_assert_int_eq(send(peer, b.p, b.n, MSG_NOSIGNAL), (ssize_t)b.n);
	buf_free(&b);
}

static void step(void)
{
	uplink_step(&up, now);
}

START_TEST(a_batch_is_greeted_sent_and_acknowledged)
{
	manager_up();
	step();
	ck_assert_str_eq(next(), "H5");
	offer(1);
	step();
	ck_assert_str_eq(next(), "B5.1");
	ck_assert(!uplink_idle(&up));
	ack(5, 1);
	step();
	ck_assert(uplink_idle(&up));
	ck_assert_uint_eq(up.delivered, 1);
	ck_assert_str_eq(next(), "");
}
END_TEST

START_TEST(one_at_a_time_in_order)
{
	manager_up();
	step();
	offer(1);
	offer(2);
	offer(3);
	step();
	ck_assert_str_eq(next(), "H5");
	ck_assert_str_eq(next(), "B5.1");
	ck_assert_str_eq(next(), "");
	ack(5, 1);
	step();
	ck_assert_str_eq(next(), "B5.2");
	ack(5, 7); /* of nothing that is under way */
	step();
	ck_assert_str_eq(next(), "");
	ack(5, 2);
	step();
	ck_assert_str_eq(next(), "B5.3");
	ack(5, 3);
	step();
	ck_assert(uplink_idle(&up));
}
END_TEST

START_TEST(while_it_is_away_batches_wait_on_disk)
{
	step();
	offer(1);
	offer(2);
	ck_assert(!spool_empty(&spool));
	manager_up();
	step(); /* too early */
	ck_assert_str_eq(next(), "");
	now = uplink_wake(&up);
	step();
	ck_assert_str_eq(next(), "H5");
	ck_assert_str_eq(next(), "B5.1");
	offer(3);
	ack(5, 1);
	step();
	ck_assert_str_eq(next(), "B5.2");
	ack(5, 2);
	step();
	ck_assert_str_eq(next(), "B5.3");
	ack(5, 3);
	step();
	ck_assert(uplink_idle(&up));
	ck_assert_uint_eq(uplink_take_lost(&up), 0);
}
END_TEST

START_TEST(what_was_not_acknowledged_is_sent_again)
{
	manager_up();
	step();
	offer(1);
	step();
	ck_assert_str_eq(next(), "H5");
	ck_assert_str_eq(next(), "B5.1");
	peer_close();
	step();
	offer(2);
	now = uplink_wake(&up);
	step();
	ck_assert_str_eq(next(), "H5");
	ck_assert_str_eq(next(), "B5.1");
	ack(5, 1);
	step();
	ck_assert_str_eq(next(), "B5.2");
}
END_TEST

START_TEST(an_earlier_run_has_its_own_connection)
{
	struct envelope old = envelope(4, 9);

	ck_assert_int_eq(spool_add(&spool, &old, &e), 0);
	envelope_free(&old);
	manager_up();
	step();
	offer(1);
	ck_assert_str_eq(next(), "H4");
	ck_assert_str_eq(next(), "B4.9");
	ack(4, 9);
	step();
	ck_assert_str_eq(next(), "-");
	ck_assert_str_eq(next(), "H5");
	ck_assert_str_eq(next(), "B5.1");
}
END_TEST

START_TEST(waiting_grows_to_a_bound)
{
	uint64_t before, wait = 0, i;

	for (i = 0; i < 20; i++) {
		before = now;
		step();
		ck_assert_uint_gt(uplink_wake(&up), before);
		ck_assert_uint_ge(uplink_wake(&up) - before, wait);
		wait = uplink_wake(&up) - before;
		now = uplink_wake(&up);
	}
	ck_assert_uint_eq(wait, 15 * SECOND);
}
END_TEST

/* A batch that kills the manager each time must not stop all others. */
START_TEST(a_poisonous_batch_is_given_up_and_counted)
{
	int i;

	manager_up();
	step();
	offer(1);
	for (i = 0; i < UPLINK_TRIES; i++) {
		step();
		ck_assert_str_eq(next(), "H5");
		ck_assert_str_eq(next(), "B5.1");
		peer_close();
		step();
		if (!i)
			offer(2);
		now = uplink_wake(&up);
	}
	step();
	ck_assert_str_eq(next(), "H5");
	ck_assert_str_eq(next(), "B5.2");
	ck_assert_uint_eq(uplink_take_lost(&up), 10);
	ck_assert_uint_eq(uplink_take_lost(&up), 0);
	ck_assert_uint_eq(uplink_take_runs_lost(&up), 1);
	ck_assert_uint_eq(uplink_take_runs_lost(&up), 0);
}
END_TEST

START_TEST(garbage_ends_the_connection)
{
	manager_up();
	step();
	offer(1);
	step();
	ck_assert_str_eq(next(), "H5");
	ck_assert_int_eq(send(peer, "HTTP/1.1 400 Bad Request\r\n\r\n", 28, 0), 28);
	step();
	ck_assert_int_eq(up.fd, -1);
	ck_assert(!spool_empty(&spool));
}
END_TEST

START_TEST(silence_ends_the_connection)
{
	manager_up();
	step();
	offer(1);
	step();
	ck_assert_int_ge(up.fd, 0);
	now = uplink_wake(&up);
	step();
	ck_assert_int_eq(up.fd, -1);
	ck_assert(!spool_empty(&spool));
}
END_TEST

START_TEST(at_the_end_what_is_left_is_parked)
{
	manager_up();
	step();
	offer(1);
	step();
	ck_assert(spool_empty(&spool));
	uplink_close(&up);
	ck_assert(!spool_empty(&spool));
}
END_TEST

START_TEST(without_a_spool_one_envelope_waits_and_others_are_lost)
{
	up.spool = NULL;
	step();
	offer(1);
	ck_assert(!uplink_idle(&up));
	offer(2);
	ck_assert_uint_eq(uplink_take_lost(&up), 20);
	ck_assert_uint_eq(uplink_take_runs_lost(&up), 2);
	manager_up();
	now = uplink_wake(&up);
	step();
	ck_assert_str_eq(next(), "H5");
	ck_assert_str_eq(next(), "B5.1");
	peer_close();
	step();
	now = uplink_wake(&up);
	step();
	ck_assert_str_eq(next(), "H5");
	ck_assert_str_eq(next(), "B5.1");
	ack(5, 1);
	step();
	ck_assert(uplink_idle(&up));
}
END_TEST

START_TEST(a_large_batch_goes_out_in_pieces)
{
	struct envelope l = envelope(5, 1);
	struct wire_module m = {.id = {.n = 1}, .path = "/a", .nsample = 200000};
	struct wire_batch b = {.session = 5, .seq = 1, .taken = 200000, .module = &m, .nmodule = 1};
	uint32_t i, turns = 0;

	m.sample = xcalloc(m.nsample, sizeof *m.sample);
	for (i = 0; i < m.nsample; i++)
		m.sample[i] = (struct wire_sample){.offset = i * 1000003ull, .count = 1};
	l.batch.n = 0;
	wire_put_batch(&l.batch, &b);
	manager_up();
	step();
	uplink_offer(&up, &l);
	step();
	ck_assert_str_eq(next(), "H5");
	while (strcmp(next(), "B5.1")) {
		step();
		ck_assert_uint_lt(++turns, 10000);
	}
	ck_assert_uint_gt(turns, 10);
	ack(5, 1);
	step();
	ck_assert(uplink_idle(&up));
	free(m.sample);
	envelope_free(&l);
}
END_TEST

static struct envelope secret_envelope(uint64_t seq)
{
	struct wire_sample sample = {0x40, 10 * seq};
	struct wire_module module = {
	    .id = {.n = 1, .b = "x"}, .path = "/x", .sample = &sample, .nsample = 1};
	struct wire_regs regs[2] = {{.gpr = {0x5ec2e75ec2e75ec2}}, {.offset = 1}};
	struct wire_batch b = {.session = 5,
	    .seq = seq,
	    .start_ns = 5000 + seq,
	    .taken = 10 * seq,
	    .module = &module,
	    .nmodule = 1};
	struct envelope l = envelope(5, seq);

	l.batch.n = 0;
	wire_put_batch(&l.batch, &b);
	b.regs = regs;
	b.nregs = 2;
	l.nregs = 2;
	wire_put_batch(&l.secret, &b);
	return l;
}

static void offer_secret(uint64_t seq)
{
	struct envelope l = secret_envelope(seq);

	uplink_offer(&up, &l);
	envelope_free(&l);
}

static bool out_holds_secrets(void)
{
	static const uint64_t v = 0x5ec2e75ec2e75ec2;

	return up.out.cap && memmem(up.out.p, up.out.cap, &v, sizeof v);
}

START_TEST(registers_go_once_and_are_wiped)
{
	manager_up();
	step();
	ck_assert_str_eq(next(), "H5");
	offer_secret(1);
	step();
	ck_assert_str_eq(next(), "B5.1+2");
	ck_assert(!out_holds_secrets());
	/* It goes without an answer: again, but not with registers. */
	peer_close();
	step();
	step();
	ck_assert_uint_eq(uplink_take_regs_lost(&up), 2);
	now = up.retry;
	step();
	ck_assert_str_eq(next(), "H5");
	step();
	ck_assert_str_eq(next(), "B5.1");
}
END_TEST

START_TEST(registers_do_not_wait)
{
	struct envelope l;

	step();
	offer_secret(1);
	ck_assert_int_eq(spool_first(&spool, &l), 0);
	ck_assert_uint_eq(l.seq, 1);
	envelope_free(&l);
	ck_assert_uint_eq(uplink_take_regs_lost(&up), 2);
	ck_assert_uint_eq(uplink_take_regs_lost(&up), 0);
}
END_TEST

static void want(const char *letters, void (*put)(struct buf *out, const struct wire_want *m))
{
	struct build_id id[8] = {0};
	struct wire_want w = {id, (uint32_t)strlen(letters)};
	struct buf b = {0};
	uint32_t i;

	for (i = 0; i < w.n; i++) {
		id[i].n = 1;
		id[i].b[0] = (uint8_t)letters[i];
	}
	put(&b, &w);
	ck_assert_int_eq(send(peer, b.p, b.n, MSG_NOSIGNAL), (ssize_t)b.n);
	buf_free(&b);
}

static const char *wanted(
    const char *letters, bool (*wants)(const struct uplink *u, const struct build_id *id))
{
	static char text[16];
	size_t n = 0;

	for (; *letters; letters++)
		if (wants(&up, &(struct build_id){1, {(uint8_t)*letters}}))
			text[n++] = *letters;
	text[n] = 0;
	return text;
}

/* What is wanted of samples, what is watched and what is counted, each by itself. */
static const struct {
	void (*put)(struct buf *out, const struct wire_want *m);
	bool (*of)(const struct uplink *u, const struct build_id *id);
} asked[] = {{wire_put_want, uplink_wants}, {wire_put_watch, uplink_watches},
    {wire_put_cycles, uplink_counts}};

START_TEST(wants_hold_until_the_next_or_the_end)
{
	void (*put)(struct buf *, const struct wire_want *) = asked[_i].put;
	bool (*wants)(const struct uplink *, const struct build_id *) = asked[_i].of;

	manager_up();
	step();
	ck_assert_str_eq(next(), "H5");
	ck_assert(!wants(&up, NULL));
	ck_assert_str_eq(wanted("abc", wants), "");
	want("ac", put);
	want("x", asked[(_i + 1) % 3].put);
	step();
	ck_assert(wants(&up, NULL));
	ck_assert_str_eq(wanted("abcx", wants), "ac");
	ck_assert_str_eq(wanted("abcx", asked[(_i + 1) % 3].of), "x");
	want("b", put);
	step();
	ck_assert_str_eq(wanted("abc", wants), "b");
	want("", put);
	step();
	ck_assert(!wants(&up, NULL));
	want("abc", put);
	step();
	ck_assert_str_eq(wanted("abc", wants), "abc");
	peer_close();
	step();
	ck_assert(!wants(&up, NULL));
}
END_TEST

static void tell_boost(uint32_t budget, uint32_t n)
{
	struct build_id id[2] = {{1, {'a'}}, {1, {'b'}}};
	struct wire_boost w = {budget, {id, n}};
	struct buf b = {0};

	wire_put_boost(&b, &w);
	ck_assert_int_eq(send(peer, b.p, b.n, MSG_NOSIGNAL), (ssize_t)b.n);
	buf_free(&b);
	step();
}

START_TEST(a_boost_holds_until_the_next_or_the_end)
{
	manager_up();
	step();
	ck_assert_str_eq(next(), "H5");
	ck_assert_uint_eq(uplink_boost(&up)->builds.n, 0);
	tell_boost(5000, 2);
	ck_assert_uint_eq(uplink_boost(&up)->budget, 5000);
	ck_assert_uint_eq(uplink_boost(&up)->builds.n, 2);
	ck_assert_int_eq(uplink_boost(&up)->builds.id[1].b[0], 'b');
	tell_boost(400, 1);
	ck_assert_uint_eq(uplink_boost(&up)->budget, 400);
	ck_assert_uint_eq(uplink_boost(&up)->builds.n, 1);
	peer_close();
	step();
	ck_assert_uint_eq(uplink_boost(&up)->builds.n, 0);
}
END_TEST

UNIT_MAIN("uplink", 60, setup, teardown, a_batch_is_greeted_sent_and_acknowledged,
    one_at_a_time_in_order, while_it_is_away_batches_wait_on_disk,
    what_was_not_acknowledged_is_sent_again, an_earlier_run_has_its_own_connection,
    waiting_grows_to_a_bound, a_poisonous_batch_is_given_up_and_counted,
    garbage_ends_the_connection, silence_ends_the_connection, at_the_end_what_is_left_is_parked,
    without_a_spool_one_envelope_waits_and_others_are_lost, a_large_batch_goes_out_in_pieces,
    registers_go_once_and_are_wiped, registers_do_not_wait,
    UNIT_LOOP(wants_hold_until_the_next_or_the_end, 3), a_boost_holds_until_the_next_or_the_end)
