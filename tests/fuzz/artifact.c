/*
 * Artifacts. Even first byte: the rest is a file as it comes. Odd: the rest is
 * a list of changes (place, value) to a sound artifact made at the start.
 */
#include "common/artifact.h"
#include "common/publish.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct buf sound;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char path[] = "/tmp/morph-fuzz-XXXXXX";
	const uint32_t insns[2] = {3, 200};
	struct art_meta meta = {{2, {1, 2}}, "prog", "morph", "ld", ELF_PIE};
	struct art_tu tu = {.name = "a.c", .as_args = "--64"};
	struct art_func f = {0, 0, "f", {{0}}, 2, insns, ""};
	struct art_input in[2] = {
	    {0, ART_TU, "/a.o", -1, 0, 0}, {1, ART_SHARED, "/b.so", -1, -1, 0}};
	struct artifact *a;
	struct err e;

	close(mkstemp(path));
	a = artifact_create(path, &e);
	if (!a || artifact_put_meta(a, &meta, &e) || artifact_put_tu(a, &tu, "f:\tret\n", 7, &e) ||
	    artifact_put_func(a, &f, &e) || artifact_put_input(a, &in[0], "", 0, &e) ||
	    artifact_put_input(a, &in[1], "\177ELF", 4, &e) ||
	    artifact_put_recipe(a, 0, "@0", &e) || artifact_put_blockmap(a, "map", 3, &e) ||
	    artifact_commit(a, &e) || file_read(path, 0, &sound, &e))
		abort();
	unlink(path);
	return 0;
}

static void read_all(const char *path)
{
	const struct art_input *in;
	const struct art_tu *tu;
	struct buf b = {0};
	struct err e;
	struct artifact *a = artifact_open(path, &e);
	size_t i;

	if (!a)
		return;
	for (i = 0; i < artifact_tus(a, &tu); i++)
		artifact_text(a, (uint32_t)i, &b, &e);
	for (i = 0; i < artifact_inputs(a, &in); i++)
		artifact_content(a, (uint32_t)i, &b, &e);
	artifact_blockmap(a, &b, &e);
	artifact_close(a);
	buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct buf b = {0};
	char path[64];
	size_t i;

	if (n && (p[0] & 1)) {
		buf_add(&b, sound.p, sound.n);
		for (i = 1; i + 3 <= n; i += 3)
			b.p[(size_t)(p[i] << 8 | p[i + 1]) % b.n] = (char)p[i + 2];
	} else if (n) {
		buf_add(&b, p + 1, n - 1);
	}
	if (fd < 0 || file_write_all(fd, b.p, b.n) < 0)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	read_all(path);
	close(fd);
	buf_free(&b);
	return 0;
}
