#include "managerd/module_parts.h"

#include <stdlib.h>
#include <string.h>

/* How long a (path, build-id) without artifact is not looked at again. */
enum { LOOK_AGAIN_S = 30 };

static const char deleted[] = " (deleted)";

static bool refused_before(
    struct modules *ms, const char *path, const struct build_id *id, int64_t now_ms, uint64_t **at)
{
	struct buf key = {0};
	bool fresh;

	if (ms->refused.n > 4 * MODULES_MAX)
		htab_free(&ms->refused);
	buf_add(&key, path, strlen(path) + 1);
	buf_add(&key, id->b, id->n);
	*at = htab_put(&ms->refused, key.p, key.n, &fresh);
	buf_free(&key);
	return !fresh && **at > (uint64_t)(now_ms / 1000);
}

static int longest_silent(const void *a, const void *b)
{
	const struct module *const *x = a, *const *y = b;

	return (*x)->row.last_ms < (*y)->row.last_ms ? -1 : (*x)->row.last_ms > (*y)->row.last_ms;
}

/* Makes room: half of the files that never had an artifact go. */
static int forget_strangers(struct modules *ms, struct err *e)
{
	VEC(struct module *) stranger = {0};
	size_t i, n = 0;
	int rc = 0;

	for (i = 0; i < ms->module.n; i++)
		if (!ms->module.v[i]->row.artifact && !ms->module.v[i]->touched)
			vec_push(&stranger, ms->module.v[i]);
	if (stranger.n)
		qsort(stranger.v, stranger.n, sizeof *stranger.v, longest_silent);
	for (i = 0; rc == 0 && i < (stranger.n + 1) / 2; i++) {
		rc = store_drop_module(ms->store, stranger.v[i]->row.id, e);
		stranger.v[i]->row.id = 0;
	}
	vec_free(&stranger);
	htab_free(&ms->by_path);
	for (i = 0; i < ms->module.n; i++) {
		if (!ms->module.v[i]->row.id) {
			module_free(ms, ms->module.v[i]);
			continue;
		}
		ms->module.v[n++] = ms->module.v[i];
		*htab_put_str(&ms->by_path, ms->module.v[n - 1]->row.path, NULL) = n;
	}
	ms->module.n = n;
	return rc;
}

/*
 * An unknown build: only the file at the path can tell. Sets *build when it
 * is that file and has an artifact.
 */
static int look(struct modules *ms, const char *path, const struct build_id *id, int64_t now_ms,
    struct module **mod, struct build **build, struct err *e)
{
	struct module *m = *mod;
	struct discovery d = {0};
	struct err why;
	int same = discover_file(path, &d, &why) == 0 && build_id_equal(&d.id, id);

	discovery_free(&d);
	if (!same)
		return 0;
	if (!m) {
		if (ms->module.n >= MODULES_MAX && forget_strangers(ms, e))
			return -1;
		if (ms->module.n >= MODULES_MAX)
			return 0;
		m = *mod = module_add(ms, &(struct store_module){.id = module_id(path),
					      .path = path,
					      .state = MODULE_NO_ARTIFACT,
					      .first_ms = now_ms,
					      .last_ms = now_ms});
	}
	if (module_examine(ms, m, now_ms, EVENT_REPLACED, e))
		return -1;
	if (m->row.state == MODULE_NO_ARTIFACT || m->row.state == MODULE_GONE)
		return 0;
	return module_load(ms, m, e) || module_load_build(ms, m, id, build, e) ? -1 : 0;
}

/* Absolute, and the one way to write it: so the kernel names files. */
static bool plain_path(const char *path)
{
	const char *p;

	for (p = path; *p == '/'; p += strcspn(p, "/")) {
		p++;
		if (!*p || *p == '/' || !strncmp(p, "./", 2) || !strncmp(p, "../", 3))
			return false;
	}
	return p != path && !*p;
}

enum found modules_find(struct modules *ms, const char *path, const struct build_id *id,
    int64_t now_ms, struct module **mod, struct build **build, struct err *e)
{
	const struct conf_module *policy;
	char *clean = xstrdup(path);
	size_t n = strlen(clean);
	enum found rc = FOUND_OUTSIDE;
	uint64_t *again;
	struct module *m;

	*mod = NULL;
	*build = NULL;
	if (n > sizeof deleted - 1 && !strcmp(clean + n - (sizeof deleted - 1), deleted))
		clean[n - (sizeof deleted - 1)] = '\0';
	policy = conf_module_for(ms->conf, clean);
	if (!plain_path(clean) || (policy && policy->action == CONF_IGNORE))
		goto out;
	m = modules_of_path(ms, clean);
	if (m && (m->row.state != MODULE_NO_ARTIFACT || m->row.artifact) &&
	    (module_load(ms, m, e) || module_load_build(ms, m, id, build, e)))
		goto fail;
	if (!*build && !refused_before(ms, clean, id, now_ms, &again)) {
		*again = (uint64_t)(now_ms / 1000) + LOOK_AGAIN_S;
		if (look(ms, clean, id, now_ms, &m, build, e))
			goto fail;
	}
	*mod = m;
	if (*build)
		rc = FOUND_MAPPED;
	else if (m && m->row.state != MODULE_NO_ARTIFACT)
		rc = FOUND_STALE;
	goto out;
fail:
	rc = FOUND_ERROR;
out:
	free(clean);
	return rc;
}
