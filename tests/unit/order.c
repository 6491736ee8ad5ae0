/* Merging by time: what is held back, what is handed on. */
#include "monitor-client/kernel/order.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static uint64_t got[64];
static size_t n_got;

static void take(const struct event *ev, void *arg)
{
	got[n_got++] = ev->time * 100 + ev->pid;
}

static void add(struct order *o, uint64_t time, uint32_t pid)
{
	order_add(o, &(struct event){.kind = EV_SAMPLE, .time = time, .pid = pid});
}

START_TEST(an_earlier_event_of_the_next_round_comes_first)
{
	struct order o = {0};

	n_got = 0;
	add(&o, 10, 1);
	add(&o, 30, 1);
	order_round(&o, false, take, NULL);
	ck_assert_uint_eq(n_got, 0);
	add(&o, 20, 2);
	add(&o, 40, 2);
	order_round(&o, false, take, NULL);
	ck_assert_uint_eq(n_got, 3);
	ck_assert_uint_eq(got[0], 1001);
	ck_assert_uint_eq(got[1], 2002);
	ck_assert_uint_eq(got[2], 3001);
	order_round(&o, true, take, NULL);
	ck_assert_uint_eq(n_got, 4);
	order_free(&o);
}
END_TEST

START_TEST(equal_times_keep_their_order)
{
	struct order o = {0};
	uint32_t i;

	n_got = 0;
	for (i = 0; i < 50; i++)
		add(&o, 7, i);
	order_round(&o, true, take, NULL);
	for (i = 0; i < 50; i++)
		ck_assert_uint_eq(got[i], 700 + i);
	order_free(&o);
}
END_TEST

START_TEST(a_quiet_round_releases_what_was_held)
{
	struct order o = {0};

	n_got = 0;
	add(&o, 10, 1);
	order_round(&o, false, take, NULL);
	order_round(&o, false, take, NULL);
	ck_assert_uint_eq(n_got, 1);
	order_free(&o);
}
END_TEST

START_TEST(paths_are_copied_and_freed)
{
	struct order o = {0};
	char path[] = "/bin/true";
	struct event ev = {.kind = EV_MAP, .time = 5, .map = {.path = path}};

	n_got = 0;
	order_add(&o, &ev);
	path[1] = 'x';
	ck_assert_str_eq(o.slot.v[0].ev.map.path, "/bin/true");
	order_round(&o, false, take, NULL);
	order_free(&o); /* held back: freed here; leaks are found by the sanitizer */
}
END_TEST

UNIT_MAIN("order", 0, NULL, NULL, an_earlier_event_of_the_next_round_comes_first,
    equal_times_keep_their_order, a_quiet_round_releases_what_was_held, paths_are_copied_and_freed)
