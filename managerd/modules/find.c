#include "common/publish.h"
#include "managerd/modules/module.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

/* A (path, build-id) that is of no use is inspected again after so long, then
 * after twice as long each time. */
enum { INSPECT_AGAIN_S = 30, INSPECT_AGAIN_MAX_S = 3600, DOUBLINGS_BITS = 8 };

static const char deleted[] = " (deleted)";

/* ---- what was inspected in vain: time in s << 8 | doublings ---- */

/* Paths may be long, and there may be many; and nobody is to have another's inspections put off. */
static struct hash128 unfit_key(const char *path, const struct build_id *id)
{
	crypto_generichash_state s;
	struct hash128 key;

	crypto_generichash_init(&s, NULL, 0, sizeof key.b);
	crypto_generichash_update(&s, (const uint8_t *)path, strlen(path) + 1);
	crypto_generichash_update(&s, id->b, id->n);
	crypto_generichash_final(&s, key.b, sizeof key.b);
	return key;
}

static enum wanted inspection_wanted(
    const struct modules *ms, const char *path, const struct build_id *id, int64_t now_ms)
{
	struct hash128 key = unfit_key(path, id);
	uint64_t *at = htab_get(&ms->unfit, key.b, sizeof key.b);

	if (!at)
		return INSPECTION_FULL;
	return *at >> DOUBLINGS_BITS > (uint64_t)(now_ms / 1000) ? INSPECTION_NOT
								 : INSPECTION_SHALLOW;
}

void modules_note_unfit(
    struct modules *ms, const char *path, const struct build_id *id, int64_t now_ms)
{
	struct hash128 key = unfit_key(path, id);
	uint64_t *at, doublings, wait;
	bool fresh;

	if (ms->unfit.n > 4 * MODULES_MAX)
		htab_free(&ms->unfit);
	at = htab_put(&ms->unfit, key.b, sizeof key.b, &fresh);
	doublings = fresh ? 0 : *at & ((1 << DOUBLINGS_BITS) - 1);
	wait = INSPECT_AGAIN_S << doublings;
	if (wait < INSPECT_AGAIN_MAX_S)
		doublings++;
	else
		wait = INSPECT_AGAIN_MAX_S;
	*at = ((uint64_t)(now_ms / 1000) + wait) << DOUBLINGS_BITS | doublings;
}

void modules_judge_again(struct modules *ms)
{
	struct module *m;
	size_t i;

	htab_free(&ms->unfit);
	ms->policy_ns = uv_hrtime();
	for (i = 0; i < ms->module.n; i++) {
		m = ms->module.v[i];
		m->file.judged = false;
		m->schedule.decided_ms = 0;
		if (m->schedule.inspection == INSPECTION_DONE)
			m->schedule.inspection = INSPECTION_NONE;
	}
}

/* ---- which build ---- */

char *module_path(const struct modules *ms, const char *path)
{
	const struct conf_module *policy;
	char *clean = xstrdup(path);
	size_t n = strlen(clean);

	if (n > sizeof deleted - 1 && !strcmp(clean + n - (sizeof deleted - 1), deleted))
		clean[n - (sizeof deleted - 1)] = '\0';
	policy = conf_module_for(ms->conf, clean);
	if (path_is_plain(clean) && !(policy && policy->action == CONF_IGNORE))
		return clean;
	free(clean);
	return NULL;
}

/* Batches may name more than there is room for; what they touched stays until they are
 * committed. */
static bool room_to_load(struct modules *ms, const struct module *m)
{
	if (!m->memory.bytes && ms->memory.bytes > 2 * (size_t)MODULES_MEMORY)
		modules_trim(ms, m);
	return m->memory.bytes || ms->memory.bytes <= 2 * (size_t)MODULES_MEMORY;
}

enum found modules_find(struct modules *ms, const char *path, const struct build_id *id,
    int64_t now_ms, struct module **mod, struct build **build, enum wanted *inspection,
    struct err *e)
{
	char *clean = module_path(ms, path);
	enum found rc = FOUND_OUTSIDE;
	struct module *m;
	int loading = 0; /* or it cannot be now */

	*mod = NULL;
	*build = NULL;
	if (inspection)
		*inspection = INSPECTION_NOT;
	if (!clean)
		return FOUND_OUTSIDE;
	m = *mod = modules_of_path(ms, clean);
	if (m && (m->row.state != MODULE_NO_ARTIFACT || m->row.artifact) &&
	    !(loading = !room_to_load(ms, m)) &&
	    (module_load(ms, m, e) || (loading = module_load_build(ms, m, id, build, e)) < 0))
		rc = FOUND_ERROR;
	else if (loading)
		rc = FOUND_LOADING;
	else if (*build)
		rc = FOUND_MAPPED;
	else if (m && m->row.state != MODULE_NO_ARTIFACT)
		rc = FOUND_STALE;
	if (inspection && rc >= 0 && !loading && !*build)
		*inspection = inspection_wanted(ms, clean, id, now_ms);
	free(clean);
	return rc;
}
