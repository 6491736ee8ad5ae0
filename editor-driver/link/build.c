#include "editor-driver/link/build.h"
#include "common/publish.h"
#include "common/sort.h"
#include "editor-driver/os/parallel.h"
#include "editor-driver/link/copyorder.h"
#include "editor-driver/link/runtime.h"
#include "editor-driver/plan/shift.h"
#include "editor-driver/proof/verify.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char SUFFIX[] = ".morph";

char *build_module(const char *artifact)
{
	char *path = realpath(artifact, NULL);
	size_t n = path ? strlen(path) : 0, k = strlen(SUFFIX);

	if (n > k && !strcmp(path + n - k, SUFFIX)) {
		path[n - k] = '\0';
		return path;
	}
	free(path);
	return NULL;
}

/* Bytes of a file, holes left out. */
static uint64_t disk_size(const char *path)
{
	enum { BLOCK = 512 };
	struct stat st;
	uint64_t taken;

	if (!path || stat(path, &st))
		return 0;
	taken = (uint64_t)st.st_blocks * BLOCK;
	return taken < (uint64_t)st.st_size ? taken : (uint64_t)st.st_size;
}

uint64_t build_room(const char *artifact, const char *original)
{
	static const uint64_t least = 64 << 20, packed = 64, linked = 2;

	return least + packed * disk_size(artifact) + linked * disk_size(original);
}

/* The artifact decides what is linked, and how; of several programs in its file, this one's. */
static int name_proof(struct build *b, const char *artifact, struct err *e)
{
	const struct build_id *program = &artifact_meta(b->plan->art)->id;
	struct cache_key file;
	struct buf k = {0};

	if (cache_key_file(b->cache, artifact, &file, e))
		return -1;
	buf_add(&k, &file, sizeof file);
	buf_add(&k, program->b, program->n);
	b->objects.artifact = cache_key(b->cache, k.p, k.n);
	k.n = 0;
	buf_str(&k, "proof\n");
	buf_add(&k, &b->objects.tools, sizeof b->objects.tools);
	buf_add(&k, &b->relinker.tools, sizeof b->relinker.tools);
	buf_add(&k, &b->objects.artifact, sizeof b->objects.artifact);
	buf_char(&k, b->relinker.strip ? 's' : '-');
	b->proof = cache_key(b->cache, k.p, k.n);
	buf_free(&k);
	return 0;
}

/* Before anything is unpacked. */
static int check_inputs(const struct build *b, struct err *e)
{
	const struct art_input *in;
	size_t i, n = artifact_inputs(b->plan->art, &in);
	uint64_t left = b->objects.room;

	for (i = 0; i < n; left -= in[i++].size)
		if (in[i].size > left)
			return err_set(e,
			    "the inputs of its link take more than %llu MiB, the bound for "
			    "a program of its size",
			    (unsigned long long)(b->objects.room >> 20));
	return 0;
}

int build_open(struct build *b, struct plan *plan, const char *artifact, const char *original,
    const char *dir, struct cache *cache, struct err *e)
{
	size_t i;

	*b = (struct build){.plan = plan, .dir = dir, .cache = cache, .original = original};
	if (!original)
		b->module = build_module(artifact);
	b->unchanged = xasprintf("%s/unchanged", dir);
	b->out = xasprintf("%s/" BUILD_OUT, dir);
	b->same = xcalloc(plan->ntu, sizeof *b->same);
	b->final = xcalloc(plan->ntu, sizeof *b->final);
	for (i = 0; i < plan->ntu; i++) {
		b->same[i] = xasprintf("%s/same/%zu.o", dir, i);
		b->final[i] =
		    plan->tu[i].edited ? xasprintf("%s/edited/%zu.o", dir, i) : xstrdup(b->same[i]);
	}
	if (objects_open(&b->objects, cache, e) || relink_open(&b->relinker, plan->art, e))
		return -1;
	if (original &&
	    verify_replaced(original, &artifact_meta(plan->art)->id, &b->relinker.strip, e))
		return -1;
	if (check_inputs(b, e) || name_proof(b, artifact, e))
		return -1;
	b->proven = cache_get(b->cache, CACHE_BUILDS, &b->proof, b->unchanged);
	return 0;
}

void build_close(struct build *b)
{
	size_t i;

	for (i = 0; b->plan && i < b->plan->ntu; i++) {
		free(b->same[i]);
		free(b->final[i]);
	}
	free(b->same);
	free(b->final);
	free(b->unchanged);
	free(b->out);
	free(b->module);
	objects_close(&b->objects);
	relink_close(&b->relinker);
	*b = (struct build){0};
}

/* ---- objects ---- */

static int same_object(struct build *b, size_t tu, bool *cached, struct err *e)
{
	const struct art_tu *t = b->plan->tu[tu].art;
	struct cache_key key;
	struct buf text = {0};
	int rc = 0;

	*cached = objects_identity_known(&b->objects, t, &key) &&
		  objects_cached(&b->objects, &key, b->same[tu]);
	if (*cached)
		return 0;
	rc = plan_identity_text(b->plan, tu, &text, e);
	if (!rc) {
		key = objects_text_key(&b->objects, t, text.p, text.n);
		*cached = objects_cached(&b->objects, &key, b->same[tu]);
	}
	if (!rc && !*cached)
		rc = objects_assemble(&b->objects, &key, t, text.p, text.n, b->same[tu], e);
	if (!rc)
		objects_identity_learn(&b->objects, t, &key);
	buf_free(&text);
	return rc;
}

/* A linker that does not sort takes sections as the object has them, and the object as they were
 * first named. */
static void name_sections(const struct plan_tu *t, struct buf *out)
{
	VEC(uint64_t) rank = {0};
	uint32_t i;

	for (i = 0; i < t->nfunc; i++)
		if (t->placement[i].edit)
			vec_push(&rank, t->placement[i].rank);
	vec_sort(&rank, order_u64);
	for (i = 0; i < rank.n; i++)
		buf_printf(
		    out, "\t.section .text.sorted.%08u,\"ax\",@progbits\n", (unsigned)rank.v[i]);
	buf_str(out, "\t.text\n");
	vec_free(&rank);
}

/* Never from the cache: the proof of the text does not cover an object made from it in another job,
 * and the comparison of bytes skips jumps. */
static int edited_object(struct build *b, size_t tu, struct err *e)
{
	struct plan_tu *t = &b->plan->tu[tu];
	struct buf text = {0};
	size_t skip;
	int rc;

	if (!relink_sorts(&b->relinker))
		name_sections(t, &text);
	skip = text.n;
	rc = plan_print(b->plan, t, &text, e);
	/* as takes nothing for a comment in a text that begins so. */
	if (text.n > skip && text.p[skip] != '#')
		skip = 0;
	if (!rc)
		rc = objects_assemble(
		    &b->objects, NULL, t->art, text.p + skip, text.n - skip, b->final[tu], e);
	buf_free(&text);
	return rc;
}

struct tally {
	struct build *b;
	atomic_size_t cached;
};

static int make_object(void *arg, size_t tu, struct err *e)
{
	struct tally *y = arg;
	bool edited = y->b->plan->tu[tu].edited, cached = false, other;

	if (edited && edited_object(y->b, tu, e))
		return -1;
	if ((!edited || !y->b->proven) && same_object(y->b, tu, edited ? &other : &cached, e))
		return -1;
	atomic_fetch_add(&y->cached, cached);
	return 0;
}

int build_objects(struct build *b, struct err *e)
{
	struct tally y = {b, 0};
	char *same = xasprintf("%s/same", b->dir), *edited = xasprintf("%s/edited", b->dir);
	int rc;

	rc = dir_make(same, 0700, e) || dir_make(edited, 0700, e);
	if (!rc)
		rc = parallel_for(b->plan->jobs, b->plan->ntu, make_object, &y, e);
	b->cached = y.cached;
	b->assembled = b->plan->ntu - y.cached;
	free(same);
	free(edited);
	return rc ? -1 : 0;
}

/* ---- links ---- */

static int repeat(struct build *b, struct err *e)
{
	static const struct relink_added none = {NULL, NULL};
	char id[2 + BUILD_ID_HEX] = "0x", *dir;
	int rc;

	build_id_hex(&artifact_meta(b->plan->art)->id, id + 2);
	dir = xasprintf("%s/repeat", b->dir);
	rc = relink_run(&b->relinker, b->plan->art, dir, b->same, &none, id, b->unchanged, e);
	free(dir);
	if (!rc)
		rc = verify_repeat(
		    b->unchanged, &b->plan->map, b->dir, b->module, &b->relinker.proof, e);
	if (rc)
		return err_wrap(e, "the artifact does not repeat the original build");
	cache_put(b->cache, CACHE_BUILDS, &b->proof, b->unchanged);
	b->proven = true;
	return 0;
}

/* What was cached has to be proven as if it were made now. */
static int kept_proof(struct build *b, struct err *e)
{
	if (!verify_repeat(b->unchanged, &b->plan->map, b->dir, b->module, &b->relinker.proof, e))
		return 0;
	return err_wrap(
	    e, "the cache %s holds another build for the original; remove it", b->cache->dir);
}

int build_prove(struct build *b, struct err *e)
{
	if (!b->proven ? repeat(b, e) : kept_proof(b, e))
		return -1;
	return b->original ? verify_untouched(b->original, b->unchanged, &b->relinker.proof, e) : 0;
}

/* Does code move, so that what stays must be kept at its offsets? */
static bool moves(const struct build *b)
{
	return b->plan->mode != PLAN_COUNT && plan_figures(b->plan).moved &&
	       relink_sorts(&b->relinker);
}

static int assemble_own(
    struct build *b, const char *name, const struct buf *text, const char *path, struct err *e)
{
	struct art_tu plain = {.name = name, .as_args = "--64"};
	struct cache_key key = objects_text_key(&b->objects, &plain, text->p, text->n);

	return objects_assemble(&b->objects, &key, &plain, text->p, text->n, path, e);
}

/* The object with the note that names the origin; of a counting build also the code that writes the
 * counts, else the alignment with which the rest of the code begins. */
static int make_last(struct build *b, const struct elf_section *property, uint32_t rest,
    const char *path, struct err *e)
{
	const struct art_meta *meta = artifact_meta(b->plan->art);
	bool counting = b->plan->mode == PLAN_COUNT;
	const char *entry = counting ? relink_bare_entry(b->plan->art) : NULL;
	struct buf text = {0};
	int rc;

	b->relinker.entry = entry;
	relink_property(property->data, property->size, &text);
	relink_note(&meta->id, counting, &text);
	if (moves(b))
		relink_filler(rest, SHIFT_LINE, &text);
	if (counting)
		runtime_text(&meta->id, meta->name, entry != NULL,
		    b->plan->counting.kind == COUNTERS_THREAD, &text);
	rc = assemble_own(b, "the origin's note", &text, path, e);
	buf_free(&text);
	return rc;
}

/* 1, or 0 when neither counters nor the order of copies need an object. */
static int make_first(struct build *b, struct elf *origin, const struct elf_section *property,
    const char *path, struct err *e)
{
	struct buf text = {0};
	size_t n;
	int rc = 0;

	relink_property(property->data, property->size, &text);
	n = text.n;
	if (b->plan->mode == PLAN_COUNT)
		runtime_first(&text);
	else if (moves(b) && relink_orders_copies(&b->relinker))
		rc = copyorder_text(origin, &text, e);
	if (!rc && text.n > n)
		rc = assemble_own(b, "the first object", &text, path, e) ? -1 : 1;
	buf_free(&text);
	return rc;
}

static int link_once(
    struct build *b, struct elf *origin, uint32_t rest, const char *folder, struct err *e)
{
	char *first = xasprintf("%s/%s.first.o", b->dir, folder);
	char *last = xasprintf("%s/%s.o", b->dir, folder);
	char *dir = xasprintf("%s/%s", b->dir, folder);
	struct relink_added added = {NULL, last};
	struct elf_section property = {0};
	int rc = elf_file_section(origin, ".note.gnu.property", &property, e);

	if (!rc)
		property = (struct elf_section){0};
	if (rc >= 0)
		rc = make_first(b, origin, &property, first, e);
	if (rc > 0)
		added.first = first;
	rc = rc < 0 || make_last(b, &property, rest, last, e) ||
	     relink_run(&b->relinker, b->plan->art, dir, b->final, &added, "sha1", b->out, e);
	free(first);
	free(last);
	free(dir);
	return rc ? -1 : 0;
}

/* By how much code that was not edited has moved. */
static int misplaced(const struct build *b, uint32_t *by, struct err *e)
{
	struct elf *f = elf_file_open(b->out, -1, e);
	struct blockmap made = {0};
	int rc = f ? blockmap_from_elf(f, &made, e) : -1;

	*by = rc ? 0 : shift_rest(b->plan, &made);
	blockmap_free(&made);
	elf_file_close(f);
	return rc;
}

int build_link(struct build *b, struct err *e)
{
	struct elf *origin = elf_file_open(b->unchanged, -1, e);
	uint32_t rest, by = 0;
	int rc = -1;

	if (!origin)
		return -1;
	/* C's start files are linked first: where the rest begins, the program does. */
	rest = elf_file_entry(origin) % SHIFT_LINE;
	rc = link_once(b, origin, rest, "link", e);
	if (!rc && moves(b))
		rc = misplaced(b, &by, e);
	if (!rc && by)
		rc = link_once(b, origin, (rest - by) % SHIFT_LINE, "again", e);
	elf_file_close(origin);
	return rc;
}
