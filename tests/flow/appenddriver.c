/*
 * Lifted artifacts from the command line, for flow tests:
 *	appenddriver label TEXT.s OUT.s              the text with a block map of its code
 *	appenddriver artifact PROGRAM FOLDER OUT     an artifact of FOLDER/0.s, 1.s, … (lifted.py);
 *the map of PROGRAM, linked from labelled text, has these as the functions of one unit appenddriver
 *append ARTIFACT ORIGINAL SEED OUT FOLDER    code added by a random plan
 */
#include "common/artifact/artifact.h"
#include "common/log.h"
#include "common/publish.h"
#include "editor-driver/append/append.h"

#include <stdio.h>
#include <string.h>

struct units {
	VEC(struct hash128) hash;
};

static int label(const char *path, const char *out, struct err *e)
{
	struct buf text = {0}, labelled = {0};
	struct arena mem = {0};
	struct unit *u;
	int rc = file_read(path, 0, &text, e);

	u = rc ? NULL : unit_parse(&mem, text.p, text.n, e);
	if (u) {
		unit_emit(u, NULL, 1, &labelled);
		rc = publish_bytes(out, labelled.p, labelled.n, 0644, e);
		unit_free(u);
	}
	arena_free(&mem);
	buf_free(&text);
	buf_free(&labelled);
	return u ? rc : -1;
}

static int put_func(struct artifact *a, uint32_t id, const struct unit_func *f, struct err *e)
{
	struct art_func row = {.tu = id,
	    .name = f->name,
	    .key = f->key,
	    .nblock = f->cfg.nblock,
	    .opaque = f->opaque ? f->opaque : ""};
	uint32_t *insns = xcalloc(f->cfg.nblock, sizeof *insns), i;
	int rc;

	for (i = 0; i < f->cfg.nblock; i++)
		insns[i] = f->cfg.block[i].insns;
	row.insns = insns;
	rc = artifact_put_func(a, &row, e);
	free(insns);
	return rc;
}

static int put_unit(struct artifact *a, struct units *u, const struct buf *text, struct err *e)
{
	struct art_tu tu = {
	    .id = (uint32_t)u->hash.n, .hash = hash_bytes(text->p, text->n), .as_args = "--64"};
	struct arena mem = {0};
	struct unit *unit = unit_parse(&mem, text->p, text->n, e);
	int rc = -1;

	if (unit && unit->nfunc == 1) {
		tu.name = unit->func[0].name;
		rc = artifact_put_tu(a, &tu, text->p, text->n, e) ||
		     put_func(a, tu.id, &unit->func[0], e);
		if (unit->func[0].opaque)
			printf("%s: %s\n", tu.name, unit->func[0].opaque);
		vec_push(&u->hash, tu.hash);
	} else if (unit) {
		err_set(e, "unit %u has %u functions", tu.id, unit->nfunc);
	}
	if (unit)
		unit_free(unit);
	arena_free(&mem);
	return rc;
}

static int put_units(struct artifact *a, const char *folder, struct units *u, struct err *e)
{
	struct buf text = {0};
	char *path;
	int rc = 0;

	while (!rc) {
		path = xasprintf("%s/%zu.s", folder, u->hash.n);
		text.n = 0;
		rc = file_read(path, 0, &text, NULL);
		free(path);
		if (rc)
			break;
		rc = put_unit(a, u, &text, e);
		if (rc)
			return -1;
	}
	buf_free(&text);
	return u->hash.n ? 0 : err_set(e, "%s: no units", folder);
}

static int put_map(struct artifact *a, struct blockmap *m, const struct units *u, struct err *e)
{
	struct buf blob = {0};
	size_t i;
	int rc;

	for (i = 0; i < m->frag.n; i++) {
		if (m->frag.v[i].func >= u->hash.n)
			return err_set(e, "function %u has no unit", m->frag.v[i].func);
		m->frag.v[i].tu = hash_short(&u->hash.v[m->frag.v[i].func]);
		m->frag.v[i].func = 0;
	}
	blockmap_encode(m, &blob);
	rc = artifact_put_blockmap(a, blob.p, blob.n, e);
	buf_free(&blob);
	return rc;
}

static int make_artifact(const char *program, const char *folder, const char *out, struct err *e)
{
	struct elf *f = elf_file_open(program, -1, e);
	struct artifact *a = f ? artifact_create(out, false, e) : NULL;
	struct blockmap m = {0};
	struct units u = {0};
	struct art_meta meta = {.name = path_base(program), .producer = "morph", .ld = ART_LIFTED};
	int rc = -1;

	if (a && !blockmap_from_elf(f, &m, e)) {
		meta.id = m.id;
		meta.kind = elf_file_kind(f);
		rc = artifact_put_meta(a, &meta, e) || put_units(a, folder, &u, e) ||
		     put_map(a, &m, &u, e) || artifact_commit(a, e);
	}
	blockmap_free(&m);
	vec_free(&u.hash);
	elf_file_close(f);
	return rc;
}

static int append(const char *artifact, const char *original, unsigned long seed, const char *out,
    const char *dir, struct err *e)
{
	struct artifact *a = artifact_open(artifact, e);
	struct append_figures n = {0};
	struct cache none = {.fd = -1};
	struct plan p = {0};
	int rc = -1;

	if (!a)
		return -1;
	if (!plan_begin(&p, a, seed ? PLAN_RANDOM : PLAN_IDENTITY, seed, NULL,
		(struct plan_omit){0}, 2, e) &&
	    !plan_parse(&p, e)) {
		plan_infer(&p);
		plan_layout(&p);
		plan_order(&p);
		rc = append_make(&p, original, dir, &none, out, &n, e);
		printf("%zu of %zu functions moved, %llu bytes\n", n.assembled, p.nfunc,
		    (unsigned long long)n.added);
	}
	plan_free(&p);
	artifact_close(a);
	return rc;
}

int main(int argc, char **argv)
{
	struct err e = {""};
	int rc = err_set(&e, "usage");

	log_init("appenddriver", LOG_LVL_INFO);
	if (argc == 4 && !strcmp(argv[1], "label"))
		rc = label(argv[2], argv[3], &e);
	else if (argc == 5 && !strcmp(argv[1], "artifact"))
		rc = make_artifact(argv[2], argv[3], argv[4], &e);
	else if (argc == 7 && !strcmp(argv[1], "append"))
		rc = append(argv[2], argv[3], strtoul(argv[4], NULL, 10), argv[5], argv[6], &e);
	if (rc)
		log_error("%s", e.text);
	return rc ? 1 : 0;
}
