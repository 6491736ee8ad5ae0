/* Modules that a person rolled back stay so, whatever becomes of the store. */
#include "managerd/parent/holds.h"
#include "common/publish.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

START_TEST(set_and_forgotten)
{
	char state[] = "/tmp/morph-holds-XXXXXX";
	struct err e = {""};

	ck_assert_ptr_nonnull(mkdtemp(state));
	ck_assert(!holds_have(state, "/opt/a"));
	ck_assert_int_eq(holds_set(state, "/opt/a", false, &e), 0);
	ck_assert_msg(!holds_set(state, "/opt/a", true, &e), "%s", e.text);
	ck_assert_int_eq(holds_set(state, "/opt/a", true, &e), 0);
	ck_assert(holds_have(state, "/opt/a"));
	ck_assert(!holds_have(state, "/opt/b"));
	ck_assert_int_eq(holds_set(state, "/opt/a", false, &e), 0);
	ck_assert(!holds_have(state, "/opt/a"));
	dir_remove(state, NULL);
	ck_assert_int_eq(holds_set("/proc/nonexistent", "/opt/a", true, &e), -1);
	ck_assert_str_ne(e.text, "");
}
END_TEST

UNIT_MAIN("holds", 0, NULL, NULL, set_and_forgotten)
