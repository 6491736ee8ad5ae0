/* The idle gate, on numbers as machines give them. */
#include "managerd/decide/idle.h"
#include "managerd/decide/idlewatch.h"
#include "managerd/decide/reading.h"
#include "common/mem.h"
#include "common/publish.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct idle_policy POLICY = {.after_s = 5, .cpu = 0.75, .psi = 0.05};

/* Two processors; per second: others use `busy`, we use `own`. */
struct machine {
	struct idle_reading r;
	struct idle idle;
};

static enum idle_state second(
    struct machine *m, const struct idle_policy *p, double busy, double own)
{
	m->r.time_s += 1;
	m->r.total_s += 2;
	m->r.idle_s += 2 - busy - own;
	m->r.own_s += own;
	return idle_step(&m->idle, p, &m->r);
}

static struct machine boot(void)
{
	struct machine m = {.r = {.time_s = 100, .total_s = 200, .idle_s = 50, .psi = 0}};

	idle_step(&m.idle, &POLICY, &m.r);
	return m;
}

START_TEST(says_how_long_it_waits)
{
	struct machine m = boot();

	ck_assert_double_eq_tol(idle_wait(&m.idle, POLICY.after_s), 5, 1e-9);
	second(&m, &POLICY, 0, 0);
	second(&m, &POLICY, 0, 0);
	ck_assert_double_eq_tol(idle_wait(&m.idle, POLICY.after_s), 3, 1e-9);
	second(&m, &POLICY, 1.5, 0);
	ck_assert_double_eq(idle_wait(&m.idle, POLICY.after_s), 0); /* busy: nobody knows */
	while (second(&m, &POLICY, 0, 0) != IDLE_YES)
		;
	ck_assert_double_eq(idle_wait(&m.idle, POLICY.after_s), 0);
}
END_TEST

START_TEST(begins_after_the_quiet_time)
{
	struct machine m = boot();
	int i;

	ck_assert_int_eq(m.idle.state, IDLE_QUIET);
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(second(&m, &POLICY, 0.1, 0), IDLE_QUIET);
	ck_assert_int_eq(second(&m, &POLICY, 0.1, 0), IDLE_YES);
}
END_TEST

START_TEST(work_of_others_stops_it_at_once)
{
	struct machine m = boot();
	int i;

	for (i = 0; i < 6; i++)
		second(&m, &POLICY, 0, 0);
	ck_assert_int_eq(m.idle.state, IDLE_YES);
	ck_assert_int_eq(second(&m, &POLICY, 0.6, 0), IDLE_BUSY);
	ck_assert_double_eq_tol(m.idle.busy_share, 0.3, 1e-9);
	ck_assert_str_eq(m.idle.reason, "the processors are in use");
	ck_assert_int_eq(second(&m, &POLICY, 0, 0), IDLE_QUIET);
	for (i = 0; i < 4; i++)
		second(&m, &POLICY, 0, 0);
	ck_assert_int_eq(m.idle.state, IDLE_YES);
}
END_TEST

START_TEST(own_work_is_not_busy)
{
	struct machine m = boot();
	int i;

	m.r.own = true;
	m.r.psi = 0.4; /* our own processes wait for each other */
	for (i = 0; i < 10; i++)
		second(&m, &POLICY, 0.02, 1.95);
	ck_assert_int_eq(m.idle.state, IDLE_YES);
	/* Someone else wants a little, and has to wait. */
	ck_assert_int_eq(second(&m, &POLICY, 0.3, 1.6), IDLE_BUSY);
	ck_assert_str_eq(m.idle.reason, "programs wait for processors");
}
END_TEST

START_TEST(pressure_counts_when_nothing_of_ours_runs)
{
	struct machine m = boot();

	m.r.psi = 0.06;
	ck_assert_int_eq(second(&m, &POLICY, 0, 0), IDLE_BUSY);
	m.r.psi = -1; /* a kernel without it */
	ck_assert_int_eq(second(&m, &POLICY, 0, 0), IDLE_QUIET);
}
END_TEST

START_TEST(battery_waits_unless_allowed)
{
	struct idle_policy p = POLICY;
	struct machine m = boot();

	m.r.battery = true;
	ck_assert_int_eq(second(&m, &p, 0, 0), IDLE_BUSY);
	ck_assert_str_eq(m.idle.reason, "running on battery");
	p.battery_ok = true;
	ck_assert_int_eq(second(&m, &p, 0, 0), IDLE_QUIET);
}
END_TEST

START_TEST(test_policy_begins_at_once)
{
	const struct idle_policy p = {.after_s = 0, .cpu = 0, .psi = 1};
	struct idle idle = {0};
	struct idle_reading r = {.time_s = 1, .total_s = 10, .idle_s = 1, .psi = 1};

	ck_assert_int_eq(idle_step(&idle, &p, &r), IDLE_YES);
	r = (struct idle_reading){.time_s = 2, .total_s = 12, .idle_s = 1, .psi = 1};
	ck_assert_int_eq(idle_step(&idle, &p, &r), IDLE_YES);
}
END_TEST

START_TEST(odd_counters_do_no_harm)
{
	struct machine m = boot();

	/* idle_s steps back on real kernels; own time is seen late. */
	m.r.idle_s -= 5;
	ck_assert_int_eq(second(&m, &POLICY, 0, 0), IDLE_BUSY);
	ck_assert_int_eq(second(&m, &POLICY, 0, 0), IDLE_QUIET);
	m.r.own_s += 50;
	ck_assert_int_eq(second(&m, &POLICY, 1, 0), IDLE_QUIET);
	ck_assert_double_eq(m.idle.busy_share, 0);
	/* Nothing from the kernel: busy. */
	struct idle_reading none = {.time_s = 1000, .psi = -1};
	ck_assert_int_eq(idle_step(&m.idle, &POLICY, &none), IDLE_BUSY);
}
END_TEST

START_TEST(kernel_files_are_read)
{
	double total, idle, psi;

	ck_assert_int_eq(reading_parse_stat("cpu  4705 150 1120 16250 520 30 45 5 7 0\ncpu0 1 2\n",
			     100, &total, &idle),
	    0);
	ck_assert_double_eq_tol(idle, 167.7, 1e-9);
	ck_assert_double_eq_tol(total, 228.25, 1e-9);
	/* Linux 2.4 had four; that is no stat file we know. */
	ck_assert_int_eq(reading_parse_stat("cpu  1 2 3 4\n", 100, &total, &idle), -1);
	ck_assert_int_eq(reading_parse_stat("", 100, &total, &idle), -1);
	ck_assert_int_eq(reading_parse_psi("some avg10=12.50 avg60=0.01 avg300=0.16 total=45\n"
					   "full avg10=0.00\n",
			     &psi),
	    0);
	ck_assert_double_eq_tol(psi, 0.125, 1e-9);
	ck_assert_int_eq(reading_parse_psi("full avg10=1.00\n", &psi), -1);
	ck_assert_int_eq(reading_parse_psi("some avg10=nan\n", &psi), -1);
}
END_TEST

static void supply(const char *dir, const char *name, const char *file, const char *text)
{
	char *folder = xasprintf("%s/%s", dir, name), *path = xasprintf("%s/%s", folder, file);

	mkdir(folder, 0755);
	ck_assert_int_eq(publish_bytes(path, text, strlen(text), 0644, NULL), 0);
	free(folder);
	free(path);
}

START_TEST(power_supplies_are_read)
{
	char dir[] = "/tmp/morph-power-XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert(!reading_battery("/nonexistent"));
	ck_assert(!reading_battery(dir));
	supply(dir, "BAT0", "type", "Battery\n");
	supply(dir, "BAT0", "status", "Charging\n");
	supply(dir, "AC", "type", "Mains\n");
	supply(dir, "AC", "online", "1\n");
	ck_assert(!reading_battery(dir));
	supply(dir, "BAT0", "status", "Discharging\n");
	ck_assert(!reading_battery(dir));
	supply(dir, "AC", "online", "0\n");
	ck_assert(reading_battery(dir));
	supply(dir, "BAT0", "scope", "Device\n");
	ck_assert(!reading_battery(dir));
	dir_remove(dir, NULL);
}
END_TEST

static int changes;

static void changed(enum idle_state s, void *arg)
{
	changes++;
	*(enum idle_state *)arg = s;
	uv_stop((uv_loop_t *)uv_default_loop());
}

START_TEST(watch_tells_the_first_answer)
{
	const struct idle_policy p = {.after_s = 0, .cpu = 0, .psi = 1, .battery_ok = true};
	enum idle_state seen = IDLE_BUSY;
	uv_loop_t *loop = uv_default_loop();
	struct idlewatch *w = idlewatch_start(loop, &p, changed, &seen, NULL);

	ck_assert_ptr_nonnull(w);
	ck_assert_int_eq(idlewatch_state(w)->state, IDLE_YES);
	uv_run(loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(changes, 1);
	ck_assert_int_eq(seen, IDLE_YES);
	idlewatch_stop(w);
	uv_run(loop, UV_RUN_DEFAULT);
	ck_assert_int_eq(uv_loop_close(loop), 0);
}
END_TEST

UNIT_MAIN("idle", 0, NULL, NULL, says_how_long_it_waits, begins_after_the_quiet_time,
    work_of_others_stops_it_at_once, own_work_is_not_busy,
    pressure_counts_when_nothing_of_ours_runs, battery_waits_unless_allowed,
    test_policy_begins_at_once, odd_counters_do_no_harm, kernel_files_are_read,
    power_supplies_are_read, watch_tells_the_first_answer)
