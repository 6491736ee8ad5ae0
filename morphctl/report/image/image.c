#include "morphctl/report/image/image.h"
#include "common/le.h"
#include "morphctl/report/confined/confined.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

/*
 * The answer: length of the build-id, its bytes; segments, then of each virtual address, offset and
 * size; then each symbol to the end: local (1) or not (0), type, value, size, and name and source,
 * NUL-terminated. All numbers are uleb.
 */

/* ---- the child ---- */

struct question {
	bool symbols;
};

struct collect {
	struct buf *answer;
	char *source; /* of the local symbols that follow */
};

static int collect(const struct elf_symbol *s, void *arg)
{
	struct collect *c = arg;
	bool local = s->bind == STB_LOCAL;

	if (s->type == STT_FILE) {
		free(c->source);
		c->source = xstrdup(s->name);
	} else if (s->type != STT_SECTION && s->shndx != SHN_UNDEF && s->name[0]) {
		buf_uleb(c->answer, local);
		buf_uleb(c->answer, s->type);
		buf_uleb(c->answer, s->value);
		buf_uleb(c->answer, s->size);
		buf_add(c->answer, s->name, strlen(s->name) + 1);
		buf_str(c->answer, local && c->source ? c->source : "");
		buf_char(c->answer, '\0');
	}
	return 0;
}

/* A stripped one has at least those that others may use. */
static int read_symbols(struct elf *elf, struct buf *answer, struct err *e)
{
	struct collect c = {answer, NULL};
	size_t before = answer->n;
	int rc = elf_file_symbols(elf, false, collect, &c);

	if (rc == 0 && answer->n == before)
		rc = elf_file_symbols(elf, true, collect, &c);
	free(c.source);
	return rc ? err_set(e, "its symbol table is damaged") : 0;
}

static int read_image(void *arg, struct buf *answer, struct err *e)
{
	const struct question *q = arg;
	struct elf *elf = elf_file_open("", CONFINED_FILE, e);
	struct elf_segment segment[IMAGE_SEGMENTS];
	struct build_id id;
	size_t n, i;
	int rc = 0;

	if (!elf)
		return -1;
	id = elf_file_build_id(elf);
	buf_uleb(answer, id.n);
	buf_add(answer, id.b, id.n);
	n = elf_file_exec_segments(elf, segment, IMAGE_SEGMENTS);
	buf_uleb(answer, n);
	for (i = 0; i < n; i++) {
		buf_uleb(answer, segment[i].vaddr);
		buf_uleb(answer, segment[i].offset);
		buf_uleb(answer, segment[i].filesz);
	}
	if (q->symbols)
		rc = read_symbols(elf, answer, e);
	elf_file_close(elf);
	return rc;
}

/* ---- the parent ---- */

static int take_segments(struct image *m, const uint8_t **p, const uint8_t *end)
{
	uint64_t n, i;

	if (uleb_read(p, end, &n) || n > sizeof m->id.b || (uint64_t)(end - *p) < n)
		return -1;
	m->id.n = (uint8_t)n;
	memcpy(m->id.b, *p, n);
	*p += n;
	if (uleb_read(p, end, &n) || n > IMAGE_SEGMENTS)
		return -1;
	for (i = 0; i < n; i++) {
		struct elf_segment *s = &m->segment[m->nsegment++];

		if (uleb_read(p, end, &s->vaddr) || uleb_read(p, end, &s->offset) ||
		    uleb_read(p, end, &s->filesz))
			return -1;
	}
	return 0;
}

static const char *take_string(struct image *m, const uint8_t **p, const uint8_t *end)
{
	const uint8_t *nul = memchr(*p, '\0', (size_t)(end - *p));
	const char *s = nul ? arena_strndup(&m->mem, (const char *)*p, (size_t)(nul - *p)) : NULL;

	*p = nul ? nul + 1 : end;
	return s;
}

static int take_symbols(struct image *m, const uint8_t *p, const uint8_t *end)
{
	struct image_symbol s;
	uint64_t local, type;

	while (p < end) {
		if (uleb_read(&p, end, &local) || local > 1 || uleb_read(&p, end, &type) ||
		    type > UINT8_MAX || uleb_read(&p, end, &s.value) ||
		    uleb_read(&p, end, &s.size) || !(s.name = take_string(m, &p, end)) ||
		    !(s.source = take_string(m, &p, end)))
			return -1;
		s.local = local;
		s.type = (uint8_t)type;
		vec_push(&m->symbol, s);
	}
	return 0;
}

int image_read(struct image *m, const char *path, bool symbols, struct err *e)
{
	struct question q = {symbols};
	struct confined c = {.file = confined_open(path, 0), .run = read_image, .arg = &q};
	struct buf answer = {0};
	const uint8_t *p, *end;
	int rc;

	*m = (struct image){0};
	if (c.file < 0)
		return err_sys(e, "%s", path);
	rc = confined_run(&c, &answer, e);
	close(c.file);
	p = (const uint8_t *)answer.p;
	end = p + answer.n;
	if (rc == 0 && (!p || take_segments(m, &p, end) || take_symbols(m, p, end)))
		rc = err_set(e, "the process that read it answered nonsense");
	buf_free(&answer);
	if (rc) {
		image_free(m);
		err_wrap(e, "%s", path);
	}
	return rc;
}

void image_free(struct image *m)
{
	vec_free(&m->symbol);
	arena_free(&m->mem);
	*m = (struct image){0};
}

bool image_offset(const struct image *m, uint64_t address, uint64_t *offset)
{
	const struct elf_segment *s;

	for (s = m->segment; s < m->segment + m->nsegment; s++) {
		if (address >= s->vaddr && address - s->vaddr < s->filesz) {
			*offset = address - s->vaddr + s->offset;
			return true;
		}
	}
	return false;
}

bool image_address(const struct image *m, uint64_t offset, uint64_t *address)
{
	const struct elf_segment *s;

	for (s = m->segment; s < m->segment + m->nsegment; s++) {
		if (offset >= s->offset && offset - s->offset < s->filesz) {
			*address = offset - s->offset + s->vaddr;
			return true;
		}
	}
	return false;
}
