#include "editor-driver/build.h"
#include "common/publish.h"
#include "editor-driver/parallel.h"
#include "editor-driver/runtime.h"
#include "editor-driver/shift.h"
#include "editor-driver/verify.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const char SUFFIX[] = ".morph";

/* NAME for NAME.morph, links to the artifact followed. */
static char *module_of(const char *artifact)
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

/* Names the proof: this link, of these texts, by these tools, with symbols or
 * without. */
static struct hash128 proof_key(const struct build *b)
{
	const char *const *arg;
	size_t i, n = artifact_recipe(b->plan->art, &arg);
	struct buf k = {0};
	struct hash128 h;

	buf_add(&k, &b->objects.tools, sizeof b->objects.tools);
	buf_add(&k, &b->relinker.tools, sizeof b->relinker.tools);
	buf_add(&k, &artifact_meta(b->plan->art)->id, sizeof(struct build_id));
	for (i = 0; i < b->plan->ntu; i++) {
		buf_add(&k, &b->plan->tu[i].art->hash, sizeof(struct hash128));
		buf_printf(&k, "%s\n", b->plan->tu[i].art->as_args);
	}
	for (i = 0; i < n; i++)
		buf_printf(&k, "%s\n", arg[i]);
	buf_char(&k, b->relinker.strip ? 's' : '-');
	h = hash_bytes(k.p, k.n);
	buf_free(&k);
	return h;
}

int build_open(struct build *b, struct plan *plan, const char *artifact, const char *original,
    const char *dir, struct cache *cache, struct err *e)
{
	struct hash128 proof;
	size_t i;

	*b = (struct build){
	    .plan = plan, .dir = dir, .cache = cache, .original = original};
	if (!original)
		b->module = module_of(artifact);
	b->unchanged = xasprintf("%s/unchanged", dir);
	b->out = xasprintf("%s/out", dir);
	b->same = xcalloc(plan->ntu, sizeof *b->same);
	b->final = xcalloc(plan->ntu, sizeof *b->final);
	for (i = 0; i < plan->ntu; i++) {
		b->same[i] = xasprintf("%s/same/%zu.o", dir, i);
		b->final[i] = plan->tu[i].edited ? xasprintf("%s/edited/%zu.o", dir, i)
						 : xstrdup(b->same[i]);
	}
	if (objects_open(&b->objects, cache, e) || relink_open(&b->relinker, plan->art, e))
		return -1;
	if (original && verify_replaced(original, &artifact_meta(plan->art)->id,
			    &b->relinker.strip, e))
		return -1;
	proof = proof_key(b);
	b->proven = cache_get(b->cache, "builds", &proof, b->unchanged);
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
	struct hash128 key = objects_identity_key(&b->objects, t);
	struct buf text = {0};
	int rc = 0;

	*cached = objects_cached(&b->objects, &key, b->same[tu]);
	if (!*cached) {
		rc = plan_identity_text(b->plan, tu, &text, e);
		if (!rc)
			rc = objects_assemble(
			    &b->objects, &key, t, text.p, text.n, b->same[tu], e);
	}
	buf_free(&text);
	return rc;
}

static int edited_object(struct build *b, size_t tu, bool *cached, struct err *e)
{
	const struct plan_tu *t = &b->plan->tu[tu];
	struct hash128 key = objects_text_key(&b->objects, t->art, t->out.p, t->out.n);

	*cached = objects_cached(&b->objects, &key, b->final[tu]);
	return *cached ? 0
		       : objects_assemble(&b->objects, &key, t->art, t->out.p, t->out.n,
			     b->final[tu], e);
}

struct tally {
	struct build *b;
	atomic_size_t cached;
};

static int make_object(void *arg, size_t tu, struct err *e)
{
	struct tally *y = arg;
	bool edited = y->b->plan->tu[tu].edited, cached = false, other;

	if (edited && edited_object(y->b, tu, &cached, e))
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
	char id[2 + BUILD_ID_HEX] = "0x", *dir;
	struct hash128 proof;
	int rc;

	build_id_hex(&artifact_meta(b->plan->art)->id, id + 2);
	dir = xasprintf("%s/repeat", b->dir);
	rc = relink_run(
	    &b->relinker, b->plan->art, dir, b->same, NULL, id, b->unchanged, e);
	free(dir);
	if (!rc)
		rc = verify_repeat(b->unchanged, &b->plan->map, b->dir, b->module, e);
	if (rc)
		return err_wrap(e, "the artifact does not repeat the original build");
	proof = proof_key(b);
	cache_put(b->cache, "builds", &proof, b->unchanged);
	b->proven = true;
	return 0;
}

int build_prove(struct build *b, struct err *e)
{
	if (!b->proven && repeat(b, e))
		return -1;
	return b->original ? verify_untouched(b->original, b->unchanged, e) : 0;
}

/* Does code leave its place, and what stays keep its own? */
static bool moves(const struct build *b)
{
	return b->plan->mode != PLAN_COUNT && plan_moved(b->plan);
}

/* The object with the note that names the origin; of a counting build also what
 * writes the counts, else what the rest of the code begins behind. */
static int make_note(
    struct build *b, struct elf *origin, uint32_t rest, const char *path, struct err *e)
{
	static const struct art_tu plain = {.name = "the origin's note", .as_args = "--64"};
	const struct art_meta *meta = artifact_meta(b->plan->art);
	const struct build_id *id = &meta->id;
	bool counting = b->plan->mode == PLAN_COUNT;
	const char *entry = counting ? relink_bare_entry(b->plan->art) : NULL;
	struct elf_section s = {0};
	struct hash128 key;
	struct buf text = {0};
	int rc = elf_file_section(origin, ".note.gnu.property", &s, e);

	b->relinker.entry = entry;
	if (rc >= 0) {
		relink_note(id, counting, s.data, rc ? s.size : 0, &text);
		if (moves(b))
			relink_filler(rest, SHIFT_LINE, &text);
		if (!counting && b->plan->transforms & LAYOUT_HUGE)
			relink_huge(&text);
		if (counting)
			runtime_text(id, meta->name, entry != NULL,
			    b->plan->counting.kind == COUNTERS_THREAD, &text);
		key = objects_text_key(&b->objects, &plain, text.p, text.n);
		rc = objects_assemble(&b->objects, &key, &plain, text.p, text.n, path, e);
	}
	buf_free(&text);
	return rc;
}

static int link_once(
    struct build *b, struct elf *origin, uint32_t rest, const char *folder, struct err *e)
{
	char *note = xasprintf("%s/%s.o", b->dir, folder);
	char *dir = xasprintf("%s/%s", b->dir, folder);
	int rc;

	rc = make_note(b, origin, rest, note, e);
	if (!rc)
		rc = relink_run(&b->relinker, b->plan->art, dir, b->final, note, "sha1", b->out, e);
	free(note);
	free(dir);
	return rc;
}

/* How far what was not edited lies behind its place. */
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

int build_publish(struct build *b, const char *path, struct err *e)
{
	struct buf bytes = {0};
	int rc;

	rc = file_read(b->out, 0, &bytes, e);
	if (!rc)
		rc = publish_bytes(path, bytes.p, bytes.n, 0755, e);
	buf_free(&bytes);
	return rc;
}
