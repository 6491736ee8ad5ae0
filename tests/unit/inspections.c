#include "managerd/priv/inspections.h"
#include "tests/unit/fakepriv.h"
#include "tests/unit/unit.h"

#include <stdio.h>

static struct priv *priv;
static struct inspections *inspections;
static unsigned ended;
static bool keeps; /* the place */
static struct inspection last;
static enum priv_inspect status; /* of it */
static char order[64];

static bool inspected(void *arg, const struct inspection *l, const struct priv_inspected *r)
{
	last = *l;
	status = r->status;
	if (ended < sizeof order - 1)
		order[ended] = (char)('a' + l->uid % 26);
	ended++;
	return keeps;
}

static void setup(void)
{
	priv = fake_new();
	priv->slow = true;
	inspections = inspections_new(priv, inspected, NULL);
	ended = 0;
	keeps = false;
	memset(order, 0, sizeof order);
}

static void teardown(void)
{
	inspections_free(inspections);
	ck_assert_uint_eq(priv->task.n, 0);
	priv_close(priv);
}

static bool ask(uint32_t uid, int n, bool shallow, uint8_t build)
{
	char path[64];

	snprintf(path, sizeof path, "/%u/%d", uid, n);
	fake_file(priv, path, uid, 1);
	return inspections_ask(inspections, &(struct inspection){.path = path,
						.uid = uid,
						.asked = {{1, {build}}},
						.nasked = 1,
						.shallow = shallow,
						.awaited = true});
}

/* One who asks for much waits; whoever comes later does not wait behind it. */
START_TEST(users_take_turns)
{
	int i;

	for (i = 0; i < 6; i++)
		ck_assert(ask(0, i, false, 1));
	ck_assert_uint_eq(priv->task.n, INSPECTIONS_AT_ONCE_OF_USER);
	for (i = 0; i < 3; i++)
		ck_assert(ask(1, i, false, 1) && ask(2, i, false, 1));
	ck_assert_uint_eq(inspections_awaited(inspections), 12);
	ck_assert_uint_eq(priv->task.n, 3 * INSPECTIONS_AT_ONCE_OF_USER);
	while (fake_answer(priv, NULL))
		;
	ck_assert_uint_eq(ended, 12);
	ck_assert_uint_eq(inspections_awaited(inspections), 0);
	ck_assert_str_eq(order, "aabcbcaabcaa");
}
END_TEST

/* Nor does one whose answers take long to work on pile them up. */
START_TEST(places_are_taken_until_it_is_worked_on)
{
	int i;

	for (i = 0; i < 2 * INSPECTIONS_AT_ONCE_OF_USER; i++)
		ck_assert(ask(1, i, false, 1));
	keeps = true;
	while (fake_answer(priv, NULL))
		;
	ck_assert_uint_eq(ended, INSPECTIONS_AT_ONCE_OF_USER);
	ck_assert(ask(2, 0, false, 1));
	keeps = false;
	ck_assert(fake_answer(priv, NULL));
	ck_assert_uint_eq(ended, INSPECTIONS_AT_ONCE_OF_USER + 1);
	inspections_done(inspections, 1);
	ck_assert_uint_eq(priv->task.n, 1);
	inspections_done(inspections, 1);
	while (fake_answer(priv, NULL))
		;
	ck_assert_uint_eq(ended, 2 * INSPECTIONS_AT_ONCE_OF_USER + 1);
}
END_TEST

START_TEST(few_at_once)
{
	uint32_t i;

	for (i = 0; i < 50; i++)
		ck_assert(ask(i, 0, false, 1));
	while (fake_answer(priv, NULL))
		;
	ck_assert_uint_eq(priv->at_once, INSPECTIONS_AT_ONCE);
	ck_assert_uint_eq(ended, 50);
}
END_TEST

START_TEST(one_of_each_path)
{
	int i;

	for (i = 0; i < 20; i++)
		ck_assert(ask(7, 0, i < 3, (uint8_t)(i < 4 ? i : 4)));
	ck_assert_uint_eq(inspections_awaited(inspections), 1);
	ck_assert(fake_answer(priv, NULL));
	ck_assert_uint_eq(ended, 1);
	ck_assert_uint_eq(last.nasked, 5);
	ck_assert_uint_eq(priv->file.v[0]->inspections, 1);
	/* And again, once it is over. */
	ck_assert(ask(7, 0, false, 1));
	ck_assert(fake_answer(priv, NULL));
	ck_assert_uint_eq(ended, 2);
}
END_TEST

/* The queue is bounded for each user, and one who fills it keeps nobody out. */
START_TEST(queues_are_bounded)
{
	int i;

	for (i = 0; i < INSPECTIONS_MAX_OF_USER; i++)
		ck_assert(ask(1000, i, false, 1));
	ck_assert(!ask(1000, i, false, 1));
	ck_assert(ask(1001, 0, false, 1));
	ck_assert_uint_eq(priv->task.n, INSPECTIONS_AT_ONCE_OF_USER + 1);
}
END_TEST

/* What the parent does not begin is answered all the same: a decision waits for it. */
START_TEST(refusals_are_answered)
{
	priv->refuse = 1;
	ask(1, 0, false, 1);
	ck_assert_uint_eq(inspections_awaited(inspections), 0);
	ask(1, 0, false, 1);
	ck_assert_uint_eq(inspections_awaited(inspections), 1);
	inspections_turn(inspections);
	ck_assert_uint_eq(ended, 0);
	priv->refuse = 1;
	ask(1, 1, false, 1);
	ck_assert_uint_eq(ended, 0);
	inspections_turn(inspections);
	ck_assert_uint_eq(ended, 1);
	ck_assert_int_eq(status, PRIV_LATER);
	ck_assert_uint_eq(last.nasked, 0);
	ck_assert_uint_eq(inspections_awaited(inspections), 1);
}
END_TEST

UNIT_MAIN("inspections", 0, setup, teardown, users_take_turns,
    places_are_taken_until_it_is_worked_on, few_at_once, one_of_each_path, queues_are_bounded,
    refusals_are_answered)
