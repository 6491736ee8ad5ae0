#include "tests/unit/memblob.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(a_part_lies_within)
{
	struct blob b = memblob("0123456789", 10), part = blob_part(&b, 4, 6);

	ck_assert_uint_eq(part.n, 6);
	ck_assert_mem_eq(part.p, "456789", 6);
	ck_assert_ptr_null(blob_part(&b, 4, 7).p);
	ck_assert_ptr_null(blob_part(&b, 0, 0).p);
	ck_assert_ptr_null(blob_part(&b, 11, 1).p);
	ck_assert_ptr_null(blob_part(&b, UINT64_MAX, 2).p);
	ck_assert_ptr_null(blob_part(&b, 2, UINT64_MAX).p);
	blob_narrow(&b, &part);
	ck_assert_mem_eq(b.p, "456789", 6);
	ck_assert_ptr_null(blob_part(&b, 0, 7).p);
	blob_free(&b);
	ck_assert_ptr_null(b.p);
}
END_TEST

START_TEST(nothing_is_no_blob)
{
	struct blob b = memblob("", 0);

	ck_assert(!b.p && !b.n);
	blob_release(&b, b.p);
	blob_free(&b);
	b = blob_of_fd(-1);
	ck_assert(!b.p && !b.n);
}
END_TEST

START_TEST(one_owns_it)
{
	struct blob a = memblob("abc", 3), b = blob_take(&a);

	ck_assert(!a.p && !a.base);
	ck_assert_mem_eq(b.p, "abc", 3);
	blob_free(&a);
	ck_assert_mem_eq(b.p, "abc", 3);
	blob_free(&b);
}
END_TEST

static size_t resident(const struct blob *b)
{
	size_t pages = (b->size + 4095) / 4096, i, n = 0;
	unsigned long long *entry = calloc(pages, sizeof *entry);
	FILE *f = fopen("/proc/self/pagemap", "r");

	ck_assert(f && !fseek(f, (long)((uintptr_t)b->base / 4096 * sizeof *entry), SEEK_SET));
	ck_assert_uint_eq(fread(entry, sizeof *entry, pages, f), pages);
	for (i = 0; i < pages; i++)
		n += entry[i] >> 63;
	fclose(f);
	free(entry);
	return n * 4096;
}

/* Read from front to end, it takes little memory; all can be read again. */
START_TEST(what_is_released_takes_no_memory)
{
	enum { N = 8 << 20 };
	char *bytes = calloc(N, 1);
	struct blob b;
	size_t i, most = 0;
	unsigned sum = 0;

	for (i = 0; i < N; i += 4096)
		bytes[i] = 1;
	b = memblob(bytes, N);
	for (i = 0; i < N; i += 4096) {
		sum += b.p[i];
		blob_release(&b, b.p + i + 1);
		if (i % (1 << 18) == 0 && resident(&b) > most)
			most = resident(&b);
	}
	ck_assert_uint_eq(sum, N / 4096);
	ck_assert_uint_gt(most, 0);
	ck_assert_uint_lt(most, 2 << 20);
	ck_assert_mem_eq(b.p, bytes, N);
	blob_free(&b);
	free(bytes);
}
END_TEST

UNIT_MAIN("blob", 0, NULL, NULL, a_part_lies_within, nothing_is_no_blob, one_owns_it,
    what_is_released_takes_no_memory)
