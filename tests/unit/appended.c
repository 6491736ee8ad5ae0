/*
 * The proof of builds that code was added to: what it takes, and that it sees every change.
 */
#include "editor-driver/proof/appended.h"
#include "tests/unit/appending.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void setup(void)
{
	make_appended("-pie");
}

static int prove(struct verified *v, struct err *e)
{
	static const uint64_t edited[] = {0x1000, 0x2000, 0x3000};
	struct verify_copies copy[] = {{0x1000, 0, 7, 1, 0}};
	struct verify_wanted w = {
	    .map = &app.map, .copy = copy, .ncopy = 1, .edited = edited, .nedited = MOVED_N};
	int rc = appended_verify(app.made_path, app.old_path, &w, v, e);

	blockmap_free(&v->map);
	return rc;
}

START_TEST(proven)
{
	struct verified v;
	struct err e;

	ck_assert_msg(!prove(&v, &e), "%s", e.text);
}
END_TEST

START_TEST(list)
{
	int fd = open(app.made_path, O_WRONLY), rc;
	struct verified v;
	struct err e;
	static const uint8_t masks[] = {1, 2, 4, 8, 16, 32, 64, 128, 255};
	unsigned m;
	size_t i;
	uint8_t c;
	FILE *out = fopen("/tmp/e/accepted", "w");
	for (i = app.headers.begin; i < app.linked.end; i++)
		for (m = 0; m < sizeof masks; m++) {
			c = (uint8_t)app.made.p[i] ^ masks[m];
			pwrite(fd, &c, 1, i);
			rc = prove(&v, &e);
			fprintf(out, "%s %zx %llx %02x %02x %s\n", rc ? "refused" : "ACCEPTED", i,
			    (unsigned long long)(i + app.base), (unsigned char)app.made.p[i], c,
			    rc ? e.text : "");
			pwrite(fd, &app.made.p[i], 1, i);
		}
	fclose(out);
}
END_TEST

UNIT_MAIN("appended", 0, NULL, NULL, UNIT_CASE(600, setup, appended_remove), proven, list)
