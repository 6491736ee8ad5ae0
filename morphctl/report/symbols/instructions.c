#include "morphctl/report/symbols/instructions.h"
#include "morphctl/report/symbols/answer.h"
#include "lifter/att.h"
#include "morphctl/report/confined/confined.h"
#include "morphctl/report/symbols/open.h"
#include "morphctl/report/symbols/program.h"
#include "morphctl/report/symbols/scopes.h"

#include <string.h>
#include <unistd.h>

enum { CODE_MAX = 4 << 20 };

/* ---- the child ---- */

struct listing {
	VEC(uint64_t) vaddr; /* of each instruction, and of the end */
	VEC(char *) text;
	struct htab source; /* -> number in the answer */
	uint64_t nsource;
};

static void put_source(struct listing *l, const struct scope_line *at, struct buf *out)
{
	uint64_t *k;
	bool fresh;

	if (!at || !at->source) {
		buf_uleb(out, 0);
		buf_uleb(out, 0);
		return;
	}
	k = htab_put_str(&l->source, at->source, &fresh);
	if (fresh)
		*k = l->nsource++;
	buf_uleb(out, *k + 1);
	if (fresh)
		answer_put(out, at->source);
	buf_uleb(out, at->line);
}

static void put(struct listing *l, Dwarf *dwarf, struct buf *out)
{
	struct scopes s = {0};
	size_t i;

	if (dwarf)
		scopes_find(&s, dwarf, l->vaddr.v, l->text.n);
	buf_uleb(out, l->text.n);
	for (i = 0; i < l->text.n; i++) {
		buf_uleb(out, l->vaddr.v[i + 1] - l->vaddr.v[i]);
		answer_put(out, l->text.v[i]);
		put_source(l, dwarf ? &s.line[i] : NULL, out);
	}
}

int instructions_read(
    const struct request *q, uint64_t start, uint64_t end, struct buf *answer, struct err *e)
{
	struct program p;
	struct listing l = {0};
	uint64_t vaddr, at, n = end - start;
	uint8_t *code = xmalloc(n + 1);
	char text[ATT_TEXT];

	if (program_open(&p, q, e))
		return -1;
	vaddr = program_address(&p, start);
	if (!p.code || vaddr == UINT64_MAX || program_address(&p, end - 1) != vaddr + n - 1)
		return err_set(e, "there is no code at these offsets of it");
	if (pread(CONFINED_FILE, code, n, (off_t)start) != (ssize_t)n)
		return err_set(e, "the file ends before its code does");
	for (at = 0; at < n;) {
		vec_push(&l.vaddr, vaddr + at);
		at += att_print(code + at, n - at, start + at, text);
		vec_push(&l.text, xstrdup(text));
	}
	vec_push(&l.vaddr, vaddr + n);
	put(&l, p.dwarf, answer);
	return 0;
}

/* ---- the parent ---- */

struct sources {
	VEC(const char *) v;
};

static int get_source(const uint8_t **p, const uint8_t *end, struct sources *s, struct arena *mem,
    struct symbols_insn *to)
{
	uint64_t k, line;

	if (uleb_read(p, end, &k) || k > s->v.n + 1)
		return -1;
	if (k == s->v.n + 1)
		vec_push(&s->v, answer_get(p, end, mem));
	to->source = k ? s->v.v[k - 1] : NULL;
	if ((k && !to->source) || uleb_read(p, end, &line) || line > UINT32_MAX)
		return -1;
	to->line = (uint32_t)line;
	return 0;
}

/* The next instruction, at an offset. */
static int get(const uint8_t **p, const uint8_t *bytes_end, struct sources *s, struct arena *mem,
    uint64_t offset, uint64_t end, struct symbols_insn *to)
{
	uint64_t size;

	if (uleb_read(p, bytes_end, &size) || !size || size > end - offset)
		return -1;
	to->offset = offset;
	to->size = (uint32_t)size;
	to->text = answer_get(p, bytes_end, mem);
	return to->text ? get_source(p, bytes_end, s, mem, to) : -1;
}

int instructions_decode(const void *bytes, size_t nbytes, uint64_t start, uint64_t end,
    struct arena *mem, struct symbols_insn **insn, size_t *n, struct err *e)
{
	const uint8_t *p = bytes, *bytes_end = p + nbytes;
	struct sources s = {0};
	uint64_t count, i;
	int rc = uleb_count(&p, bytes_end, 4, &count);

	*insn = rc ? NULL : arena_array(mem, count, sizeof **insn);
	for (i = 0; !rc && i < count; i++) {
		rc = get(&p, bytes_end, &s, mem, start, end, &(*insn)[i]);
		start += (*insn)[i].size;
	}
	vec_free(&s.v);
	if (rc || p != bytes_end || start != end)
		return err_set(e, "the process that read it gave a wrong answer");
	*n = count;
	return 0;
}

struct job {
	struct request q;
	uint64_t start, end;
};

static int run(void *arg, struct buf *answer, struct err *e)
{
	struct job *j = arg;

	return instructions_read(&j->q, j->start, j->end, answer, e);
}

int symbols_disassemble(const struct recording_file *f, uint64_t start, uint64_t end,
    const struct symbols_options *o, struct arena *mem, struct symbols_insn **insn, size_t *n,
    struct err *e)
{
	struct job j = {{f, open_debug_folder(o), true, NULL, 0}, start, end};
	struct confined c = {.folder = j.q.debug, .run = run, .arg = &j};
	struct buf answer = {0};
	int rc;

	if (f->kind != RECORDING_ELF)
		return err_set(e, "%s: its code is in no file", f->path);
	if (start >= end || end - start > CODE_MAX)
		return err_set(e, "%s: more than %d bytes of code, or none", f->path, CODE_MAX);
	c.file = open_for(f, o);
	if (c.file < 0)
		return err_set(e, "%s: not there any more", f->path);
	rc = confined_run(&c, &answer, e) ||
	     instructions_decode(answer.p, answer.n, start, end, mem, insn, n, e);
	if (rc)
		err_wrap(e, "%s", f->path);
	close(c.file);
	buf_free(&answer);
	return rc ? -1 : 0;
}
