/*
 * Samples by the basic blocks of an artifact, as morph-edit --samples reads them: a comment that
 *says how many of those in the program's file these are, and for each block with any
 *
 *	NAME#KEY BLOCK N
 *
 * Of the original build, where the artifact says where its blocks lie.
 */
#include "common/artifact/artifact.h"
#include "common/elf/blockmap.h"
#include "common/profiletext/profiletext.h"
#include "morphctl/report/out/formats.h"

#include <stdlib.h>

struct blocks {
	struct artifact *art;
	struct blockmap map;
	struct htab func;   /* unit and ordinal, as the map has them -> index of a function */
	uint64_t *n;        /* samples of each block of the map */
	uint64_t all, here; /* in the file, in its blocks */
};

struct func_name {
	uint64_t tu, ord;
};

static int open_artifact(struct blocks *b, const char *path, struct err *e)
{
	struct buf blob = {0};
	int rc;

	b->art = path ? artifact_open(path, e)
		      : (err_set(e, "blocks are of an artifact, and none was named"), NULL);
	if (!b->art)
		return -1;
	rc = artifact_blockmap(b->art, &blob, e);
	if (!rc)
		rc = blockmap_decode(blob.p, blob.n, &b->map, e);
	buf_free(&blob);
	return rc;
}

static void index_functions(struct blocks *b)
{
	const struct art_func *f;
	const struct art_tu *tu;
	size_t i, n = artifact_funcs(b->art, &f);
	struct func_name name;

	artifact_tus(b->art, &tu);
	for (i = 0; i < n; i++) {
		name = (struct func_name){hash_short(&tu[f[i].tu].hash), f[i].ord};
		*htab_put(&b->func, &name, sizeof name, NULL) = i;
	}
}

static const struct bm_block *find_block(const struct blockmap *m, uint64_t offset)
{
	const struct elf_segment *s;

	for (s = m->seg.v; s < m->seg.v + m->seg.n; s++)
		if (offset - s->offset < s->filesz)
			return blockmap_find(m, offset - s->offset + s->vaddr);
	return NULL;
}

static void count_samples(struct blocks *b, const struct recording *r)
{
	const struct build_id *id = &artifact_meta(b->art)->id;
	const struct recording_location *at;
	const struct recording_sample *s;
	const struct bm_block *block;

	for (s = r->sample.v; s < r->sample.v + r->sample.n; s++) {
		if (s->stack == RECORDING_NONE)
			continue;
		at = &r->location.v[r->stack.v[s->stack].location];
		if (at->file == RECORDING_NONE || !build_id_equal(&r->file.v[at->file].id, id))
			continue;
		b->all += s->n;
		block = find_block(&b->map, at->offset);
		if (!block)
			continue;
		b->here += s->n;
		b->n[block - b->map.block.v] += s->n;
	}
}

/* Of a block whose function the artifact does not have nothing can be said. */
static void write_block(
    const struct blocks *b, const struct art_func *func, size_t block, struct buf *out)
{
	const struct bm_block *at = &b->map.block.v[block];
	const struct bm_frag *f = &b->map.frag.v[at->frag];
	struct func_name name = {f->tu, f->func};
	uint64_t *i = htab_get(&b->func, &name, sizeof name);
	char hex[HASH_HEX];

	if (i && at->id < func[*i].nblock)
		profiletext_write(out, COUNTS_SAMPLES,
		    &(struct profiletext_line){
			.func = profiletext_name(func[*i].name, &func[*i].key, hex),
			.block = at->id,
			.value = 1000 * b->n[block]});
}

int write_blocks(
    const struct recording *r, const struct out_options *o, struct buf *out, struct err *e)
{
	const struct art_func *func;
	struct blocks b = {0};
	size_t i;
	int rc = open_artifact(&b, o->artifact, e);

	if (!rc) {
		b.n = xcalloc(b.map.block.n, sizeof *b.n);
		index_functions(&b);
		count_samples(&b, r);
		if (!b.here)
			rc = err_set(e,
			    "%s: the profile has no samples in blocks of this build; "
			    "`morphctl report` says where they are, in a library perhaps",
			    o->artifact);
	}
	if (!rc) {
		artifact_funcs(b.art, &func);
		buf_printf(out, "# %llu of %llu samples are in blocks\n",
		    (unsigned long long)b.here, (unsigned long long)b.all);
		for (i = 0; i < b.map.block.n; i++)
			if (b.n[i])
				write_block(&b, func, i, out);
	}
	free(b.n);
	htab_free(&b.func);
	blockmap_free(&b.map);
	artifact_close(b.art);
	return rc;
}
