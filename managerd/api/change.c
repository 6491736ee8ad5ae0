#include "managerd/api/routes.h"
#include "managerd/cycle/cycle.h"
#include "managerd/api/json.h"

#include <inttypes.h>
#include <unistd.h>

enum { WAIT_MAX_S = 60 };

/* With what is done before it, of one that waits. */
static json_t *change_json(struct call *c, const struct change *change)
{
	json_t *j = json_change(change, manager_change_left(c->api->m, change->id));
	bool waits = change->status == CHANGE_WAITING;
	struct manager_status s;
	struct store_module *m;
	struct err e;

	if (waits && manager_status(c->api->m, &s, &e) < 0)
		waits = false;
	json_object_set_new(j, "ahead",
	    waits ? json_integer(manager_change_ahead(c->api->m, change->id)) : json_null());
	json_object_set_new(j, "working",
	    waits ? json_working(
			&s, s.working_step && api_visible_module(c, s.working_module, &m, &e) > 0)
		  : json_null());
	return j;
}

static enum http_verdict change_reply(struct call *c, int r, uint64_t id, const struct err *e)
{
	const struct change *change = NULL;
	json_t *j;

	switch (r) {
	case MANAGER_OK:
		change = manager_change(c->api->m, id);
		j = json_pack("{ss si}", "type", "async", "status-code", 202);
		json_object_set_new(j, "change", json_sprintf("%" PRIu64, id));
		json_object_set_new(j, "result", change ? change_json(c, change) : json_null());
		return api_answer(c, 202, j);
	case MANAGER_NOT_FOUND:
		return api_error(c, 404, "not-found", "%s", e->text);
	case MANAGER_CONFLICT:
		j = api_error_json(409, "conflict", e->text);
		json_object_set_new(
		    json_object_get(j, "result"), "change", json_sprintf("%" PRIu64, id));
		return api_answer(c, 409, j);
	case MANAGER_REFUSED:
		return api_error(c, 409, "refused", "%s", e->text);
	default:
		return api_internal(c, e);
	}
}

enum http_verdict api_post_reoptimize(struct call *c)
{
	bool force = json_is_true(json_object_get(c->body, "force"));
	struct err e = {""};
	uint64_t id = 0;
	int r;

	r = manager_reoptimize(
	    c->api->m, c->module ? c->module->id : 0, c->rq->uid, force, &id, &e);
	return change_reply(c, r, id, &e);
}

enum http_verdict api_post_rollback(struct call *c)
{
	struct err e = {""};
	uint64_t id = 0;
	int r = manager_rollback(c->api->m, c->module->id, c->rq->uid, &id, &e);

	return change_reply(c, r, id, &e);
}

enum http_verdict api_post_reload(struct call *c)
{
	struct manager_status s;
	struct err e;

	if (!api_may_see(c, geteuid()))
		return api_error(
		    c, 403, "forbidden", "the policy is root's: only root has it read again");
	if (manager_reload(c->api->m, &e))
		return api_error(c, 409, "refused", "%s; the policy stays as it was", e.text);
	if (manager_status(c->api->m, &s, &e))
		return api_internal(c, &e);
	return api_sync(c, json_pack("{ss?}", "policy", s.policy));
}

enum http_verdict api_get_change(struct call *c)
{
	const struct change *change = NULL;
	struct store_module *m;
	uint64_t id, wait = 0;
	struct err e;

	if (api_param_uint(c, "wait", 0, WAIT_MAX_S, &wait) < 0)
		return HTTP_REPLY;
	if (api_parse_uint(c->piece, 1, UINT64_MAX, &id))
		change = manager_change(c->api->m, id);
	if (!change ||
	    (!api_may_see(c, change->uid) && api_visible_module(c, change->module, &m, &e) <= 0))
		return api_error(c, 404, "not-found", "no change %s", c->piece);
	if (change->status < CHANGE_DONE && wait > 0 && !c->rq->expired) {
		c->rq->wait_s = (double)wait;
		return HTTP_WAIT;
	}
	return api_sync(c, change_json(c, change));
}
