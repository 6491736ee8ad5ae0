#include "editor-driver/link/objects.h"
#include "common/command/asopt.h"
#include "common/mem.h"
#include "common/publish.h"
#include "common/spawn.h"
#include "editor-driver/os/run.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

int objects_open(struct objects *o, struct cache *cache, struct err *e)
{
	struct rlimit file;

	*o = (struct objects){.cache = cache, .as = tool_find("as", e)};
	if (!o->as || tool_version(o->as, &o->tools, e))
		return -1;
	if (getrlimit(RLIMIT_FSIZE, &file))
		return err_sys(e, "getrlimit");
	o->room = file.rlim_cur;
	return 0;
}

void objects_close(struct objects *o)
{
	free(o->as);
	*o = (struct objects){0};
}

enum { OF_TEXT = -1 };

/* how: OF_TEXT, or which unit of the artifact. */
static struct cache_key key(
    const struct objects *o, const struct art_tu *tu, int64_t how, const struct cache_key *of)
{
	struct buf b = {0};
	struct cache_key k;

	buf_add(&b, &o->tools, sizeof o->tools);
	buf_add(&b, of, sizeof *of);
	buf_printf(&b, "%lld\n%s", (long long)how, tu->as_args);
	k = cache_key(o->cache, b.p, b.n);
	buf_free(&b);
	return k;
}

struct cache_key objects_text_key(
    const struct objects *o, const struct art_tu *tu, const void *text, size_t n)
{
	struct cache_key of = cache_key(o->cache, text, n);

	return key(o, tu, OF_TEXT, &of);
}

bool objects_identity_known(
    const struct objects *o, const struct art_tu *tu, struct cache_key *text)
{
	struct cache_key k = key(o, tu, tu->id, &o->artifact);
	struct buf b = {0};
	bool known = cache_read(o->cache, CACHE_TEXTS, &k, &b) && b.n == sizeof *text;

	if (known)
		memcpy(text, b.p, sizeof *text);
	buf_free(&b);
	return known;
}

void objects_identity_learn(
    const struct objects *o, const struct art_tu *tu, const struct cache_key *text)
{
	struct cache_key k = key(o, tu, tu->id, &o->artifact);

	cache_write(o->cache, CACHE_TEXTS, &k, text, sizeof *text);
}

bool objects_cached(const struct objects *o, const struct cache_key *key, const char *path)
{
	return cache_get(o->cache, CACHE_OBJECTS, key, path);
}

/* Of a file that was made. */
static int take_room(struct objects *o, const char *path, struct err *e)
{
	struct stat st;
	uint64_t n;

	if (stat(path, &st))
		return err_sys(e, "%s", path);
	n = (uint64_t)st.st_size;
	if (n <= o->room && atomic_fetch_add(&o->used, n) <= o->room - n)
		return 0;
	return err_set(e,
	    "the texts and objects take more than %llu MiB, the bound for a program "
	    "of its size",
	    (unsigned long long)(o->room >> 20));
}

/* The text goes in as standard input, from "/": neither the name nor the path of a job's file can
 * reach the object. */
static int run_as(const struct objects *o, const struct art_tu *tu, const char *source,
    const char *path, struct err *e)
{
	VEC(const char *) argv = {0};
	char *args = xstrdup(tu->as_args), *save = NULL, *arg;
	int fd, rc = -1;

	vec_push(&argv, o->as);
	for (arg = strtok_r(args, "\n", &save); arg; arg = strtok_r(NULL, "\n", &save))
		vec_push(&argv, arg);
	vec_push(&argv, "-o");
	vec_push(&argv, path);
	vec_push(&argv, "--");
	vec_push(&argv, NULL);
	fd = open(source, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		err_sys(e, "%s", source);
	} else {
		rc = run_tool(&(struct spawn){.argv = argv.v, .dir = "/", .in = fd}, "as", e);
		close(fd);
	}
	vec_free(&argv);
	free(args);
	return rc;
}

int objects_assemble(struct objects *o, const struct cache_key *key, const struct art_tu *tu,
    const void *text, size_t n, const char *path, struct err *e)
{
	char *source;
	int rc;

	if (as_text_check(text, n, e))
		return err_wrap(e, "%s", tu->name);
	source = xasprintf("%s.s", path);
	rc = file_write(source, O_TRUNC, text, n, e);
	if (!rc &&
	    (take_room(o, source, e) || run_as(o, tu, source, path, e) || take_room(o, path, e)))
		rc = err_wrap(e, "assembling %s", tu->name);
	if (!rc && key)
		cache_put(o->cache, CACHE_OBJECTS, key, path);
	free(source);
	return rc;
}
