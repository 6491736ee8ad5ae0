/*
 * cov >= 85
 * The editor's answers. First byte: the kind of job, and whether the rest is
 * put into an answer with all fields, so that its first members count. What is
 * accepted is in its range, what is not says why, both in one line.
 */
#include "common/editanswer/editanswer.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SCORE \
	"{\"exttsp\":1,\"taken\":2,\"total\":3.5,\"cost\":{\"insns\":1,\"taken\":0.2,\"lines\":0." \
	"925,\"cycles\":0.5},\"lines95\":9}"

static const char head[] = "{\"ok\":true,";
static const char fields[] =
    ",\"functions\":3,\"edited\":2,\"opaque\":1,\"opaque_share\":0.25,\"samples\":1e3,"
    "\"samples_used\":900,\"score\":{\"before\":" SCORE ",\"after\":" SCORE "},"
    "\"order\":{\"names\":2,\"missed\":1,\"example\":\"f\"},"
    "\"seconds\":{\"parse\":0.1},\"build_id\":\"0a0b\",\"origin\":\"0c\",\"tus\":4,"
    "\"tus_assembled\":3,\"tus_cached\":1,\"size\":{\"before\":1,\"after\":2}}";

static void must(bool holds)
{
	if (!holds)
		abort();
}

static bool one_line(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return false;
	return true;
}

static void check(const struct editanswer *a, bool build)
{
	must(a->opaque_share >= 0 && a->opaque_share < 1.1);
	must(isfinite(a->samples) && a->samples >= 0 && isfinite(a->score.before.exttsp) &&
	     isfinite(a->score.after.cost.cycles));
	must(a->build_id.n <= sizeof a->build_id.b && a->origin.n <= sizeof a->origin.b);
	must(a->origin.n && (!build || a->build_id.n));
	must(strnlen(a->list.example, sizeof a->list.example) < sizeof a->list.example);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	bool build = n && !(p[0] & 3);
	unsigned parts = EDITANSWER_LAYOUT | EDITANSWER_SCORES | (build ? EDITANSWER_BUILD : 0);
	struct editanswer a = {0};
	struct buf b = {0};
	struct err e = {""};

	if (n && (p[0] & 4)) {
		buf_str(&b, head);
		buf_add(&b, p + 1, n - 1);
		buf_str(&b, fields + (p[0] >> 3 & 1)); /* without the comma */
	} else if (n) {
		buf_add(&b, p + 1, n - 1);
	}
	if (editanswer_read(buf_cstr(&b), b.n, parts, &a, &e) == 0)
		check(&a, build);
	else
		must(*e.text && one_line(e.text));
	buf_free(&b);
	return 0;
}
