/*
 * cov >= 250
 * Artifacts. Even first byte: the rest is a file as it comes. Odd:
 * the rest is a list of changes to a sound artifact made at the start, with
 * pages so small that all its tables are trees: struct change. With its second
 * bit the artifact is as they are installed, with its third its second program is read.
 */
#include "common/artifact/artifact.h"
#include "common/publish.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 512, UNITS = 8, FUNCTIONS = 16 };

static struct buf sound[2];

static const uint32_t insns[3] = {3, 200, 70000};

static struct build_id program_id(uint8_t program)
{
	return (struct build_id){2, {1, program}};
}

/* A number of TUs, functions and inputs, some with names that need pages of their own. Every other
 * unit is of both programs. */
static int put_program(struct artifact *a, uint8_t program, struct err *e)
{
	struct art_meta meta = {program_id(program), "prog", "morph", "ld", ELF_PIE};
	char name[2 * PAGE], text[] = "f:\tret\n";
	uint32_t i;

	if (artifact_put_meta(a, &meta, e) || artifact_put_blockmap(a, "map", 3, e))
		return -1;
	memset(name, 'n', sizeof name);
	for (i = 0; i < UNITS; i++) {
		struct art_tu tu = {.id = i, .name = name, .as_args = "--64"};
		struct art_input in = {i, i ? ART_TU : ART_ARCHIVE, "/lib.a", i == 2 ? 0 : -1,
		    i ? (int64_t)i - 1 : -1, 0};

		name[i % 5 ? 8 : sizeof name - 1] = '\0';
		tu.hash.b[0] = (uint8_t)i;
		tu.hash.b[1] = i % 2 ? program : 0;
		text[0] = (char)('a' + i);
		if (artifact_put_tu(a, &tu, text, sizeof text - 1, e) ||
		    artifact_put_input(a, &in, "\177ELF", i ? 0 : 4, e) ||
		    artifact_put_recipe(a, i, i % 2 ? "@1" : "--list=@0", e))
			return -1;
		name[8] = 'n';
	}
	for (i = 0; i < FUNCTIONS; i++) {
		struct art_func f = {i / 2, i, "f", {{(uint8_t)i}}, 3, insns, i % 3 ? "" : "why"};

		if (artifact_put_func(a, &f, e))
			return -1;
	}
	return 0;
}

static bool opens(const char *path, uint8_t program)
{
	struct err e;
	struct build_id id = program_id(program);
	struct artifact *a = artifact_open_of(path, &id, &e);

	artifact_close(a);
	return a != NULL;
}

static void make(bool small, struct buf *out)
{
	char path[] = "/tmp/morph-fuzz-XXXXXX";
	struct artifact *a;
	sqlite3 *db;
	struct err e;

	close(mkstemp(path));
	a = artifact_create(path, small, &e);
	if (!a || put_program(a, 0, &e) || put_program(a, 1, &e) || artifact_commit(a, &e) ||
	    sqlite3_open(path, &db) ||
	    sqlite3_exec(db, "PRAGMA page_size=512; VACUUM", NULL, NULL, NULL) ||
	    sqlite3_close(db) || !opens(path, 0) || !opens(path, 1) || file_read(path, 0, out, &e))
		abort();
	unlink(path);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	make(false, &sound[0]);
	make(true, &sound[1]);
	return 0;
}

struct change {
	uint8_t what, page, cell, value[2];
};

static uint8_t *page_of(struct buf *b, uint8_t n)
{
	return (uint8_t *)b->p + n % (b->n / PAGE) * PAGE;
}

/* Where the pointer to a cell of a page is: behind its header, which in the
 * first page is behind the file's. */
static size_t cell_pointer(struct buf *b, const uint8_t *page, uint8_t cell)
{
	size_t head = page == (uint8_t *)b->p ? 100 : 0, n = page[head + 3] << 8 | page[head + 4];

	return head + (page[head] < 8 ? 12 : 8) + (n ? cell % n : 0) * 2;
}

static void apply(struct buf *b, const struct change *c)
{
	uint8_t *page = page_of(b, c->page);
	size_t pointer = cell_pointer(b, page, c->cell) % (PAGE - 1);
	size_t cell = (size_t)(page[pointer] << 8 | page[pointer + 1]);

	switch (c->what % 6) {
	case 0: /* any byte */
		page[(c->cell << 8 | c->value[0]) % PAGE] = c->value[1];
		break;
	case 1: /* a page twice */
		memcpy(page, page_of(b, c->cell), PAGE);
		break;
	case 2: /* a cell somewhere else */
		memcpy(page + pointer, c->value, 2);
		break;
	case 3: /* a cell twice */
		memcpy(page + pointer, page + cell_pointer(b, page, c->value[0]) % (PAGE - 1), 2);
		break;
	case 4: /* another child, or the size or id of a row */
		page[(cell + 3 - c->value[0] % 4) % PAGE] = c->value[1];
		break;
	case 5: /* inside of a cell */
		page[(cell + c->value[0]) % PAGE] = c->value[1];
		break;
	}
}

static void read_all(int fd, const struct build_id *of)
{
	const struct art_input *in;
	const struct art_func *f;
	const char *const *arg;
	const struct art_tu *tu;
	struct buf b = {0};
	struct err e;
	struct artifact *a = artifact_open_fd(fd, "fuzz", of, &e);
	size_t i;

	if (!a)
		return;
	for (i = 0; i < artifact_tus(a, &tu); i++)
		artifact_text(a, (uint32_t)i, &b, &e);
	for (i = 0; i < artifact_inputs(a, &in); i++)
		artifact_content(a, (uint32_t)i, &b, &e);
	for (i = 0; i < artifact_funcs(a, &f); i++)
		if (f[i].tu >= artifact_tus(a, &tu) || !f[i].name || !f[i].opaque)
			abort();
	for (i = 0; i < artifact_recipe(a, &arg); i++)
		if (!arg[i])
			abort();
	artifact_blockmap(a, &b, &e);
	artifact_close(a);
	buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct build_id id = program_id(n && p[0] & 4);
	bool changed = n && (p[0] & 1);
	struct change c;
	struct buf b = {0};
	size_t i;

	if (changed) {
		buf_add(&b, sound[p[0] >> 1 & 1].p, sound[p[0] >> 1 & 1].n);
		for (i = 1; i + sizeof c <= n; i += sizeof c) {
			memcpy(&c, p + i, sizeof c);
			apply(&b, &c);
		}
	} else if (n) {
		buf_add(&b, p + 1, n - 1);
	}
	if (fd < 0 || file_write_all(fd, b.p, b.n) < 0)
		abort();
	read_all(fd, changed ? &id : NULL);
	buf_free(&b);
	return 0;
}
