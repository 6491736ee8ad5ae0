#include "managerd/conf/conf.h"

#include <fnmatch.h>
#include <string.h>

const struct conf_module *conf_module_for(const struct conf *c, const char *path)
{
	const char *glob;
	size_t i;

	for (i = 0; i < c->modules.n; i++) {
		glob = c->modules.v[i].path;
		if (!fnmatch(glob, path, strstr(glob, "**") ? 0 : FNM_PATHNAME))
			return &c->modules.v[i];
	}
	return NULL;
}

bool conf_lets_optimize(const struct conf *c, const char *path, struct err *e)
{
	const struct conf_module *m = conf_module_for(c, path);

	if (!m || m->action == CONF_OPTIMIZE)
		return true;
	err_set(e,
	    "%s:%u: the policy only lets it be %s; take that entry out, or put one with action: "
	    "optimize before it, and run `morphctl reload`",
	    c->path, m->line, m->action == CONF_OBSERVE ? "observed" : "ignored");
	return false;
}

char *const *conf_verify_for(const struct conf *c, const char *path)
{
	const struct conf_module *m = conf_module_for(c, path);

	return m && m->verify ? m->verify : c->verify;
}

char *const *conf_measure_for(const struct conf *c, const char *path)
{
	const struct conf_module *m = conf_module_for(c, path);

	return m && m->measure ? m->measure : c->measure.command;
}

char *const *conf_counter_for(const struct conf *c, const char *path)
{
	const struct conf_module *m = conf_module_for(c, path);

	return m && m->counter ? m->counter : c->measure.counter;
}

bool conf_counts_cycles(const struct conf *c, const char *path)
{
	char *const *v = conf_counter_for(c, path);

	return v && !strcmp(v[0], "cycles") && !v[1];
}

char *const *conf_restart_for(const struct conf *c, const char *path)
{
	const struct conf_module *m = conf_module_for(c, path);

	return m && m->counter ? m->restart : c->measure.restart;
}

/* ---- programs without an artifact ---- */

const struct conf_package *conf_package_for(const struct conf *c, const char *package)
{
	size_t i;

	for (i = 0; i < c->packages.n; i++)
		if (!fnmatch(c->packages.v[i].name, package, 0))
			return &c->packages.v[i];
	return NULL;
}

enum conf_legacy conf_legacy_for(const struct conf *c, const char *path, const char *package)
{
	const struct conf_module *m = conf_module_for(c, path);
	const struct conf_package *p = package ? conf_package_for(c, package) : NULL;
	int of_entry = m && m->legacy != LEGACY_UNSET ? m->legacy : p ? p->legacy : LEGACY_UNSET;

	return (enum conf_legacy)(of_entry == LEGACY_UNSET ? c->legacy : of_entry);
}

enum conf_legacy conf_legacy_most(const struct conf *c, const char *path)
{
	const struct conf_module *m = conf_module_for(c, path);
	int most = m && m->legacy != LEGACY_UNSET ? m->legacy : c->legacy;
	size_t i;

	for (i = 0; i < c->packages.n && !(m && m->legacy != LEGACY_UNSET); i++)
		if (c->packages.v[i].legacy > most)
			most = c->packages.v[i].legacy;
	return (enum conf_legacy)most;
}

const char *conf_order_for(const struct conf *c, const char *path)
{
	const struct conf_module *m = conf_module_for(c, path);

	return m ? m->order : NULL;
}
