#include "common/hash.h"
#include "common/mem.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keys are kept in files: they must never change. The values are those of the
 * reference tool, `xxh128sum`. */
START_TEST(the_hash_is_xxh3_128)
{
	struct hash128 h = hash_bytes("", 0);
	char hex[HASH_HEX];

	ck_assert_str_eq(hash_hex(&h, hex), "99aa06d3014798d86001c324468d497f");
	ck_assert_uint_eq(hash_short(&h), 0x99aa06d3014798d8);
	h = hash_bytes("abc", 3);
	ck_assert_str_eq(hash_hex(&h, hex), "06b05ab6733a618578af5f94892f3950");
}
END_TEST

START_TEST(hex_is_lower_case)
{
	struct hash128 h = {{0x99, 0xaa, 6, [15] = 0xf}}, other = h;
	char hex[HASH_HEX];

	ck_assert_str_eq(hash_hex(&h, hex), "99aa060000000000000000000000000f");
	ck_assert(hash_equal(&h, &other));
	other.b[15] ^= 1;
	ck_assert(!hash_equal(&h, &other));
}
END_TEST

START_TEST(tables_keep_what_was_put)
{
	struct htab t = {0};
	char key[32];
	uint64_t i, *v;
	bool fresh;

	ck_assert_ptr_null(htab_get_str(&t, "absent"));
	for (i = 0; i < 20000; i++) {
		snprintf(key, sizeof key, "key %llu", (unsigned long long)i);
		v = htab_put_str(&t, key, &fresh);
		ck_assert(fresh && *v == 0);
		*v = i * 3;
	}
	ck_assert_uint_eq(t.n, 20000);
	for (i = 0; i < 20000; i++) {
		snprintf(key, sizeof key, "key %llu", (unsigned long long)i);
		v = htab_get_str(&t, key);
		ck_assert(v && *v == i * 3);
		ck_assert_ptr_eq(htab_put_str(&t, key, &fresh), v);
		ck_assert(!fresh);
	}
	ck_assert_ptr_null(htab_get_str(&t, "key 20000"));
	ck_assert_uint_eq(t.n, 20000);
	htab_free(&t);
	ck_assert_uint_eq(t.n, 0);
	ck_assert_ptr_null(htab_get_str(&t, "key 1"));
}
END_TEST

START_TEST(keys_are_bytes)
{
	struct htab t = {0};
	uint64_t *v;

	*htab_put(&t, "a\0b", 3, NULL) = 1;
	*htab_put(&t, "a\0c", 3, NULL) = 2;
	*htab_put(&t, "a", 1, NULL) = 3;
	*htab_put(&t, "", 0, NULL) = 4;
	v = htab_get(&t, "a\0b", 3);
	ck_assert(v && *v == 1);
	v = htab_get(&t, "a", 1);
	ck_assert(v && *v == 3);
	v = htab_get(&t, "", 0);
	ck_assert(v && *v == 4);
	ck_assert_ptr_null(htab_get(&t, "a\0", 2));
	htab_free(&t);
}
END_TEST

UNIT_MAIN("hash", 0, NULL, NULL, the_hash_is_xxh3_128, hex_is_lower_case, tables_keep_what_was_put,
    keys_are_bytes)
