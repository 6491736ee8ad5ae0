#include "managerd/api/routes.h"
#include "managerd/cycle/cycle.h"
#include "managerd/api/json.h"

#include <math.h>
#include <string.h>

enum { FUNCTIONS_DEFAULT = 20 };

enum http_verdict api_get_status(struct call *c)
{
	struct manager_status s;
	struct store_module *m;
	struct err e;

	if (manager_status(c->api->m, &s, &e) < 0)
		return api_internal(c, &e);
	return api_sync(c,
	    json_status(&s, s.working_step && api_visible_module(c, s.working_module, &m, &e) > 0));
}

static int module_json(struct call *c, const struct store_module *m, json_t **out, struct err *e)
{
	struct store_decision last;
	struct manager_legacy legacy;
	struct manager_trial trial;
	int have = store_last_decision(manager_store(c->api->m), m->id, &c->rq->mem, &last, e);

	if (have < 0)
		return -1;
	*out = json_module(m, manager_samples(c->api->m, m->id),
	    manager_can_rollback(c->api->m, m->id),
	    manager_trial(c->api->m, m->id, &trial) ? &trial : NULL,
	    manager_legacy(c->api->m, m->id, &legacy) ? &legacy : NULL, have ? &last : NULL);
	return 0;
}

enum http_verdict api_get_modules(struct call *c)
{
	const char *path = api_param(c, "path");
	json_t *list, *j;
	struct store_module *m;
	uint64_t limit = API_LIST_DEFAULT;
	struct err e;
	size_t n, i;

	if (api_param_uint(c, "limit", 1, API_LIST_MAX, &limit) < 0)
		return HTTP_REPLY;
	if (store_modules(manager_store(c->api->m), 0, &c->rq->mem, &m, &n, &e) < 0)
		return api_internal(c, &e);
	list = json_array();
	for (i = 0; i < n && json_array_size(list) < limit; i++) {
		if (!api_may_see(c, m[i].uid) || (path && strcmp(path, m[i].path) != 0))
			continue;
		if (module_json(c, &m[i], &j, &e) < 0) {
			json_decref(list);
			return api_internal(c, &e);
		}
		json_array_append_new(list, j);
	}
	return api_sync(c, list);
}

enum http_verdict api_get_module(struct call *c)
{
	struct err e;
	json_t *j;

	return module_json(c, c->module, &j, &e) < 0 ? api_internal(c, &e) : api_sync(c, j);
}

enum http_verdict api_get_profile(struct call *c)
{
	uint64_t functions = FUNCTIONS_DEFAULT, blocks = 0;
	struct profile p = {0};
	size_t total;
	struct err e;
	json_t *j;

	if (api_param_uint(c, "functions", 1, API_LIST_MAX, &functions) < 0 ||
	    api_param_uint(c, "blocks", 0, API_LIST_MAX, &blocks) < 0)
		return HTTP_REPLY;
	if (manager_profile(c->api->m, c->module->id, &p, &total, &e) < 0)
		return api_internal(c, &e);
	j = json_profile(c->module, &p, total, manager_decay(c->api->m), functions, blocks);
	profile_free(&p);
	return api_sync(c, j);
}

enum http_verdict api_get_samples(struct call *c)
{
	struct err e;

	if (manager_print_profile(c->api->m, c->module->id, &c->rp->body, &e) < 0)
		return api_internal(c, &e);
	c->rp->status = 200;
	c->rp->type = "text/plain; charset=utf-8";
	return HTTP_REPLY;
}

enum http_verdict api_get_explain(struct call *c)
{
	struct manager_order order;
	struct manager_status s;
	struct store_decision d;
	struct err e;
	json_t *module;
	int have;

	if (manager_status(c->api->m, &s, &e) < 0)
		return api_internal(c, &e);
	have = store_last_decision(manager_store(c->api->m), c->module->id, &c->rq->mem, &d, &e);
	if (have < 0 || module_json(c, c->module, &module, &e) < 0)
		return api_internal(c, &e);
	return api_sync(c,
	    json_pack("{so so so so so}", "module", module, "working",
		s.working_module == c->module->id ? json_working(&s, true) : json_null(), "order",
		manager_order(c->api->m, c->module->id, &order) ? json_order(&order) : json_null(),
		"decision", have ? json_decision(&d) : json_null(), "ladder",
		have ? json_ladder(&d) : json_array()));
}

/* ?module= and ?limit= of a list; -1 after an error reply. */
static int list_query(struct call *c, uint64_t *module, uint64_t *limit)
{
	*limit = API_LIST_DEFAULT;
	if (api_param_uint(c, "limit", 1, API_LIST_MAX, limit) < 0)
		return -1;
	return api_list_module(c, module);
}

enum http_verdict api_get_decisions(struct call *c)
{
	struct store_decision *d;
	uint64_t module, limit;
	struct err e;
	json_t *list;
	size_t n, i;

	if (list_query(c, &module, &limit) < 0)
		return HTTP_REPLY;
	if (store_decisions(manager_store(c->api->m), module, api_list_uid(c), limit, &c->rq->mem,
		&d, &n, &e) < 0)
		return api_internal(c, &e);
	list = json_array();
	for (i = 0; i < n; i++)
		json_array_append_new(list, json_decision(&d[i]));
	return api_sync(c, list);
}

enum http_verdict api_get_history(struct call *c)
{
	struct store_event *ev;
	uint64_t module, limit;
	struct err e;
	json_t *list;
	size_t n, i;

	if (list_query(c, &module, &limit) < 0)
		return HTTP_REPLY;
	if (store_events(manager_store(c->api->m), module, api_list_uid(c), limit, &c->rq->mem, &ev,
		&n, &e) < 0)
		return api_internal(c, &e);
	list = json_array();
	for (i = 0; i < n; i++)
		json_array_append_new(list, json_event(&ev[i]));
	return api_sync(c, list);
}

enum http_verdict api_get_metrics(struct call *c)
{
	size_t state[MODULE_GONE + 1] = {0}, n, i, seen = 0;
	struct metrics_module *list;
	struct manager_status s;
	struct manager_trial trial;
	struct store_module *m;
	struct err e;

	if (manager_status(c->api->m, &s, &e) < 0 ||
	    store_modules(manager_store(c->api->m), 0, &c->rq->mem, &m, &n, &e) < 0)
		return api_internal(c, &e);
	list = arena_array(&c->rq->mem, n, sizeof *list);
	for (i = 0; i < n; i++) {
		if (m[i].state >= 0 && m[i].state <= MODULE_GONE)
			state[m[i].state]++;
		if (!api_may_see(c, m[i].uid))
			continue;
		list[seen] =
		    (struct metrics_module){&m[i], manager_samples(c->api->m, m[i].id), NAN, NAN};
		if (manager_trial(c->api->m, m[i].id, &trial) && trial.estimate.known) {
			list[seen].measured = trial.estimate.gain;
			list[seen].promised = trial.promised;
		}
		seen++;
	}
	c->rp->status = 200;
	c->rp->type = "text/plain; version=0.0.4; charset=utf-8";
	metrics_print(&c->rp->body, &s, state, MODULE_GONE + 1, &c->api->counts, list, seen);
	return HTTP_REPLY;
}
