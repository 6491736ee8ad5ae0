/* The whole manager on its loop, with a parent that does as the test says. */
#include "common/log.h"
#include "common/random.h"
#include "managerd/parent/sockets.h"
#include "managerd/cycle/judge.h"
#include "managerd/cycle/manager.h"
#include "managerd/os/clock.h"
#include "tests/unit/fakepriv.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

/* lines: changes of line after it; .925 before. gain: what is expected, surely. */
#define SCORE(lines, gain) \
	"\"score\":{\"before\":{\"exttsp\":1,\"taken\":30,\"total\":90,\"lines95\":7," \
	"\"cost\":{\"insns\":1,\"taken\":0.2,\"lines\":0.925,\"cycles\":0.5}},\"after\":{" \
	"\"exttsp\":2,\"taken\":10,\"total\":90,\"lines95\":5,\"cost\":{\"insns\":1," \
	"\"taken\":0.2,\"lines\":" lines \
	",\"cycles\":0.4}}},\"size\":{\"before\":100,\"after\":120}," \
	"\"estimate\":{\"gain\":" gain ",\"low\":" gain ",\"high\":" gain \
	",\"missed\":0,\"optimism\":0}"
/* names: of a list of functions, and how many of them are missed. */
#define ANSWER_OF(names, lines, gain) \
	"echo '{\"ok\":true,\"out\":\"x\",\"build_id\":\"16\",\"origin\":\"0b\",\"functions\":10," \
	"\"edited\":4,\"opaque\":1,\"opaque_share\":0.25,\"samples\":3.5,\"samples_used\":3," \
	"\"order\":{" names ",\"example\":\"\"}," \
	"\"tus\":3,\"tus_assembled\":2,\"tus_cached\":1,\"seconds\":{\"parse\":0.5,\"as\":2}" \
	"," SCORE(lines, gain) "}'"
#define ANSWER(lines, gain) ANSWER_OF("\"names\":0,\"missed\":0", lines, gain)

static const char policy[] =
    "profile: {registers: no}\n"
    "decide: {every: 1s, min_samples: 10, min_coverage: 1%, min_gain: 1%, cool_down: 0s,"
    " edits_per_day: 1000}\n"
    "idle: {cpu: 0%, psi: 100%, after: 0s, battery: yes}\n";

static char dir[64], path[96];
static struct conf conf;
static struct priv *priv;
static struct manager *m;
static uv_loop_t loop;
static struct err e;
static int fd; /* of the monitor */
/* To it, and not looked at yet. */
static char sent[65536];
static size_t nsent;
static uint64_t seq;
static double longest_cpu; /* turn of the loop in s of CPU time */

static void start_manager(void)
{
	struct manager_options o = {.conf = &conf,
	    .priv = priv,
	    .state_dir = dir,
	    .home = dir,
	    .user = false,
	    .monitor_uid = -1};
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct buf b = {0};

	uv_loop_init(&loop);
	uv_loop_configure(&loop, UV_METRICS_IDLE_TIME);
	o.monitors = socket_listen(path, 0600, (gid_t)-1, &e);
	ck_assert_int_ge(o.monitors, 0);
	m = manager_start(&loop, &o, &e);
	ck_assert_msg(m != NULL, "%s", e.text);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	strcpy(a.sun_path, path);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
	wire_put_hello(
	    &b, &(struct wire_hello){
		    .session = 5, .period_ns = 4000000, .source = WIRE_SRC_RECORDED, .pid = 1});
	ck_assert_int_eq(write(fd, b.p, b.n), (ssize_t)b.n);
	buf_free(&b);
}

static void stop_manager(void)
{
	manager_stop(m);
	while (uv_run(&loop, UV_RUN_ONCE))
		;
	manager_free(m);
	ck_assert_int_eq(uv_loop_close(&loop), 0);
	close(fd);
	nsent = 0;
}

static void setup_with(const char *text)
{
	log_init("cycle", getenv("VERBOSE") ? LOG_LVL_DEBUG : LOG_LVL_ERROR);
	strcpy(dir, "/tmp/morph-cycle-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/monitor.sock", dir);
	ck_assert_msg(!conf_parse("p", text, strlen(text), &conf, &e), "%s", e.text);
	priv = fake_new();
	priv->script = ANSWER("0.3", "0.2");
	priv->built = (struct build_id){1, {0x16}};
	seq = 0;
	start_manager();
}

static void setup(void)
{
	setup_with(policy);
}

static void teardown(void)
{
	stop_manager();
	priv_close(priv);
	conf_free(&conf);
	dir_remove(dir, NULL);
}

static double cpu_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static double seconds(void)
{
	return (double)uv_hrtime() / 1e9;
}

/* One turn of the loop, and its CPU time. */
static void turn(void)
{
	double cpu = cpu_seconds();

	uv_run(&loop, UV_RUN_NOWAIT);
	cpu = cpu_seconds() - cpu;
	longest_cpu = cpu > longest_cpu ? cpu : longest_cpu;
}

static void path_of(char *out, size_t n, unsigned uid, unsigned i)
{
	snprintf(out, n, "/home/%u/prog%u", uid, i);
}

/* Extra samples of each program in the next batches. */
static struct wire_sample extra = {20, 0};

/* A batch of 20 samples in block 1 of each of n programs of a user. */
static void send_batch(unsigned uid, unsigned n)
{
	struct wire_batch b = {.session = 5,
	    .seq = ++seq,
	    .taken = 20 * n,
	    .nmodule = n,
	    .plain = 100,
	    .extra = 5 * extra.count};
	struct wire_sample s = {20, 20};
	char(*name)[64] = xcalloc(n, sizeof *name);
	struct buf out = {0};
	size_t done = 0;
	unsigned i;
	ssize_t k;

	b.module = xcalloc(n, sizeof *b.module);
	for (i = 0; i < n; i++) {
		path_of(name[i], sizeof name[i], uid, i);
		b.module[i] = (struct wire_module){.path = name[i],
		    .uid = uid,
		    .sample = &s,
		    .nsample = 1,
		    .boosted = extra.count > 0,
		    .extra = &extra,
		    .nextra = extra.count > 0,
		    .id = fake_find(priv, name[i])->inspection.id};
	}
	wire_put_batch(&out, &b);
	while (done < out.n) {
		k = write(fd, out.p + done, out.n - done);
		done += k > 0 ? (size_t)k : 0;
		turn();
	}
	buf_free(&out);
	free(b.module);
	free(name);
}

/* Takes what it sent up to the acknowledgement of the last batch. */
static bool take_ack(void)
{
	struct wire_ack ack = {0};
	enum wire_type type;
	bool is_it = false;
	size_t i = 0;
	long n;

	while (!is_it && (n = wire_frame(sent + i, nsent - i, &type, &e)) > 0) {
		ck_assert(type != WIRE_ACK || !wire_get_ack(sent + i, (size_t)n, &ack, &e));
		is_it = type == WIRE_ACK && ack.seq == seq;
		i += (size_t)n;
	}
	nsent -= i;
	memmove(sent, sent + i, nsent);
	return is_it;
}

/* How long until it is acknowledged. */
static double acknowledged(void)
{
	double begin = seconds();
	ssize_t n;

	while (!take_ack()) {
		ck_assert_double_lt(seconds() - begin, 30);
		turn();
		usleep(200);
		n = read(fd, sent + nsent, sizeof sent - nsent);
		nsent += n > 0 ? (size_t)n : 0;
	}
	return seconds() - begin;
}

static struct fake_file *program(unsigned uid, unsigned i, uint32_t nfunc)
{
	struct fake_file *f;
	char name[64];

	path_of(name, sizeof name, uid, i);
	f = fake_file(priv, name, uid, 11);
	f->inspection.id = f->inspection.origin =
	    (struct build_id){4, {11, (uint8_t)uid, i >> 8, (uint8_t)i}};
	fake_artifact(f, nfunc);
	return f;
}

static void turn_until(bool (*done)(void), double limit)
{
	double begin = seconds();

	while (!done() && seconds() - begin < limit) {
		turn();
		usleep(200);
	}
	ck_assert(done());
}

static struct module *module_at(unsigned uid, unsigned i)
{
	char name[64];

	path_of(name, sizeof name, uid, i);
	return modules_of_path(&m->core.modules, name);
}

static bool swapped(void)
{
	return module_at(1000, 0)->row.state == MODULE_LAID_OUT && !m->work.now.step;
}

static bool held(void)
{
	return module_at(1000, 0)->row.held_until_ms == -1 && !m->work.now.step;
}

/* The samples of a program that nobody knew wait for the inspection. */
START_TEST(first_samples_are_not_lost)
{
	struct accounting acc;

	program(1000, 0, 3);
	priv->slow = true;
	send_batch(1000, 1);
	while (!priv->task.n)
		turn();
	turn();
	ck_assert_int_eq(store_accounting(m->core.store, &acc, &e), 0);
	ck_assert_uint_eq(acc.taken, 0);
	ck_assert(fake_answer(priv, NULL));
	ck_assert_double_lt(acknowledged(), 0.9);
	ck_assert_int_eq(store_accounting(m->core.store, &acc, &e), 0);
	ck_assert_uint_eq(acc.mapped, 20);
}
END_TEST

/* What takes long to decode is learned, and loaded, beside the loop. */
START_TEST(a_large_program_is_learned_in_the_pool)
{
	struct fake_file *f = program(1000, 0, 9000);
	struct accounting acc;
	unsigned i;

	for (i = 1; i <= 2; i++) {
		send_batch(1000, 1);
		while (i == 1 && !m->learning.learn.n)
			turn();
		/* One after the other: the later one has the last word. */
		if (i == 1) {
			ck_assert(learning_inspect(
			    &m->learning, &(struct store_module){.path = f->path}));
			ck_assert_uint_eq(f->inspections, 1);
		}
		while (i == 2 && !module_at(1000, 0)->memory.loading)
			turn();
		ck_assert_int_eq(store_accounting(m->core.store, &acc, &e), 0);
		ck_assert_uint_eq(acc.mapped, 20 * (i - 1));
		ck_assert_double_lt(acknowledged(), 10);
		ck_assert_int_eq(store_accounting(m->core.store, &acc, &e), 0);
		ck_assert_uint_eq(acc.mapped, 20 * i);
		ck_assert_int_eq(modules_reload(&m->core.modules, &e), 0);
	}
}
END_TEST

/* But not for ever; the next ones are mapped. */
START_TEST(a_slow_look_holds_a_batch_for_a_second)
{
	struct accounting acc;
	double took;

	program(1000, 0, 3);
	priv->slow = true;
	send_batch(1000, 1);
	took = acknowledged();
	ck_assert(took > 0.5 && took < 3);
	ck_assert_int_eq(store_accounting(m->core.store, &acc, &e), 0);
	ck_assert_uint_eq(acc.no_artifact, 20);
	ck_assert(fake_answer(priv, NULL));
	send_batch(1000, 1);
	ck_assert_double_lt(acknowledged(), 0.9);
	ck_assert_int_eq(store_accounting(m->core.store, &acc, &e), 0);
	ck_assert_uint_eq(acc.mapped, 20);
}
END_TEST

START_TEST(round_and_back)
{
	struct fake_file *f = program(1000, 0, 3);
	uint64_t change;
	unsigned before;

	send_batch(1000, 1);
	acknowledged();
	turn_until(swapped, 20);
	ck_assert_uint_eq(f->swaps, 1);
	ck_assert_uint_eq(priv->done, 1);
	ck_assert_uint_ge(f->inspections, 2); /* learned, and before the edit */
	ck_assert_uint_ge(f->judged, 1);
	ck_assert_int_eq(manager_rollback(m, module_at(1000, 0)->row.id, 1000, &change, &e), 0);
	ck_assert_int_lt(manager_change(m, change)->status, CHANGE_DONE);
	turn_until(held, 20);
	ck_assert_int_eq(manager_change(m, change)->status, CHANGE_DONE);
	ck_assert(f->held);
	ck_assert_uint_eq(priv->done, 2);
	ck_assert_uint_eq(f->inspection.id.b[0], 11);
	/* A person's word takes the hold away. */
	ck_assert_int_eq(
	    manager_reoptimize(m, module_at(1000, 0)->row.id, 1000, true, &change, &e), 0);
	turn_until(swapped, 20);
	ck_assert_msg(manager_change(m, change)->status == CHANGE_DONE, "%s",
	    manager_change(m, change)->text);
	ck_assert(!f->held);
	before = f->inspections;
	/* What was swapped in is inspected once more, and then left alone. */
	send_batch(1000, 1);
	acknowledged();
	ck_assert_uint_le(f->inspections, before + 1);
}
END_TEST

/* What an inspection saw before a rollback does not pass for somebody's rebuild, which would
 * take the hold away. */
START_TEST(an_inspection_of_before_a_rollback)
{
	struct fake_file *f = program(1000, 0, 3);
	struct priv_inspected before;
	uint64_t change;
	unsigned n;

	send_batch(1000, 1);
	acknowledged();
	turn_until(swapped, 20);
	before = f->inspection;
	priv->slow = true;
	ck_assert(learning_inspect(&m->learning, &module_at(1000, 0)->row));
	n = f->inspections;
	ck_assert_int_eq(manager_rollback(m, module_at(1000, 0)->row.id, 1000, &change, &e), 0);
	turn_until(held, 20);
	priv->past = &before;
	ck_assert(fake_answer(priv, f->path));
	ck_assert(held() && f->held);
	ck_assert_uint_eq(f->inspections, n + 1); /* again */
	ck_assert(fake_answer(priv, f->path));
	ck_assert(held() && f->held);
	ck_assert_uint_eq(module_at(1000, 0)->row.current.b[0], 11);
	ck_assert(!fake_answer(priv, f->path));
}
END_TEST

/* ---- trials ---- */

static void setup_with_turns(void)
{
	setup_with(
	    "profile: {registers: no}\nnotify: {command: [tell, '{text}']}\n"
	    "measure: {turn: 100ms}\n"
	    "decide: {every: 100ms, min_samples: 10, min_coverage: 1%, min_gain: 1%, cool_down: 0s,"
	    " edits_per_day: 1000}\n"
	    "idle: {cpu: 0%, psi: 100%, after: 0s, battery: yes}\n");
}

static const struct module_trial *trial(void)
{
	return trials_of(&m->trials, module_at(1000, 0)->row.id);
}

/* A process of what is in place; ratio: CPU time of the new build by the old one's. */
static void run_program_of(double ratio, uint32_t status, int64_t start_ms)
{
	static uint64_t noise = 1;
	struct store_module *row = &module_at(1000, 0)->row;
	bool new = !build_id_equal(&row->current, &row->origin);
	double cpu = 2e7 * (new ? ratio : 1) *
		     (0.95 + 0.1 * (double)(random_next(&noise) >> 40) / (1 << 24));
	struct wire_run r = {.start_ns = (uint64_t)start_ms * 1000000,
	    .cpu_ns = (uint64_t)cpu,
	    .class = 1,
	    .status = new ? status : 0};
	struct wire_batch b = {.run = &r, .nrun = 1, .run_build = &row->current, .nrun_build = 1};

	trials_take(&m->trials, &b);
}

static void run_program(double ratio, uint32_t status)
{
	run_program_of(ratio, status, clock_now_ms());
}

static void lay_out(void)
{
	send_batch(1000, 1);
	acknowledged();
	turn_until(swapped, 20);
	ck_assert_ptr_nonnull(trial());
	ck_assert_int_eq(trial()->ended_ms, 0);
}

static void measure(double ratio)
{
	double begin = seconds();

	while (!trial()->ended_ms || m->work.now.step) {
		ck_assert_double_lt(seconds() - begin, 60);
		turn();
		usleep(2000);
		if (!m->work.now.step)
			run_program(ratio, 0);
	}
}

/* Of the same layout, were it predicted now. */
static double promise_to(const struct store_module *row)
{
	struct editanswer_score before = {.cost = {1, 0.2, 0.925}}, after = {.cost = {1, 0.2, 0.3}};

	return promises_gain(&m->trials.promises, row, &before, &after);
}

static double promise(void)
{
	return promise_to(&module_at(1000, 0)->row);
}

START_TEST(a_gain_is_measured)
{
	struct store_module same = {.id = 1, .uid = 1000}, other = {.id = 1, .uid = 1001};
	const struct editanswer_score nothing = {0}; /* of a profile of another artifact */
	struct manager_trial t;
	double said;

	program(1000, 0, 3);
	ck_assert_double_eq_tol(promise_to(&same), 0.2, 1e-9);
	ck_assert(isnan(promises_gain(&m->trials.promises, &same, &nothing, &nothing)));
	lay_out();
	ck_assert_double_eq_tol(trial()->promised, 0.2, 1e-9);
	measure(0.9);
	ck_assert(manager_trial(m, module_at(1000, 0)->row.id, &t));
	ck_assert_int_eq(t.verdict, TRIAL_FASTER);
	/* One interval of 95 % in twenty misses what is true; one of twice its width, one in
	 * 10,000. */
	ck_assert_msg(fabs(t.estimate.gain - 0.1) < t.estimate.high - t.estimate.low, "%s", t.text);
	ck_assert_double_lt(t.estimate.high - t.estimate.low, 0.04);
	ck_assert_int_eq(module_at(1000, 0)->row.current.b[0], 0x16);
	/* The model said .2: of the next layout of this program that is not believed, … */
	ck_assert_msg(fabs(promise() - t.estimate.gain) < 0.02, "%g", promise());
	/* … nor quite of the same user's others. */
	ck_assert_msg(
	    promise_to(&same) > 0.12 && promise_to(&same) < 0.197, "%g", promise_to(&same));
	ck_assert_double_eq_tol(promise_to(&other), 0.2, 1e-9);
	/* What is in the store is what was said. */
	said = promise();
	trials_free(&m->trials);
	m->trials = (struct trials){
	    .core = &m->core, .ingest = m->trials.ingest, .promises = {.core = &m->core}};
	ck_assert_int_eq(trials_open(&m->trials, &e), 0);
	ck_assert_double_eq(promise(), said);
	ck_assert_int_eq(trial()->verdict, TRIAL_FASTER);
	ck_assert_double_eq(trial_estimate(&trial()->t).gain, t.estimate.gain);
}
END_TEST

/* More samples of the same usage change nothing, and the decision says why in these words. */
static void same_usage_stops_it(const char *words)
{
	struct store_decision last;
	struct arena a = {0};

	send_batch(1000, 1);
	acknowledged();
	do {
		turn();
		usleep(1000);
		ck_assert_int_eq(
		    store_last_decision(m->core.store, module_at(1000, 0)->row.id, &a, &last, &e),
		    1);
	} while (!strstr(last.text, words));
	ck_assert_int_eq(last.rung, RUNG_TAKEN_BACK);
	arena_free(&a);
}

/* It is taken back, and not made again of the same usage. */
START_TEST(a_loss_is_taken_back)
{
	struct fake_file *f = program(1000, 0, 3);
	unsigned swaps;

	lay_out();
	measure(1.1);
	ck_assert_int_eq(trial()->verdict, TRIAL_SLOWER);
	ck_assert_int_eq(f->inspection.id.b[0], 11);
	ck_assert(!f->held);
	ck_assert(priv->notified[PRIV_SLOWER] == 1 && !priv->notified[PRIV_CRASHES]);
	ck_assert_ptr_nonnull(strstr(priv->notice, "loss "));
	swaps = f->swaps;
	same_usage_stops_it("taken back (loss ");
	ck_assert_uint_eq(f->swaps, swaps);
	ck_assert_uint_eq(priv->notified[PRIV_SLOWER], 1);
}
END_TEST

/* What the last decision says, once it says that. No program runs meanwhile: the trial stays. */
static void decided(const char *words)
{
	struct store_decision last = {.text = ""};
	double begin = seconds();
	struct arena a = {0};

	while (!strstr(last.text, words)) {
		ck_assert_msg(seconds() - begin < 60, "not %s, but %s", words, last.text);
		turn();
		usleep(2000);
		ck_assert_int_ge(
		    store_last_decision(m->core.store, module_at(1000, 0)->row.id, &a, &last, &e),
		    0);
	}
	ck_assert_int_eq(last.rung, RUNG_COOL_DOWN);
	arena_free(&a);
}

static bool turns_begin(void)
{
	return trial()->t.turn.n;
}

static bool gain_is_known(void)
{
	return trial_estimate(&trial()->t).known;
}

/* No more of the new build than a turn wants: too few to end the trial. */
static void runs_until(bool (*done)(void))
{
	const struct trial *t = &trial()->t;

	while (!done()) {
		if ((t->turn.n ? t->turn.v[t->turn.n - 1].ended : t->runs[TRIAL_NEW].n) <
		    TRIAL_TURN_RUNS)
			run_program(0.9, 0);
		turn();
		usleep(2000);
	}
}

/* A trial that goes on says how far it is, and what it still takes. */
START_TEST(a_trial_says_how_far_it_is)
{
	struct manager_trial t;

	program(1000, 0, 3);
	lay_out();
	runs_until(turns_begin);
	decided(" of at least 8 pairs of turns, at least ");
	runs_until(gain_is_known);
	decided(" pairs of turns, about ");
	ck_assert(manager_trial(m, module_at(1000, 0)->row.id, &t));
	ck_assert_uint_gt(t.outlook.wanted, t.estimate.pairs);
	ck_assert(isfinite(t.outlook.left_s) && t.outlook.left_s > 0);
}
END_TEST

static void setup_with_command(void)
{
	setup_with(
	    "profile: {registers: no}\n"
	    "measure: {switchback: no, pairs: 12, command: [bench, '{build}']}\n"
	    "decide: {every: 100ms, min_samples: 10, min_coverage: 1%, min_gain: 1%, cool_down: 0s,"
	    " edits_per_day: 1000, hold: 0s}\n"
	    "idle: {cpu: 0%, psi: 100%, after: 0s, battery: yes}\n");
}

static unsigned events_of(enum event_kind kind, const char *text)
{
	struct store_event *ev;
	struct arena a = {0};
	size_t n, i;
	unsigned found = 0;

	ck_assert_int_eq(store_events(m->core.store, 0, -1, 100, &a, &ev, &n, &e), 0);
	for (i = 0; i < n; i++)
		found += ev[i].kind == (int)kind && strstr(ev[i].text, text);
	arena_free(&a);
	return found;
}

static bool measuring_is_timed(void)
{
	const char *step = work_step(&m->work);

	return step && !strcmp(step, "measure") && isfinite(work_left(&m->work));
}

START_TEST(a_gain_by_the_command_goes_in)
{
	program(1000, 0, 3);
	priv->ratio = 0.9;
	send_batch(1000, 1);
	acknowledged();
	turn_until(measuring_is_timed, 30);
	turn_until(swapped, 30);
	ck_assert_int_eq(trial()->t.kind, TRIAL_BY_COMMAND);
	ck_assert_int_eq(trial()->verdict, TRIAL_FASTER);
	ck_assert(trial()->t.turn.n >= 2 * TRIAL_PAIRS_MIN && trial()->t.turn.n % 2 == 0);
	ck_assert_uint_eq(events_of(EVENT_MEASURED, "runs of the command"), 1);
	ck_assert_double_eq_tol(trial()->promised, 0.2, 1e-9);
	ck_assert_msg(promise() < 0.15, "%g", promise());
}
END_TEST

static bool measured(void)
{
	return trial() && !m->work.now.step;
}

/* Nothing is swapped, and it is not made again of the same usage. */
START_TEST(a_loss_by_the_command_is_not_taken)
{
	struct fake_file *f = program(1000, 0, 3);

	priv->ratio = 1.1;
	send_batch(1000, 1);
	acknowledged();
	turn_until(measured, 30);
	ck_assert_int_eq(trial()->verdict, TRIAL_SLOWER);
	ck_assert_uint_eq(events_of(EVENT_FAILED, "the new layout is not taken: loss "), 1);
	ck_assert_double_eq_tol(trial_estimate(&trial()->t).gain, -0.1, 0.03);
	same_usage_stops_it("of the command");
	ck_assert_uint_eq(f->swaps, 0);
	ck_assert_uint_eq(events_of(EVENT_FAILED, ""), 1);
}
END_TEST

/* Within the turn that follows, and with no turn before it. */
START_TEST(a_crash_is_taken_back)
{
	struct fake_file *f = program(1000, 0, 3);
	struct store_event *ev;
	struct arena a = {0};
	size_t n;

	lay_out();
	run_program(1, 0);
	/* Of a layout that was made before, and was the same. */
	run_program_of(1, SIGSEGV, clock_now_ms() - 60000);
	ck_assert_uint_eq(trial()->t.runs[TRIAL_NEW].crashes, 0);
	run_program(1, SIGSEGV);
	measure(1);
	ck_assert_int_eq(trial()->verdict, TRIAL_CRASHES);
	ck_assert_uint_eq(priv->notified[PRIV_CRASHES], 1);
	ck_assert_uint_eq(f->swaps, 2);
	ck_assert_int_eq(f->inspection.id.b[0], 11);
	ck_assert_int_eq(store_events(m->core.store, 0, -1, 10, &a, &ev, &n, &e), 0);
	ck_assert_int_eq(ev[0].kind, EVENT_ROLLED_BACK);
	ck_assert_str_eq(ev[0].text, "crashed in 1 of 2 runs, before the layout in 0 of 0");
	arena_free(&a);
}
END_TEST

/* A person's rollback ends a trial, whichever build is in place; so does somebody's rebuild. */
START_TEST(a_trial_is_given_up)
{
	struct fake_file *f = program(1000, 0, 3);
	uint64_t change;
	double begin;

	lay_out();
	begin = seconds();
	while ((int)module_at(1000, 0)->row.current.b[0] != (_i ? 11 : 0x16) ||
	       !trial()->t.turn.n || m->work.now.step) {
		ck_assert_double_lt(seconds() - begin, 60);
		turn();
		usleep(2000);
		if (!m->work.now.step)
			run_program(1, 0);
	}
	ck_assert(manager_can_rollback(m, module_at(1000, 0)->row.id));
	ck_assert_int_eq(manager_rollback(m, module_at(1000, 0)->row.id, 1000, &change, &e), 0);
	turn_until(held, 20);
	ck_assert_int_eq(manager_change(m, change)->status, CHANGE_DONE);
	ck_assert_int_eq(f->inspection.id.b[0], 11);
	ck_assert_ptr_null(trial());
	ck_assert_int_eq(
	    manager_reoptimize(m, module_at(1000, 0)->row.id, 1000, true, &change, &e), 0);
	turn_until(swapped, 20);
	ck_assert_ptr_nonnull(trial());
	f->inspection.id = f->inspection.origin = (struct build_id){1, {77}};
	f->stamp.ino++;
	begin = seconds();
	while (trial()) {
		ck_assert_double_lt(seconds() - begin, 60);
		turn();
		usleep(1000);
	}
}
END_TEST

/* A service under a manager that may restart it: what is in place runs from the restart on. */
static void setup_with_service_by(const char *counter)
{
	char text[512];

	snprintf(text, sizeof text,
	    "profile: {registers: no}\n"
	    "measure: {service_turn: 1s, counter: %s, restart: again}\n"
	    "decide: {every: 100ms, min_samples: 10, min_coverage: 1%%, min_gain: 1%%,"
	    " cool_down: 0s, edits_per_day: 1000}\n"
	    "idle: {cpu: 0%%, psi: 100%%, after: 0s, battery: yes}\n",
	    counter);
	setup_with(text);
	priv->count = "date +%s%N | cut -b 5-16";
}

static void setup_with_service(void)
{
	setup_with_service_by("count");
}

static void setup_with_cycles(void)
{
	setup_with_service_by("cycles");
	priv->count = "exit 1";
}

static struct build_id running;

/* A second of CPU time for one of the clock, or less in the new build; its work is the time, and
 * so are its instructions, each in a cycle of a ns. */
static void report_service(double ratio)
{
	static unsigned restarts;
	static uint64_t used[2], instructions[2], last;
	const struct module_trial *x = trial();
	uint64_t now = (uint64_t)clock_now_ms() * 1000000;
	bool new;

	if (priv->restarts != restarts)
		running = module_at(1000, 0)->row.current;
	restarts = priv->restarts;
	new = build_id_equal(&running, &x->build[TRIAL_NEW]);
	used[new] += (uint64_t)((double)(now - last) * (new ? ratio : 1));
	instructions[new] += now - last;
	if (last)
		trials_take(&m->trials,
		    &(struct wire_batch){.session = 5,
			.end_ns = now,
			.nuse = 2,
			.use = (struct wire_use[]){
			    {x->build[TRIAL_OLD], 1, used[0], instructions[0], used[0]},
			    {x->build[TRIAL_NEW], 0, used[1], instructions[1], used[1]}}});
	last = now;
}

/* Another monitor, which sees the CPU time alone. */
static void report_without_cycles(void)
{
	uint64_t now = (uint64_t)clock_now_ms() * 1000000;

	trials_take(&m->trials, &(struct wire_batch){.session = 6,
				    .end_ns = now,
				    .nuse = 1,
				    .use = &(struct wire_use){trial()->build[TRIAL_NEW], 1, now}});
}

static void serve_until_the_end(double ratio)
{
	double begin = seconds(), reported = 0;

	running = (struct build_id){1, {11}};
	while (!trial()->ended_ms || m->work.now.step || m->services.job) {
		ck_assert_double_lt(seconds() - begin, 100);
		turn();
		usleep(1000);
		if (seconds() > reported + 0.05) {
			report_service(ratio);
			if (trial()->t.cycles)
				report_without_cycles();
			reported = seconds();
		}
	}
}

START_TEST(a_service_is_measured)
{
	struct fake_file *f = program(1000, 0, 3);
	struct manager_trial t;

	lay_out();
	ck_assert_int_eq(trial()->t.kind, TRIAL_BY_RESTARTS);
	serve_until_the_end(_i ? 1.3 : 0.7);
	ck_assert(manager_trial(m, module_at(1000, 0)->row.id, &t));
	ck_assert_msg(t.verdict == (_i ? TRIAL_SLOWER : TRIAL_FASTER), "%s", t.text);
	ck_assert_msg(t.estimate.gain * (_i ? -1 : 1) > 0.2, "%s", t.text);
	ck_assert_ptr_nonnull(strstr(t.text, "windows of its counter"));
	ck_assert_int_eq(f->inspection.id.b[0], _i ? 11 : 0x16);
	/* Once with each change of builds, and it ends in what stays. */
	while (
	    trials_of(&m->trials, module_at(1000, 0)->row.id)->service.restart || m->services.job) {
		turn();
		usleep(1000);
	}
	ck_assert_uint_le(priv->restarts, trial()->t.turn.n + 1);
	ck_assert_uint_ge(priv->restarts, TRIAL_PAIRS_MIN);
}
END_TEST

/* A new build that executes other instructions for the same work is compared by as many as the old
 * one's. */
START_TEST(instructions_are_those_of_the_old_build)
{
	struct manager_trial t;

	program(1000, 0, 3);
	lay_out();
	trials_find(&m->trials, module_at(1000, 0)->row.id)->t.terms[TRIAL_OLD].insns = 1;
	trials_find(&m->trials, module_at(1000, 0)->row.id)->t.terms[TRIAL_NEW].insns = 0.5;
	serve_until_the_end(1);
	ck_assert(manager_trial(m, module_at(1000, 0)->row.id, &t));
	ck_assert_msg(t.verdict == TRIAL_FASTER && fabs(t.estimate.gain - 0.5) < 0.1, "%s", t.text);
	ck_assert_ptr_nonnull(strstr(t.text, "windows of its cycles per instruction"));
	ck_assert_uint_ge(priv->restarts, TRIAL_PAIRS_MIN);
}
END_TEST

static bool monitors_are_told(void)
{
	return m->trials.counted.n == 2 && m->trials.watched.n == 2;
}

static bool monitors_count_nothing(void)
{
	return !m->trials.counted.n;
}

/* No monitor counts: the new build stays, and the reason is said. */
START_TEST(cycles_are_not_counted)
{
	struct manager_trial t;
	unsigned i;

	program(1000, 0, 3);
	lay_out();
	turn_until(monitors_are_told, 20);
	for (i = 0; !trial()->ended_ms; i++) {
		ck_assert_uint_lt(i, 60000);
		turn();
		usleep(1000);
		if (i % 50 == 0)
			report_without_cycles();
	}
	ck_assert(manager_trial(m, module_at(1000, 0)->row.id, &t));
	ck_assert_int_eq(t.verdict, TRIAL_OPEN);
	ck_assert_msg(strstr(t.text, "not measured: no monitor counts its cycles"), "%s", t.text);
	turn_until(monitors_count_nothing, 20);
}
END_TEST

/* It fails three times, and no more: the new build stays, and the reason is said. */
START_TEST(commands_of_a_service_fail)
{
	static const struct {
		const char *count, *restart, *text;
	} fails[] = {
	    {"echo 1e5x", "", "not measured: its counter command does not print one number"},
	    {"echo no >&2; exit 2", "",
		"not measured: its counter command fails: the counter command ended with status 2: "
		"no"},
	    {"date +%s%N | cut -b 5-16", "exit 1",
		"not measured: its restart command fails: the restart command ended with status "
		"1"}};
	struct fake_file *f = program(1000, 0, 3);
	struct manager_trial t;

	priv->count = fails[_i].count;
	priv->restart = fails[_i].restart;
	lay_out();
	serve_until_the_end(1);
	ck_assert(manager_trial(m, module_at(1000, 0)->row.id, &t));
	ck_assert_int_eq(t.verdict, TRIAL_OPEN);
	ck_assert_msg(strstr(t.text, fails[_i].text) == t.text, "%s", t.text);
	ck_assert_uint_eq(events_of(EVENT_MEASURED, fails[_i].text), 1);
	ck_assert_int_eq(f->inspection.id.b[0], 0x16);
}
END_TEST

static uint64_t asked;

static bool answered(void)
{
	return manager_change(m, asked)->status >= CHANGE_DONE;
}

static void ask(void)
{
	ck_assert_int_eq(
	    manager_reoptimize(m, module_at(1000, 0)->row.id, 1000, false, &asked, &e), 0);
	turn_until(answered, 20);
}

/* Not what was found some time ago counts, but what is there when they ask. */
START_TEST(what_a_person_asks_for_is_looked_at)
{
	struct fake_file *f = program(1000, 0, 3);

	f->inspection.status = PRIV_NO_ARTIFACT;
	f->inspection.why = "is writable by others";
	conf.decide.min_samples = 50;
	send_batch(1000, 1);
	acknowledged();
	ask();
	ck_assert_ptr_nonnull(strstr(manager_change(m, asked)->text, "writable by others"));
	fake_artifact(f, 3);
	ask();
	ck_assert_msg(strstr(manager_change(m, asked)->text, "low-gain: "), "%s",
	    manager_change(m, asked)->text);
}
END_TEST

/* Where that brings no new layout, the parent and the store still agree. */
START_TEST(a_hold_outlives_a_refusal)
{
	struct fake_file *f = program(1000, 0, 3);
	uint64_t change;

	send_batch(1000, 1);
	acknowledged();
	turn_until(swapped, 20);
	ck_assert_int_eq(manager_rollback(m, module_at(1000, 0)->row.id, 1000, &change, &e), 0);
	turn_until(held, 20);
	priv->script = ANSWER("0.925", "0");
	module_at(1000, 0)->schedule.scored = false;
	ask();
	ck_assert_ptr_nonnull(strstr(manager_change(m, asked)->text, "low-gain"));
	ck_assert(held() && f->held);
}
END_TEST

/* An operator names a list of functions that come first, or another one, and the policy is read
 * again. */
static void name_list(struct fake_file *f, uint64_t hash)
{
	f->inspection.list = hash;
	modules_judge_again(&m->core.modules);
	core_soon(&m->core);
}

static bool inspected_for_work(void)
{
	struct module *mod = module_at(1000, 0);

	return mod && mod->schedule.inspection == INSPECTION_ASKED && priv->task.n;
}

/* What was judged by the policy of before is judged again. */
START_TEST(policy_read_again_meanwhile)
{
	struct fake_file *f = program(1000, 0, 3);
	struct priv_inspected before;
	unsigned n;

	send_batch(1000, 1);
	acknowledged();
	priv->slow = true;
	turn_until(inspected_for_work, 20);
	n = f->inspections;
	before = f->inspection;
	before.refused = "the policy of before says no";
	modules_judge_again(&m->core.modules);
	priv->past = &before;
	ck_assert(fake_answer(priv, f->path));
	ck_assert(!module_at(1000, 0)->file.judged);
	ck_assert_uint_eq(f->inspections, n + 1);
	priv->slow = false;
	ck_assert(fake_answer(priv, f->path));
	turn_until(swapped, 20);
}
END_TEST

static bool waits_for_gain(void)
{
	struct module *mod = module_at(1000, 0);

	return mod->schedule.rung == RUNG_GAIN && mod->file.judged && !m->work.now.step;
}

static bool laid_out_with(uint64_t list)
{
	return swapped() && module_at(1000, 0)->row.list == list;
}

static bool with_first(void)
{
	return laid_out_with(5);
}

static bool with_second(void)
{
	return laid_out_with(6);
}

static bool with_none(void)
{
	return laid_out_with(0);
}

/* A layout is made whatever it gains, once for each list; not for one that the program has nothing
 * of. */
START_TEST(another_list_is_another_layout)
{
	struct fake_file *f = program(1000, 0, 3);

	priv->script = ANSWER_OF("\"names\":2,\"missed\":1", "0.925", "0");
	send_batch(1000, 1);
	acknowledged();
	turn_until(waits_for_gain, 20);
	name_list(f, 5);
	turn_until(with_first, 20);
	ck_assert_uint_eq(module_at(1000, 0)->list.said.missed, 1);
	name_list(f, 5);
	turn_until(waits_for_gain, 20);
	ck_assert_uint_eq(f->swaps, 1);
	priv->built.b[0] = 0x17;
	name_list(f, 6);
	turn_until(with_second, 20);
	ck_assert_uint_eq(f->swaps, 2);
	ck_assert_int_eq(modules_reload(&m->core.modules, &e), 0);
	name_list(f, 6);
	turn_until(waits_for_gain, 20);
	/* The same build: nothing is swapped, and it is not made again. */
	name_list(f, 0);
	turn_until(with_none, 20);
	ck_assert_uint_eq(f->swaps, 2);
	priv->script = ANSWER_OF("\"names\":2,\"missed\":2", "0.925", "0");
	name_list(f, 7);
	turn_until(waits_for_gain, 20);
	ck_assert(with_none());
	ck_assert_uint_eq(f->swaps, 2);
}
END_TEST

START_TEST(changes_wait_in_their_order)
{
	uint64_t id[3];
	size_t i;

	program(1000, 0, 3);
	program(1001, 0, 3);
	program(1001, 1, 3);
	send_batch(1000, 1);
	send_batch(1001, 2);
	acknowledged();
	priv->slow = true; /* none is begun */
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(manager_reoptimize(m, module_at(i ? 1001 : 1000, i == 2)->row.id,
				     i ? 1001 : 1000, false, &id[i], &e),
		    0);
		ck_assert_uint_eq(manager_change_ahead(m, id[i]), i);
	}
	priv->slow = false;
}
END_TEST

static const char *idle_words(double after_s)
{
	struct idle quiet = {.state = IDLE_QUIET,
	    .reason = "not quiet for long enough yet",
	    .last.time_s = 100,
	    .quiet_since = 75};
	static char text[256];

	conf.idle.after_s = after_s;
	judge_idle(&conf, &quiet, text, sizeof text);
	return text;
}

START_TEST(what_is_not_quiet_yet_says_how_long)
{
	ck_assert_ptr_nonnull(strstr(idle_words(60), ": not quiet for long enough yet, 35 s more"));
	ck_assert_ptr_null(strstr(idle_words(25), "more"));
}
END_TEST

static bool refused(void)
{
	struct store_decision last;
	struct arena a = {0};
	bool stopped =
	    store_last_decision(m->core.store, module_at(1000, 0)->row.id, &a, &last, &e) == 1 &&
	    last.verdict == VERDICT_WAIT && strstr(last.text, "gain of 0.0 %");

	arena_free(&a);
	return stopped && !m->work.now.step;
}

/* Where the build turns out to be worth less than the plan. */
START_TEST(what_is_built_is_looked_at_again)
{
	struct fake_file *f = program(1000, 0, 3);
	char script[2000];

	snprintf(script, sizeof script,
	    "if [ -e %s/scored ]; then %s; else touch %s/scored; %s; fi", dir, ANSWER("0.925", "0"),
	    dir, ANSWER("0.3", "0.2"));
	priv->script = script;
	send_batch(1000, 1);
	acknowledged();
	turn_until(refused, 20);
	ck_assert_uint_eq(f->swaps, 0);
	/* Whoever forces it has it all the same. */
	ck_assert_int_eq(
	    manager_reoptimize(m, module_at(1000, 0)->row.id, 1000, true, &asked, &e), 0);
	turn_until(answered, 20);
	ck_assert_int_eq(manager_change(m, asked)->status, CHANGE_DONE);
	ck_assert_uint_eq(f->swaps, 1);
}
END_TEST

/* A list of many modules must not bring them all into memory. */
/* They make a profile sharper, and nothing else: no program's share of the time, not the times at
 * which there were none less than those at which there were. */
START_TEST(extra_samples_only_sharpen)
{
	const struct store_module *row;
	struct decay at;
	struct accounting acc;

	program(1000, 0, 3);
	priv->slow = true; /* nothing is decided meanwhile */
	send_batch(1000, 1);
	while (!priv->task.n)
		turn();
	ck_assert(fake_answer(priv, NULL));
	acknowledged();
	extra.count = 60;
	send_batch(1000, 1);
	acknowledged();
	extra.count = 0;
	ck_assert_int_eq(store_accounting(m->core.store, &acc, &e), 0);
	ck_assert_uint_eq(acc.taken, 40);
	ck_assert_uint_eq(acc.mapped, 40);
	row = &module_at(1000, 0)->row;
	at = modules_decay(&m->core.modules);
	ck_assert_uint_eq(row->mapped, 40);
	/* 20 of weight 1, and 20 with the 60 of weight 1 / 4. */
	ck_assert_double_eq_tol(row->samples, 40, 0.01);
	ck_assert_double_eq_tol(row->squares, 25, 0.01);
	ck_assert_double_eq_tol(
	    profile_total(&module_at(1000, 0)->profile.now, at).samples, 40, 0.01);
	stop_manager();
	start_manager();
	ck_assert_double_eq_tol(store_density(&module_at(1000, 0)->row), 1.6, 0.001);
	/* As many as 64, of ten that the policy requires. */
	ck_assert_uint_eq(m->boosting.told.builds.n, 0);
	conf.decide.min_samples = 100;
	boosting_tell(&m->boosting);
	ck_assert_uint_eq(m->boosting.told.builds.n, 1);
	ck_assert_uint_eq(m->boosting.told.budget, 5000);
	conf.decide.min_samples = 60;
	boosting_tell(&m->boosting);
	ck_assert_uint_eq(m->boosting.told.builds.n, 0);
	conf.decide.min_samples = 100;
	conf.profile.budget = 0;
	boosting_tell(&m->boosting);
	ck_assert_uint_eq(m->boosting.told.builds.n, 0);
}
END_TEST

START_TEST(samples_are_known_without_loading)
{
	const struct module *mod;

	program(1000, 0, 3);
	send_batch(1000, 1);
	acknowledged();
	mod = module_at(1000, 0);
	ck_assert(mod->memory.loaded);
	m->core.modules.memory.bytes += (size_t)MODULES_MEMORY; /* as if others took it all */
	ck_assert_double_eq_tol(manager_samples(m, mod->row.id), 20, 0.01);
	ck_assert(!mod->memory.loaded);
	m->core.modules.memory.bytes -= (size_t)MODULES_MEMORY;
	ck_assert_double_eq_tol(manager_samples(m, mod->row.id), 20, 0.01);
	ck_assert(!mod->memory.loaded);
	stop_manager();
	start_manager();
	mod = module_at(1000, 0);
	ck_assert_double_eq_tol(manager_samples(m, mod->row.id), 20, 0.01);
	ck_assert(!mod->memory.loaded);
}
END_TEST

/* One user's requests neither stand in the way of another's, nor push out what
 * became of them. */
START_TEST(changes_are_each_users_own)
{
	uint64_t mine, other = 0;
	int i;

	ck_assert_int_eq(manager_reoptimize(m, 0, 1000, false, &mine, &e), MANAGER_OK);
	ck_assert_int_eq(manager_reoptimize(m, 0, 1000, false, &other, &e), MANAGER_CONFLICT);
	ck_assert_uint_eq(other, mine);
	for (i = 0; i < 300; i++) {
		ck_assert_int_eq(manager_reoptimize(m, 0, 1001, false, &other, &e), MANAGER_OK);
		while (manager_change(m, other)->status < CHANGE_DONE)
			turn();
	}
	while (manager_change(m, mine)->status < CHANGE_DONE)
		turn();
	ck_assert_int_eq(manager_reoptimize(m, 0, 1001, false, &other, &e), MANAGER_OK);
	ck_assert_ptr_nonnull(manager_change(m, mine));
	ck_assert_uint_le(m->changes.entry.n, 200);
}
END_TEST

static bool editing(void)
{
	return m->work.now.step == STEP_TAKE_BUILD;
}

static bool idle(void)
{
	return !m->work.now.step;
}

/* What was made of one owner's usage is nothing for the next one's file. */
START_TEST(work_ends_with_the_ownership)
{
	struct fake_file *f = program(1000, 0, 3);
	unsigned before;

	priv->script = "sleep 0.2; " ANSWER("0", "0.3");
	send_batch(1000, 1);
	acknowledged();
	turn_until(editing, 20);
	f->inspection.uid = 1001;
	before = f->inspections;
	ck_assert(learning_inspect(&m->learning, &module_at(1000, 0)->row));
	while (f->inspections == before || module_at(1000, 0)->row.uid == 1000)
		turn();
	ck_assert_int_eq(m->work.now.step, STEP_TAKE_BUILD);
	turn_until(idle, 20);
	ck_assert_uint_eq(f->swaps, 0);
	ck_assert(!module_at(1000, 0)->row.predicted);
	ck_assert_ptr_null(module_at(1000, 0)->row.held_why);
}
END_TEST

static bool given_up(void)
{
	return module_at(1000, 0)->row.state == MODULE_HELD;
}

START_TEST(refusals_of_the_parent)
{
	struct fake_file *f = program(1000, 0, 3);
	struct store_event *ev;
	struct arena a = {0};
	size_t n;

	if (_i == 0)
		priv->swap = SWAP_FAILED;
	else
		priv->why = "its output has another origin";
	send_batch(1000, 1);
	acknowledged();
	turn_until(given_up, 20);
	ck_assert_uint_eq(f->swaps, 0);
	ck_assert_int_eq(store_events(m->core.store, 0, -1, 1, &a, &ev, &n, &e), 0);
	ck_assert_int_eq(ev[0].kind, EVENT_FAILED);
	ck_assert_ptr_nonnull(strstr(ev[0].text, _i ? "another origin" : "no swap today"));
	arena_free(&a);
}
END_TEST

static bool refused_job(void)
{
	return !priv->refuse_jobs && !m->work.now.step;
}

/* Its owner may have too much under way: it is tried again. */
START_TEST(a_job_that_cannot_begin_waits)
{
	struct module *mod;

	program(1000, 0, 3);
	priv->refuse_jobs = 1;
	send_batch(1000, 1);
	acknowledged();
	turn_until(refused_job, 20);
	mod = module_at(1000, 0);
	ck_assert_int_eq(mod->row.state, MODULE_ORIGINAL);
	ck_assert_ptr_null(mod->row.held_why);
	ck_assert_int_gt(mod->schedule.not_before_ms, clock_now_ms());
	mod->schedule.not_before_ms = mod->schedule.decided_ms = 0;
	core_soon(&m->core);
	turn_until(swapped, 20);
}
END_TEST

static bool out_of_budget(void)
{
	return module_at(1000, 1) && module_at(1000, 1)->schedule.rung == RUNG_BUDGET;
}

static bool other_swapped(void)
{
	return module_at(1001, 0) && module_at(1001, 0)->row.state == MODULE_LAID_OUT;
}

/* What one user's programs used up is not another's. */
START_TEST(each_user_has_a_budget)
{
	conf.decide.edits_per_day = 1;
	program(1000, 0, 3);
	program(1000, 1, 3);
	program(1001, 0, 3);
	send_batch(1000, 1);
	acknowledged();
	turn_until(swapped, 20);
	send_batch(1000, 2);
	acknowledged();
	turn_until(out_of_budget, 20);
	send_batch(1001, 1);
	acknowledged();
	turn_until(other_swapped, 20);
}
END_TEST

static unsigned put_off(void)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < m->core.modules.module.n; i++)
		n += m->core.modules.module.v[i]->schedule.not_before_ms != 0;
	return n;
}

/* A user with many busy modules does not keep another's single one waiting. */
START_TEST(users_take_turns)
{
	struct module *mod;
	unsigned i;

	priv->script = "exit 75"; /* each one's turn is put off */
	for (i = 0; i < 40; i++)
		program(1000, i, 3);
	program(1001, 0, 3);
	send_batch(1000, 40);
	acknowledged();
	send_batch(1001, 1);
	acknowledged();
	while (m->work.now.step)
		turn();
	for (i = 0; i < m->core.modules.module.n; i++) {
		mod = m->core.modules.module.v[i];
		mod->schedule.decided_ms = mod->schedule.not_before_ms = 0;
		mod->schedule.inspection = INSPECTION_DONE;
		mod->row.mapped = mod->row.uid == 1000 ? 1000 + i : 20;
	}
	while (!module_at(1001, 0)->schedule.not_before_ms)
		turn();
	ck_assert_uint_le(put_off(), 3);
}
END_TEST

/* ---- artifacts from servers ---- */

static const char SERVERS[] = "fetch: {servers: [https://a]}\n"
			      "modules: [{path: /home/0/prog1, action: observe}]\n";

static void end_fetch(const char *why)
{
	priv->fetch.fn(why, priv->fetch.arg);
}

static void setup_with_servers(void)
{
	char *text = xasprintf("%s%s", policy, SERVERS);

	setup_with(text);
	free(text);
}

static const struct store_module *row(unsigned uid, unsigned i)
{
	return &module_at(uid, i)->row;
}

static struct fake_file *without_artifact(unsigned uid, unsigned i)
{
	struct fake_file *f = program(uid, i, 1);

	f->inspection.status = PRIV_NO_ARTIFACT;
	f->inspection.why = "there is no artifact";
	f->inspection.artifact = "";
	f->inspection.ntable = f->inspection.nmap = 0;
	return f;
}

static void try_again(void)
{
	module_at(0, 0)->row.fetch_ms = 1;
	core_soon(&m->core);
}

static bool fetching(void)
{
	return m->fetching.task != 0;
}

/* Of root's that may be laid out, and not again before its time; a person sees why. */
START_TEST(an_artifact_is_fetched_for_roots_programs)
{
	struct fake_file *file;
	int64_t wait;
	unsigned i;

	without_artifact(1000, 0);
	file = without_artifact(0, 0);
	without_artifact(0, 1);
	send_batch(1000, 1);
	acknowledged();
	send_batch(0, 2);
	acknowledged();
	turn_until(fetching, 30);
	ck_assert_str_eq(priv->fetch.module, "/home/0/prog0");
	end_fetch("no server has it");
	ck_assert_str_eq(row(0, 0)->fetch_why, "no server has it");
	ck_assert_int_eq(row(0, 0)->fetch_tries, 1);
	wait = row(0, 0)->fetch_ms - clock_now_ms();
	ck_assert(wait > 500000 && wait <= 600000);
	for (i = 0; i < 50; i++)
		turn();
	ck_assert_uint_eq(priv->fetch.n, 1);
	ck_assert_ptr_null(row(1000, 0)->fetch_why);
	ck_assert_ptr_null(row(0, 1)->fetch_why);
	/* Twice as long after each, to a day; one that the parent refuses to begin as well. */
	for (i = 2; i < 12; i++) {
		priv->refuse = i == 2;
		try_again();
		while (!fetching() && row(0, 0)->fetch_tries < i)
			turn();
		if (fetching())
			end_fetch("no");
		ck_assert_int_eq(row(0, 0)->fetch_tries, i);
	}
	ck_assert_str_eq(row(0, 0)->fetch_why, "no");
	wait = row(0, 0)->fetch_ms - clock_now_ms();
	ck_assert(wait > 86300000 && wait <= 86400000);
	/* Then there is one. */
	try_again();
	turn_until(fetching, 30);
	fake_artifact(file, 100);
	end_fetch("");
	while (row(0, 0)->state == MODULE_NO_ARTIFACT)
		turn();
	ck_assert_ptr_null(row(0, 0)->fetch_why);
	ck_assert_int_eq(row(0, 0)->fetch_tries, 0);
}
END_TEST

/* ---- lifting ---- */

static void setup_with_legacy(void)
{
	char *text = xasprintf("%slegacy: optimize\n"
			       "modules: [{path: /home/1000/prog1, legacy: off}]\n",
	    policy);

	setup_with(text);
	free(text);
}

static enum lift_state lift_state(unsigned i)
{
	struct manager_legacy l;

	ck_assert(manager_legacy(m, row(1000, i)->id, &l));
	return l.state;
}

static bool lifting(void)
{
	return m->lifting.job != NULL;
}

static bool lifted(void)
{
	return !m->lifting.job;
}

static bool observed(void)
{
	return lift_state(0) == LIFT_OBSERVED;
}

static bool another(void)
{
	return row(1000, 0)->current.b[0] == 99;
}

static void some_turns(void)
{
	unsigned i;

	for (i = 0; i < 50; i++)
		turn();
}

/* Once it has samples enough, which then count; what the policy leaves alone is not even judged. */
START_TEST(a_program_without_artifact_is_lifted)
{
	struct fake_file *file = without_artifact(1000, 0), *off = without_artifact(1000, 1);
	struct manager_legacy l;

	conf.decide.min_samples = 30;
	priv->script = "true";
	send_batch(1000, 2);
	acknowledged();
	some_turns();
	ck_assert_int_eq(lift_state(0), LIFT_FEW_SAMPLES);
	ck_assert_int_eq(lift_state(1), LIFT_OFF);
	ck_assert_uint_eq(file->judged, 0);
	send_batch(1000, 2);
	acknowledged();
	turn_until(lifting, 30);
	ck_assert_int_eq(lift_state(0), LIFT_RUNNING);
	ck_assert_uint_eq(file->judged, 1);
	fake_artifact(file, 100);
	while (row(1000, 0)->state == MODULE_NO_ARTIFACT)
		turn();
	ck_assert_uint_eq(row(1000, 0)->mapped, 40);
	ck_assert_uint_eq(row(1000, 0)->outside, 0);
	ck_assert_double_eq_tol(manager_samples(m, row(1000, 0)->id), 40, 0.1);
	ck_assert_ptr_null(row(1000, 0)->lift_why);
	ck_assert(!manager_legacy(m, row(1000, 0)->id, &l));
	ck_assert_uint_eq(off->judged, 0);
}
END_TEST

/* Functions that had no samples are lifted once they have a tenth of them, and have these then. */
START_TEST(a_program_is_lifted_again)
{
	struct fake_file *file = without_artifact(1000, 0);
	const struct profile_func *f;
	struct hash128 key;
	struct module *mod;
	char *out = xasprintf("%s/places", dir), *script = xasprintf("cat <&3 >%s", out);
	struct buf places = {0};
	uint32_t first = 0;

	conf.decide.min_samples = 30;
	conf.decide.min_gain = 2;
	priv->script = script;
	fake_lifted(file, 100, 1);
	send_batch(1000, 1);
	acknowledged();
	send_batch(1000, 1);
	acknowledged();
	mod = module_at(1000, 0);
	ck_assert_uint_eq(mod->row.mapped, 40);
	turn_until(lifting, 30);
	ck_assert(m->lifting.again);
	fake_artifact(file, 100);
	turn_until(lifted, 30);
	while (mod->schedule.outgrown_ms && mod->profile.now.func.v[0].nblock != 2)
		turn();
	ck_assert_int_eq(file_read(out, 0, &places, &e), 0);
	ck_assert_ptr_eq(strstr(buf_cstr(&places), "0\n20\n40\n"), places.p);
	key = hash_bytes(&first, 4);
	f = profile_get(&mod->profile.now, &key);
	ck_assert(f && f->nblock == 2 && f->block);
	ck_assert_double_eq_tol(f->block[1], 40, 0.1);
	ck_assert_uint_eq(mod->row.mapped, 40);
	ck_assert_double_eq_tol(manager_samples(m, mod->row.id), 40, 0.1);
	ck_assert_double_eq(module_outgrown(mod, modules_decay(&m->core.modules)), 0);
	mod->schedule.outgrown_ms = 0;
	some_turns();
	ck_assert(!m->lifting.job);
	buf_free(&places);
	free(script);
	free(out);
}
END_TEST

/* What an estimate says that began before is of other functions. */
START_TEST(what_was_estimated_meanwhile_does_not_count)
{
	struct module *mod;

	program(1000, 0, 3);
	send_batch(1000, 1);
	acknowledged();
	mod = module_at(1000, 0);
	while (!m->work.now.job)
		turn();
	ck_assert_int_eq(m->work.now.kind, PRIV_SCORE);
	mod->memory.lifted++;
	while (m->work.now.job)
		turn();
	ck_assert(!mod->schedule.scored);
	ck_assert_int_eq(mod->row.held_until_ms, 0);
	while (!mod->schedule.scored)
		turn();
}
END_TEST

static uint64_t waiting; /* a change */

static bool is_over(void)
{
	return manager_change(m, waiting)->status >= CHANGE_DONE;
}

/* Remembered, also by the next manager, until there is another build; a person may want it tried.
 */
START_TEST(what_cannot_be_lifted_is_not_tried_again)
{
	struct manager_legacy l;
	struct fake_file *file;

	without_artifact(1000, 0);
	priv->script = "echo '{\"ok\":false,\"error\":\"/dev/fd/5: is packed\"}'; exit 1";
	send_batch(1000, 1);
	acknowledged();
	turn_until(lifting, 30);
	turn_until(lifted, 30);
	ck_assert_str_eq(row(1000, 0)->lift_why, "is packed");
	ck_assert_int_eq(modules_reload(&m->core.modules, &e), 0);
	ck_assert(manager_legacy(m, row(1000, 0)->id, &l));
	ck_assert_int_eq(l.state, LIFT_FAILED);
	ck_assert_str_eq(l.text, "cannot be lifted: is packed");
	some_turns();
	ck_assert(!m->lifting.job);
	ck_assert_int_eq(manager_reoptimize(m, row(1000, 0)->id, 1000, false, &waiting, &e), 0);
	turn_until(lifting, 30);
	ck_assert_int_eq(manager_change(m, waiting)->status, CHANGE_DOING);
	ck_assert_str_eq(manager_change(m, waiting)->step, "lift");
	turn_until(is_over, 30);
	ck_assert(!m->lifting.job);
	ck_assert_int_eq(manager_change(m, waiting)->status, CHANGE_REFUSED);
	ck_assert_ptr_nonnull(
	    strstr(manager_change(m, waiting)->text, "cannot be lifted: is packed"));
	file = fake_file(priv, "/home/1000/prog0", 1000, 99);
	learning_inspect(&m->learning, row(1000, 0));
	turn_until(another, 30);
	ck_assert_uint_eq(file->inspection.id.b[0], 99);
	ck_assert_ptr_null(row(1000, 0)->lift_why);
	ck_assert_int_eq(lift_state(0), LIFT_FEW_SAMPLES); /* of its own */
	ck_assert_int_eq(manager_reoptimize(m, row(1000, 0)->id, 1000, false, &waiting, &e), 0);
	turn_until(lifting, 30);
}
END_TEST

/* It waits for its turn no longer than the policy lets it be lifted. */
START_TEST(what_was_to_be_lifted_may_not_be_any_more)
{
	without_artifact(1000, 0);
	without_artifact(1000, 1);
	without_artifact(1000, 2);
	conf.decide.min_samples = 30;
	priv->script = "sleep 1; echo '{\"ok\":false,\"error\":\"/dev/fd/5: is packed\"}'; exit 1";
	send_batch(1000, 3);
	acknowledged();
	some_turns();
	ck_assert_int_eq(manager_reoptimize(m, row(1000, 0)->id, 1000, false, &waiting, &e), 0);
	turn_until(lifting, 30);
	ck_assert_int_eq(manager_reoptimize(m, row(1000, 2)->id, 1000, false, &waiting, &e), 0);
	while (manager_change(m, waiting)->status != CHANGE_DOING ||
	       strcmp(manager_change(m, waiting)->step, "lift"))
		turn();
	ck_assert(m->lifting.job && m->lifting.module == row(1000, 0)->id);
	conf.legacy = LEGACY_OFF;
	turn_until(is_over, 30);
	ck_assert_int_eq(manager_change(m, waiting)->status, CHANGE_REFUSED);
	ck_assert(!m->lifting.job);
}
END_TEST

/* What must not be lifted is looked at again when the file is another; what cannot be now, later.
 */
START_TEST(what_must_not_be_lifted_is_only_shown)
{
	struct fake_file *file = without_artifact(1000, 0);
	struct manager_legacy l;

	file->inspection.refused = "would be lifted; policy says observe";
	file->inspection.observed = true;
	priv->script = "exit 75";
	send_batch(1000, 1);
	acknowledged();
	turn_until(observed, 30);
	ck_assert(manager_legacy(m, row(1000, 0)->id, &l));
	ck_assert_str_eq(l.text, file->inspection.refused);
	module_at(1000, 0)->schedule.decided_ms = 0;
	some_turns();
	ck_assert(!m->lifting.job);
	ck_assert_uint_eq(file->judged, 1);
	file->inspection.refused = "is setuid";
	file->inspection.observed = false;
	file->stamp.ino++;
	module_at(1000, 0)->schedule.decided_ms = 0;
	while (observed())
		turn();
	ck_assert_int_eq(lift_state(0), LIFT_REFUSED);
	ck_assert_uint_eq(file->judged, 2);
	file->inspection.refused = "";
	modules_judge_again(&m->core.modules);
	turn_until(lifting, 30);
	turn_until(lifted, 30);
	ck_assert_ptr_null(row(1000, 0)->lift_why);
	ck_assert_int_eq(lift_state(0), LIFT_UNJUDGED);
	some_turns();
	ck_assert_uint_eq(file->judged, 3);
}
END_TEST

static size_t programs_known;

static bool all_known(void)
{
	return m->core.modules.module.n >= programs_known &&
	       !inspections_awaited(m->learning.inspections);
}

/* The longest turn of the loop, in s of CPU time, while batches come with samples of so many
 * programs, which are decided about each second. */
static double longest_turn(unsigned n)
{
	unsigned i, k;

	for (i = (unsigned)programs_known; i < n; i++)
		program(1000, i, 100);
	programs_known = n;
	send_batch(1000, n);
	acknowledged();
	turn_until(all_known, 60);
	priv->script = "exit 75";
	longest_cpu = 0;
	for (k = 0; k < 8; k++) {
		send_batch(1000, n);
		acknowledged();
		for (i = 0; i < 150; i++) {
			turn();
			usleep(1000);
		}
	}
	return longest_cpu;
}

/* Five times the programs may cost some five times as much, not their square. */
START_TEST(cost_grows_with_the_programs)
{
	double few = longest_turn(100), many = longest_turn(500);

	if (getenv("VERBOSE"))
		printf("longest turn of 100 programs %.1f ms of CPU time, of 500 %.1f\n",
		    1000 * few, 1000 * many);
	ck_assert_double_lt(many, 12 * few);
}
END_TEST

UNIT_MAIN("cycle", 300, setup, teardown, first_samples_are_not_lost,
    a_slow_look_holds_a_batch_for_a_second, round_and_back, an_inspection_of_before_a_rollback,
    what_a_person_asks_for_is_looked_at, a_hold_outlives_a_refusal, another_list_is_another_layout,
    policy_read_again_meanwhile, changes_wait_in_their_order, what_is_not_quiet_yet_says_how_long,
    what_is_built_is_looked_at_again, changes_are_each_users_own, work_ends_with_the_ownership,
    samples_are_known_without_loading, extra_samples_only_sharpen,
    UNIT_LOOP(refusals_of_the_parent, 2), a_job_that_cannot_begin_waits, each_user_has_a_budget,
    a_large_program_is_learned_in_the_pool, users_take_turns, cost_grows_with_the_programs,
    UNIT_CASE(120, setup_with_turns, teardown), a_gain_is_measured, a_loss_is_taken_back,
    a_trial_says_how_far_it_is, a_crash_is_taken_back, UNIT_LOOP(a_trial_is_given_up, 2),
    UNIT_CASE(120, setup_with_service, teardown), UNIT_LOOP(a_service_is_measured, 2),
    UNIT_LOOP(commands_of_a_service_fail, 3), UNIT_CASE(120, setup_with_cycles, teardown),
    instructions_are_those_of_the_old_build, cycles_are_not_counted,
    UNIT_CASE(120, setup_with_command, teardown), a_gain_by_the_command_goes_in,
    a_loss_by_the_command_is_not_taken, UNIT_CASE(120, setup_with_servers, teardown),
    an_artifact_is_fetched_for_roots_programs, UNIT_CASE(120, setup_with_legacy, teardown),
    a_program_without_artifact_is_lifted, a_program_is_lifted_again,
    what_was_estimated_meanwhile_does_not_count, what_cannot_be_lifted_is_not_tried_again,
    what_was_to_be_lifted_may_not_be_any_more, what_must_not_be_lifted_is_only_shown)
