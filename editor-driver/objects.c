#include "editor-driver/objects.h"
#include "common/mem.h"
#include "common/publish.h"
#include "common/spawn.h"
#include "editor-driver/run.h"
#include "editor-driver/tools.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int objects_open(struct objects *o, struct cache *cache, struct err *e)
{
	*o = (struct objects){.cache = cache, .as = tool_find("as", e)};
	return o->as ? tool_version(o->as, &o->tools, e) : -1;
}

void objects_close(struct objects *o)
{
	free(o->as);
	*o = (struct objects){0};
}

static struct hash128 key(const struct objects *o, const struct art_tu *tu, const char *how,
    const struct hash128 *text)
{
	struct buf b = {0};
	struct hash128 h;

	buf_add(&b, &o->tools, sizeof o->tools);
	buf_add(&b, text, sizeof *text);
	buf_printf(&b, "%s\n%s", how, tu->as_args);
	h = hash_bytes(b.p, b.n);
	buf_free(&b);
	return h;
}

struct hash128 objects_identity_key(const struct objects *o, const struct art_tu *tu)
{
	return key(o, tu, "identity", &tu->hash);
}

struct hash128 objects_text_key(
    const struct objects *o, const struct art_tu *tu, const void *text, size_t n)
{
	struct hash128 h = hash_bytes(text, n);

	return key(o, tu, "text", &h);
}

bool objects_cached(const struct objects *o, const struct hash128 *key, const char *path)
{
	return cache_get(o->cache, "objects", key, path);
}

/* The text goes in as standard input, from "/": neither the name nor the place
 * of a job's file can reach the object. */
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

int objects_assemble(const struct objects *o, const struct hash128 *key, const struct art_tu *tu,
    const void *text, size_t n, const char *path, struct err *e)
{
	char *source = xasprintf("%s.s", path);
	int fd, rc = -1;

	fd = open(source, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || file_write_all(fd, text, n))
		err_sys(e, "%s", source);
	else
		rc = 0;
	if (fd >= 0)
		close(fd);
	if (!rc && run_as(o, tu, source, path, e))
		rc = err_wrap(e, "assembling %s", tu->name);
	if (!rc)
		cache_put(o->cache, "objects", key, path);
	free(source);
	return rc;
}
