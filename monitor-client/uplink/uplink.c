#include "monitor-client/uplink/uplink.h"
#include "common/log.h"
#include "monitor-client/kernel/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define WAIT_MIN (SECOND / 4)
#define WAIT_MAX (15 * SECOND)
#define ACK_PATIENCE (60 * SECOND)
enum { IN_MAX = WIRE_HEADER + 10 + WIRE_WANT_MAX * 33 + 4096 };

void uplink_init(
    struct uplink *u, const char *path, const struct wire_hello *hello, struct spool *spool)
{
	*u = (struct uplink){
	    .path = path, .hello = *hello, .spool = spool, .fd = -1, .wait = WAIT_MIN};
}

static void lose(struct uplink *u, const struct envelope *l, const char *why)
{
	log_warn("a batch of %" PRIu64 " samples is lost: %s", l->taken, why);
	u->lost += l->taken;
	u->runs_lost += l->runs;
}

/* Into the spool, or lost. Empties the envelope. */
static void keep(struct uplink *u, struct envelope *l)
{
	struct err e;

	u->regs_lost += envelope_wipe(l);
	if (!u->spool)
		lose(u, l, "the manager is busy and there is no spool");
	else if (spool_add(u->spool, l, &e))
		lose(u, l, e.text);
	envelope_free(l);
}

/* Ends the delivery of the envelope at hand; it stays where it waits. */
static void put_back(struct uplink *u)
{
	u->regs_lost += envelope_wipe(&u->now);
	if (!u->busy || (!u->spooled && !u->spool))
		return;
	u->busy = false;
	if (u->spooled)
		envelope_free(&u->now);
	else
		keep(u, &u->now);
}

/* All of out is sent, or never will be. */
static void empty_out(struct uplink *u)
{
	if (u->secret)
		buf_wipe(&u->out);
	u->secret = false;
	u->sent = u->out.n = 0;
}

static void forget_boost(struct uplink *u)
{
	free(u->boost.builds.id);
	u->boost = (struct wire_boost){0};
}

static void hang_up(struct uplink *u)
{
	if (u->fd >= 0)
		close(u->fd);
	u->fd = -1;
	u->greeted = false;
	u->in.n = 0;
	empty_out(u);
	htab_free(&u->want);
	htab_free(&u->watch);
	htab_free(&u->cycles);
	forget_boost(u);
	u->deadline = 0;
}

static void disconnect(struct uplink *u, uint64_t now, const char *why)
{
	if (!u->complained)
		log_info("manager at %s: %s; samples wait", u->path, why);
	u->complained = true;
	hang_up(u);
	put_back(u);
	u->retry = now + u->wait;
	u->wait = 2 * u->wait < WAIT_MAX ? 2 * u->wait : WAIT_MAX;
}

static void try_connect(struct uplink *u, uint64_t now)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	if (strlen(u->path) >= sizeof a.sun_path) {
		disconnect(u, now, "the path is too long for a socket");
		return;
	}
	strcpy(a.sun_path, u->path);
	u->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (u->fd < 0 || connect(u->fd, (struct sockaddr *)&a, sizeof a))
		disconnect(u, now, strerror(errno));
}

static bool given_up(struct uplink *u)
{
	const struct envelope *l = &u->now;

	return u->refused.session == l->hello.session && u->refused.seq == l->seq &&
	       u->refused.n >= UPLINK_TRIES;
}

static void note_refusal(struct uplink *u)
{
	if (!u->busy || !u->deadline)
		return;
	if (u->refused.session != u->now.hello.session || u->refused.seq != u->now.seq)
		u->refused.n = 0;
	u->refused.session = u->now.hello.session;
	u->refused.seq = u->now.seq;
	u->refused.n++;
}

static void done_with_letter(struct uplink *u)
{
	if (u->spooled)
		spool_remove_first(u->spool);
	envelope_free(&u->now);
	u->busy = u->spooled = false;
}

/* The next envelope from the spool, if none is at hand. */
static void pick(struct uplink *u)
{
	while (!u->busy && u->spool && spool_first(u->spool, &u->now) == 0) {
		u->busy = u->spooled = true;
		if (given_up(u)) {
			lose(u, &u->now, "the manager hung up on it each time");
			done_with_letter(u);
		}
	}
}

static void put_batch(struct uplink *u)
{
	struct envelope *l = &u->now;

	if (!l->secret.n) {
		buf_add(&u->out, l->batch.p, l->batch.n);
		return;
	}
	u->secret = true;
	buf_secret_room(&u->out, l->secret.n);
	buf_add(&u->out, l->secret.p, l->secret.n);
	buf_wipe(&l->secret);
	buf_free(&l->secret);
}

static void queue(struct uplink *u, uint64_t now)
{
	const struct wire_hello *h = u->busy ? &u->now.hello : &u->hello;

	if (!u->greeted) {
		wire_put_hello(&u->out, h);
		u->greeted = true;
		u->session = h->session;
	}
	if (u->busy && !u->deadline) {
		put_batch(u);
		u->deadline = now + ACK_PATIENCE;
	}
}

static void send_out(struct uplink *u, uint64_t now)
{
	ssize_t n;

	while (u->sent < u->out.n) {
		n = send(u->fd, u->out.p + u->sent, u->out.n - u->sent, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN) {
			note_refusal(u);
			disconnect(u, now, strerror(errno));
		}
		if (n < 0)
			return;
		u->sent += (size_t)n;
	}
	empty_out(u);
}

/* Replaces the table's builds by those of a message, when that is sound: r is 0. */
static int replace(struct htab *table, const struct wire_want *w, int r)
{
	uint32_t i;

	htab_free(table);
	for (i = 0; !r && i < w->n; i++)
		htab_put(table, w->id[i].b, w->id[i].n, NULL);
	return r;
}

static int take_boost(struct uplink *u, const void *frame, size_t n)
{
	struct wire_boost b;
	struct arena a = {0};
	struct err e;
	int r = wire_get_boost(frame, n, &a, &b, &e);

	forget_boost(u);
	if (!r) {
		u->boost = b;
		u->boost.builds.id = xcalloc(b.builds.n, sizeof *b.builds.id);
		memcpy(u->boost.builds.id, b.builds.id, b.builds.n * sizeof *b.builds.id);
	}
	arena_free(&a);
	return r;
}

static int take_builds(struct uplink *u, enum wire_type type, const void *frame, size_t n)
{
	struct wire_want w;
	struct arena a = {0};
	struct err e;
	int r;

	if (type == WIRE_WANT)
		r = replace(&u->want, &w, wire_get_want(frame, n, &a, &w, &e));
	else if (type == WIRE_WATCH)
		r = replace(&u->watch, &w, wire_get_watch(frame, n, &a, &w, &e));
	else
		r = replace(&u->cycles, &w, wire_get_cycles(frame, n, &a, &w, &e));
	arena_free(&a);
	return r;
}

/* Returns the bytes used, 0 when more are needed, -1 on garbage. */
static long take_answer(struct uplink *u)
{
	enum wire_type type;
	struct wire_ack ack;
	struct err e;
	long n = wire_frame(u->in.p, u->in.n, &type, &e);

	if (n <= 0)
		return n;
	if (type == WIRE_BOOST)
		return take_boost(u, u->in.p, (size_t)n) ? -1 : n;
	if (type == WIRE_WANT || type == WIRE_WATCH || type == WIRE_CYCLES)
		return take_builds(u, type, u->in.p, (size_t)n) ? -1 : n;
	if (type != WIRE_ACK || wire_get_ack(u->in.p, (size_t)n, &ack, &e))
		return -1;
	if (u->busy && u->deadline && ack.session == u->now.hello.session &&
	    ack.seq == u->now.seq) {
		done_with_letter(u);
		u->delivered++;
		u->deadline = 0;
		u->wait = WAIT_MIN;
		if (u->complained)
			log_info("manager at %s takes samples again", u->path);
		u->complained = false;
	}
	return n;
}

static void read_in(struct uplink *u, uint64_t now)
{
	char chunk[1024];
	ssize_t n;
	long used = 1;

	while (u->fd >= 0 && (n = recv(u->fd, chunk, sizeof chunk, 0)) != -1) {
		if (!n) {
			note_refusal(u);
			disconnect(u, now, "closed the connection");
			return;
		}
		buf_add(&u->in, chunk, (size_t)n);
		while (u->in.n && (used = take_answer(u)) > 0) {
			u->in.n -= (size_t)used;
			memmove(u->in.p, u->in.p + used, u->in.n);
		}
		if (used < 0 || u->in.n > IN_MAX)
			disconnect(u, now, "sent what is no answer");
	}
	if (u->fd >= 0 && errno != EAGAIN && errno != EINTR) {
		note_refusal(u);
		disconnect(u, now, strerror(errno));
	}
}

void uplink_step(struct uplink *u, uint64_t now)
{
	uint64_t before;

	if (u->fd < 0) {
		if (now < u->retry)
			return;
		try_connect(u, now);
	}
	do {
		before = u->delivered;
		if (u->fd >= 0)
			pick(u);
		if (u->fd >= 0 && u->greeted && u->busy && u->session != u->now.hello.session) {
			hang_up(u);
			try_connect(u, now);
		}
		if (u->fd >= 0) {
			queue(u, now);
			send_out(u, now);
		}
		if (u->fd >= 0)
			read_in(u, now);
	} while (u->fd >= 0 && u->delivered != before);
	if (u->fd >= 0 && u->deadline && now >= u->deadline)
		disconnect(u, now, "does not answer");
}

void uplink_offer(struct uplink *u, struct envelope *l)
{
	bool waiting = u->spool && (!spool_empty(u->spool) || u->fd < 0);

	if (u->busy || waiting) {
		keep(u, l);
		return;
	}
	u->now = *l;
	u->busy = true;
	u->spooled = false;
	u->deadline = 0;
	*l = (struct envelope){0};
}

void uplink_forget(struct uplink *u)
{
	envelope_free(&u->now);
	u->busy = u->spooled = false;
}

bool uplink_idle(const struct uplink *u)
{
	return !u->busy && (!u->spool || spool_empty(u->spool));
}

struct pollfd uplink_poll(const struct uplink *u)
{
	short events = u->sent < u->out.n ? POLLIN | POLLOUT : POLLIN;

	return (struct pollfd){.fd = u->fd, .events = events};
}

uint64_t uplink_wake(const struct uplink *u)
{
	if (u->fd < 0)
		return u->retry;
	return u->deadline ? u->deadline : UINT64_MAX;
}

void uplink_finish(struct uplink *u, uint64_t patience)
{
	uint64_t now = clock_now(), end = now + patience, delivered = u->delivered;
	struct pollfd p;

	u->retry = 0;
	for (; now < end; now = clock_now()) {
		uplink_step(u, now);
		if (u->fd < 0 || (uplink_idle(u) && u->sent == u->out.n))
			return;
		if (u->delivered != delivered)
			end = now + patience;
		delivered = u->delivered;
		p = uplink_poll(u);
		poll(&p, 1, 100);
	}
}

uint64_t uplink_take_lost(struct uplink *u)
{
	uint64_t n = u->lost + (u->spool ? spool_take_lost(u->spool) : 0);

	u->lost = 0;
	return n;
}

uint64_t uplink_take_runs_lost(struct uplink *u)
{
	uint64_t n = u->runs_lost + (u->spool ? spool_take_runs_lost(u->spool) : 0);

	u->runs_lost = 0;
	return n;
}

uint64_t uplink_take_regs_lost(struct uplink *u)
{
	uint64_t n = u->regs_lost;

	u->regs_lost = 0;
	return n;
}

/* NULL: any. */
static bool has(const struct htab *builds, const struct build_id *id)
{
	return builds->n && (!id || htab_get(builds, id->b, id->n));
}

bool uplink_wants(const struct uplink *u, const struct build_id *id)
{
	return has(&u->want, id);
}

bool uplink_watches(const struct uplink *u, const struct build_id *id)
{
	return has(&u->watch, id);
}

bool uplink_counts(const struct uplink *u, const struct build_id *id)
{
	return has(&u->cycles, id);
}

const struct wire_boost *uplink_boost(const struct uplink *u)
{
	return &u->boost;
}

void uplink_close(struct uplink *u)
{
	hang_up(u);
	put_back(u);
	if (u->busy)
		lose(u, &u->now, "there is no spool");
	envelope_free(&u->now);
	buf_free(&u->out);
	buf_free(&u->in);
}
