#include "editor-driver/job/lift.h"
#include "common/artifact/artifact.h"
#include "common/elf/blockmap.h"
#include "common/pack.h"
#include "common/publish.h"
#include "common/sort.h"
#include "editor-driver/os/parallel.h"
#include "editor/asm/text.h"
#include "lifter/lift.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions that are lifted before any of them is written: bounds memory. */
enum { BATCH = 512 };

/* A function on its way into the artifact. */
struct made {
	struct lifted f;
	struct arena mem;
	size_t text_size;
	struct buf packed; /* the text */
	struct hash128 hash;
	struct art_func func;
};

struct lifting {
	struct lifter *l;
	struct artifact *a;
	struct blockmap map;
	struct lift_result *r;
	struct made *made;
	size_t first; /* function that made[0] is of */
};

/* ---- which functions ---- */

struct numbers {
	VEC(size_t) v;
};

static int want_line(
    struct lifter *l, const char *line, size_t number, struct numbers *want, struct err *e)
{
	unsigned long long off;
	uint64_t addr;
	size_t i;
	char *end;

	if (!*line || *line == '#')
		return 0;
	off = strtoull(line, &end, 16);
	if (end == line || *line == '-' || *line == '+' || (*end && *end != ' ' && *end != '\t'))
		return err_set(e, "line %zu: not a file offset in hexadecimal", number);
	if (lift_address(l, off, &addr) && lift_find(l, addr, &i))
		vec_push(&want->v, i);
	return 0;
}

static int want_listed(struct lifter *l, const char *path, struct err *e)
{
	struct numbers want = {{0}};
	struct buf list = {0};
	char *line, *next;
	size_t number = 0;
	int rc = file_read(path, 0, &list, e);

	next = rc ? NULL : buf_cstr(&list);
	while (!rc && (line = strsep(&next, "\n")))
		rc = want_line(l, line, ++number, &want, e);
	if (!rc && !want.v.n)
		rc = err_set(e, "no address of a function in it");
	if (!rc)
		lift_only(l, want.v.v, want.v.n);
	buf_free(&list);
	vec_free(&want.v);
	return rc ? err_wrap(e, "%s", path) : 0;
}

/* ---- one function ---- */

/* Blocks to instructions, in the order of the text: false where the editor reads others. */
static bool count_insns(const struct made *m, const struct unit_func *u, uint32_t *insns)
{
	const struct func *f = u->impl;
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < u->cfg.nblock; i++) {
		insns[i] = u->cfg.block[i].insns;
		if (n < m->f.insn.n && insns[i] && f->blk && f->blk[i].part != m->f.insn.v[n].part)
			return false;
		n += insns[i];
	}
	return !f->blk || n == m->f.insn.n;
}

/* Reads the text as the editor will; NULL, or why that cannot be. */
static const char *read_unit(struct made *m)
{
	struct arena mem = {0};
	struct err e = {{0}};
	struct unit *u = unit_parse_code(&mem, m->f.text.p, m->f.text.n, &e);
	const char *why = NULL;
	uint32_t *insns;

	if (!u || u->nfunc != 1 || strcmp(u->func->name, m->f.name) != 0) {
		why = arena_printf(&m->mem, "its text is not understood: %.200s", e.text);
	} else {
		insns = arena_array(&m->mem, u->func->cfg.nblock, sizeof *insns);
		if (!count_insns(m, u->func, insns))
			why = "its text has other instructions";
		m->func = (struct art_func){.name = m->f.name,
		    .key = u->func->key,
		    .nblock = u->func->cfg.nblock,
		    .insns = insns,
		    .opaque = u->func->opaque ? arena_strdup(&m->mem, u->func->opaque) : ""};
	}
	unit_free(u);
	arena_free(&mem);
	return why;
}

/* Lifts function first + i. */
static int make(void *arg, size_t i, struct err *e)
{
	struct lifting *g = arg;
	struct made *m = &g->made[i];
	const char *why;

	*m = (struct made){0};
	lift_function(g->l, g->first + i, &m->f);
	why = read_unit(m);
	if (why && !m->f.stays) {
		lifted_stay(&m->f, why);
		why = read_unit(m);
	}
	if (why)
		return err_set(e, "%s: %s", m->f.name, why);
	m->hash = hash_bytes(m->f.text.p, m->f.text.n);
	m->text_size = m->f.text.n;
	pack_bytes(m->f.text.p, m->f.text.n, &m->packed);
	buf_free(&m->f.text);
	return 0;
}

/* ---- the map ---- */

static void put_block(struct lifting *g, uint64_t addr, uint64_t end, uint32_t id)
{
	struct bm_frag *f = &g->map.frag.v[g->map.frag.n - 1];

	f->n++;
	f->size = (uint32_t)(end - f->addr);
	vec_push(&g->map.block,
	    (struct bm_block){addr, (uint32_t)(end - addr), id, (uint32_t)(g->map.frag.n - 1)});
}

static void put_fragment(struct lifting *g, const struct made *m, uint32_t part, uint64_t addr)
{
	vec_push(&g->map.frag, (struct bm_frag){.addr = addr,
				   .tu = hash_short(&m->hash),
				   .fragment = part,
				   .first = (uint32_t)g->map.block.n});
}

static void put_blocks(struct lifting *g, const struct made *m)
{
	const struct lifted_insn *s = m->f.insn.v, *end = s + m->f.insn.n, *next;
	uint32_t i, part = 0;
	uint64_t at = m->f.addr;

	put_fragment(g, m, 0, at);
	for (i = 0; i < m->func.nblock; i++, s = next) {
		next = s + m->func.insns[i];
		if (s < end && s->part != part) {
			part = s->part;
			put_fragment(g, m, part, s->addr);
		}
		at = s < end && next > s ? s->addr : at;
		put_block(g, at, next > s ? next[-1].addr + next[-1].len : at, i);
		at = next > s ? next[-1].addr + next[-1].len : at;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct bm_frag *x = a, *y = b;

	return ORDER(x->addr, y->addr);
}

/* Fragments by address, and the blocks with them. */
static void sort_map(struct blockmap *m)
{
	VEC(struct bm_block) sorted = {0};
	struct bm_frag *f;
	uint32_t i, first;

	vec_sort(&m->frag, by_address);
	for (f = m->frag.v; f < m->frag.v + m->frag.n; f++) {
		first = (uint32_t)sorted.n;
		for (i = 0; i < f->n; i++) {
			vec_push(&sorted, m->block.v[f->first + i]);
			sorted.v[sorted.n - 1].frag = (uint32_t)(f - m->frag.v);
		}
		f->first = first;
	}
	vec_free(&m->block);
	m->block.v = sorted.v;
	m->block.n = sorted.n;
	m->block.cap = sorted.cap;
}

/* ---- writing ---- */

static void count(struct lifting *g, const struct made *m)
{
	const char *why = m->func.opaque;
	struct lift_result *r = g->r;
	uint64_t n = m->f.size[0] + m->f.size[1];
	size_t i;

	r->functions++;
	r->bytes += n;
	r->indirect += m->f.indirect;
	r->known += m->f.known;
	if (!m->f.stays)
		return;
	r->stay++;
	r->stay_bytes += n;
	for (i = 0; i < r->reason.n && strcmp(r->reason.v[i].text, why) != 0; i++)
		;
	if (i == r->reason.n)
		vec_push(&r->reason, (struct lift_reason){arena_strdup(&r->mem, why), 0, 0});
	r->reason.v[i].functions++;
	r->reason.v[i].bytes += n;
}

static int put(struct lifting *g, struct made *m, struct err *e)
{
	struct art_tu tu = {.id = g->r->functions,
	    .hash = m->hash,
	    .name = m->f.name,
	    .as_args = "--64",
	    .text_size = m->text_size};

	m->func.tu = tu.id;
	if (artifact_put_tu_packed(g->a, &tu, m->packed.p, m->packed.n, e) ||
	    artifact_put_func(g->a, &m->func, e))
		return -1;
	if (*m->func.opaque) {
		put_fragment(g, m, 0, m->f.addr);
		put_block(g, m->f.addr, m->f.addr + m->f.size[0], 0);
	} else {
		put_blocks(g, m);
	}
	count(g, m);
	return 0;
}

static void made_free(struct made *m)
{
	lifted_free(&m->f);
	buf_free(&m->packed);
	arena_free(&m->mem);
}

static int put_functions(struct lifting *g, unsigned jobs, struct err *e)
{
	size_t i, n, all = lift_count(g->l);
	int rc = 0;

	g->made = xcalloc(BATCH, sizeof *g->made);
	for (g->first = 0; g->first < all && !rc; g->first += n) {
		n = all - g->first < BATCH ? all - g->first : BATCH;
		memset(g->made, 0, n * sizeof *g->made);
		rc = parallel_for(jobs, n, make, g, e);
		for (i = 0; i < n; i++) {
			if (!rc)
				rc = put(g, &g->made[i], e);
			made_free(&g->made[i]);
		}
	}
	free(g->made);
	return rc ? -1 : 0;
}

static int put_map(struct lifting *g, const char *path, struct err *e)
{
	enum { SEGMENTS = 64 };
	struct elf_segment seg[SEGMENTS];
	struct elf *f = elf_file_open(path, -1, e);
	struct buf blob = {0};
	size_t i, n;
	int rc;

	if (!f)
		return -1;
	n = elf_file_exec_segments(f, seg, sizeof seg / sizeof *seg);
	elf_file_close(f);
	for (i = 0; i < n; i++)
		vec_push(&g->map.seg, seg[i]);
	sort_map(&g->map);
	g->map.id = lift_build_id(g->l);
	blockmap_encode(&g->map, &blob);
	rc = artifact_put_blockmap(g->a, blob.p, blob.n, e);
	buf_free(&blob);
	return rc;
}

static int put_meta(struct lifting *g, const char *path, struct err *e)
{
	struct art_meta meta = {.id = lift_build_id(g->l),
	    .name = path_base(path),
	    .producer = "morph " MORPH_VERSION,
	    .ld = ART_LIFTED,
	    .kind = lift_kind(g->l)};

	return artifact_put_meta(g->a, &meta, e);
}

static int by_bytes(const void *a, const void *b)
{
	const struct lift_reason *x = a, *y = b;

	return ORDER(y->bytes, x->bytes) ?: strcmp(x->text, y->text);
}

static int write_artifact(
    struct lifting *g, const char *path, unsigned jobs, const char *out, struct err *e)
{
	int rc;

	g->a = artifact_create(out, false, e);
	if (!g->a)
		return -1;
	rc = put_meta(g, path, e) || put_functions(g, jobs, e) || put_map(g, path, e);
	if (rc)
		artifact_close(g->a);
	vec_sort(&g->r->reason, by_bytes);
	return rc ? -1 : artifact_commit(g->a, e);
}

/* Separate debug information, where the distribution's packages put it; for names. */
static void find_debug(const struct buf *file, const char *path, struct buf *debug)
{
	char hex[BUILD_ID_HEX], name[sizeof "/usr/lib/debug/.build-id/xx/.debug" + BUILD_ID_HEX];
	struct elf *f = elf_mem_open(file->p, file->n, path, NULL);
	struct build_id id;

	if (!f)
		return;
	id = elf_file_build_id(f);
	build_id_hex(&id, hex);
	snprintf(name, sizeof name, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex,
	    id.n > 1 ? hex + 2 : "");
	if (file_read(name, 0, debug, NULL))
		debug->n = 0;
	elf_file_close(f);
}

int lift_module(const char *path, const char *addresses, unsigned jobs, const char *out,
    struct lift_result *r, struct err *e)
{
	struct lifting g = {.r = r};
	struct buf file = {0}, debug = {0};
	int rc = -1;

	*r = (struct lift_result){0};
	if (file_read(path, 0, &file, e))
		return -1;
	find_debug(&file, path, &debug);
	g.l = lift_open(&(struct lift_file){file.p, file.n, path},
	    debug.n ? &(struct lift_file){debug.p, debug.n, "debug information"} : NULL, e);
	if (g.l && (!addresses || !want_listed(g.l, addresses, e)))
		rc = write_artifact(&g, path, jobs, out, e);
	lift_close(g.l);
	blockmap_free(&g.map);
	buf_free(&file);
	buf_free(&debug);
	return rc;
}

void lift_result_free(struct lift_result *r)
{
	vec_free(&r->reason);
	arena_free(&r->mem);
}
