#include "managerd/fetch/fetch.h"
#include "common/fetch/fetch.h"
#include "common/log.h"
#include "common/publish.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fail(const char *why)
{
	return file_write_all(FETCH_ANSWER, why, strlen(why)) ? FETCH_USAGE : FETCH_FAILED;
}

int main(int argc, char **argv)
{
	struct err e = {"no server has it"}, why;
	const char *key;
	struct build_id id;
	struct buf b = {0};
	int i, r = 0;

	log_init("morph-fetch", LOG_LVL_INFO);
	if (argc < 4 || build_id_parse(argv[1], &id))
		die(FETCH_USAGE, "morphd runs this program; it is of no use by itself");
	key = *argv[2] ? argv[2] : NULL;
	for (i = 3; i < argc && r <= 0; i++) {
		b.n = 0;
		r = fetch_artifact(argv[i], key, &id, &b, &why);
		if (r < 0)
			e = why;
	}
	r = r > 0 ? file_write_all(FETCH_ANSWER, b.p, b.n) : fail(e.text);
	buf_free(&b);
	return r;
}
