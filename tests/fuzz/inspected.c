/*
 * cov >= 440
 * Even first byte: an inspector's answer behind its magic, as the parent takes it.
 * Odd: the blobs of one, as the manager takes them: u16 length, function table, and a
 * block map or replay table.
 */
#include "common/publish.h"
#include "common/uops.h"
#include "managerd/samples/map.h"
#include "managerd/parent/stages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void must(bool holds)
{
	if (!holds)
		abort();
}

static int memory(const void *p, size_t n)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	must(fd >= 0 && file_write_all(fd, p, n) >= 0);
	return fd;
}

static void join(const struct map_table *t, const struct blockmap *b)
{
	struct map_hits hits = {0};
	struct wire_sample s = {.count = 1};
	uint32_t block;
	struct map m;
	struct err e;
	size_t i;

	if (t->nslot > 1 << 20 || map_make(b, t, &m, &e))
		return;
	for (i = 0; i < m.range.n; i++) {
		must(m.range.v[i].start < m.range.v[i].end && m.range.v[i].slot < t->nslot);
		must(map_at(&m, m.range.v[i].start) == &m.range.v[i]);
		must(map_slot(t, m.range.v[i].slot, &block)->nblock > block);
		s.offset = m.range.v[i].end - 1;
		must(!map_samples(&m, &s, 1, &hits) && hits.v.v[i].slot == m.range.v[i].slot &&
		     hits.v.v[i].samples == 1);
	}
	vec_free(&hits.v);
	map_free(&m);
}

static void decode(const void *table, size_t ntable, const void *map, size_t nmap)
{
	struct blockmap b;
	struct map_table t;
	struct uops u;
	struct err e = {""};

	if (!uops_decode(map, nmap, &u, &e))
		uops_free(&u);
	if (map_table_decode(table, ntable, &t, &e)) {
		must(*e.text);
		return;
	}
	if (!blockmap_decode(map, nmap, &b, &e)) {
		join(&t, &b);
		blockmap_free(&b);
	}
	map_table_free(&t);
}

static bool one_line(const char *s)
{
	return s && !strpbrk(s, "\n\r\033");
}

static void inspected(const uint8_t *p, size_t n)
{
	struct inspect_head h = {.magic = ""};
	struct task t = {.child.answer = -1};
	struct buf b = {0};
	struct err e = {""};

	buf_add(&b, INSPECT_MAGIC, sizeof INSPECT_MAGIC);
	buf_add(&b, p, n);
	t.child.answer = memory(b.p, b.n);
	if (task_answer(&t, &h, &e)) {
		must(one_line(e.text));
	} else {
		must(b.n >= sizeof h && h.id.n <= 32 && h.origin.n <= 32 && h.artifact.n <= 32);
		decode(b.p + h.table_at, h.table_n, b.p + h.map_at, h.map_n);
	}
	must(ftruncate(t.child.answer, 1 << 20) < 0);
	child_forget(&t.child);
	buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	size_t cut;

	if (n < 3)
		return 0;
	if (p[0] & 1) {
		cut = (size_t)(p[1] | p[2] << 8) % (n - 2);
		decode(p + 3, cut, p + 3 + cut, n - 3 - cut);
	} else {
		inspected(p + 1, n - 1);
	}
	return 0;
}
