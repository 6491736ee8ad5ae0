#include "managerd/conf/conf.h"
#include "common/log.h"
#include "common/publish.h"
#include "managerd/conf/fields.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { POLICY_MAX = 1 << 20, SERVERS_MAX = 8, SERVER_MAX = 200 };

const struct conf_field conf_field[NFIELD] = {
#define AT(member) offsetof(struct conf, member)
    {CONF_HALF_LIFE, "profile", "half_life", CONF_DURATION, AT(profile.half_life_s), 7 * 86400, 1,
	3650 * 86400.},
    {CONF_REGISTERS, "profile", "registers", CONF_BOOLEAN, AT(profile.registers), 1, 0, 1},
    {CONF_SAMPLE_BUDGET, "profile", "budget", CONF_SHARE, AT(profile.budget), 0.005, 0, 0.1},
    {CONF_EVERY, "decide", "every", CONF_DURATION, AT(decide.every_s), 60, 0.1, 86400},
    {CONF_MIN_SAMPLES, "decide", "min_samples", CONF_NUMBER, AT(decide.min_samples), 2000, 1, 1e15},
    {CONF_MIN_COVERAGE, "decide", "min_coverage", CONF_SHARE, AT(decide.min_coverage), 0.5, 0, 1},
    {CONF_MIN_CHANGE, "decide", "min_change", CONF_SHARE, AT(decide.min_change), 0.1, 0, 1},
    {CONF_MIN_GAIN, "decide", "min_gain", CONF_SHARE, AT(decide.min_gain), 0.03, 0, 1},
    {CONF_MIN_REGAIN, "decide", "min_regain", CONF_SHARE, AT(decide.min_regain), 0.01, 0, 1},
    {CONF_COOL_DOWN, "decide", "cool_down", CONF_DURATION, AT(decide.cool_down_s), 6 * 3600, 0,
	3650 * 86400.},
    {CONF_HOLD, "decide", "hold", CONF_DURATION, AT(decide.hold_s), 86400, 0, 3650 * 86400.},
    {CONF_EDITS_PER_DAY, "decide", "edits_per_day", CONF_COUNT, AT(decide.edits_per_day), 24, 0,
	1e6},
    {CONF_IDLE_CPU, "idle", "cpu", CONF_SHARE, AT(idle.cpu), 0.7, 0, 1},
    {CONF_IDLE_PSI, "idle", "psi", CONF_SHARE, AT(idle.psi), 0.1, 0, 1},
    {CONF_IDLE_AFTER, "idle", "after", CONF_DURATION, AT(idle.after_s), 60, 0, 86400},
    {CONF_IDLE_BATTERY, "idle", "battery", CONF_BOOLEAN, AT(idle.battery), 0, 0, 1},
    {CONF_EDIT_DEADLINE, "edit", "deadline", CONF_DURATION, AT(edit.deadline_s), 600, 1, 86400},
    {CONF_EDIT_MEMORY, "edit", "memory", CONF_BYTES, AT(edit.memory), 2147483648., 0, 1e15},
    {CONF_EDIT_DISK, "edit", "disk", CONF_BYTES, AT(edit.disk), 2147483648., 1048576, 1e15},
    {CONF_EDIT_LANDLOCK, "edit", "landlock", CONF_BOOLEAN, AT(edit.landlock), 1, 0, 1},
    {CONF_QUOTA_DISK, "quota", "disk", CONF_BYTES, AT(quota.disk), 8589934592., 1048576, 1e15},
    {CONF_MEASURE_SWITCHBACK, "measure", "switchback", CONF_BOOLEAN, AT(measure.switchback), 1, 0,
	1},
    {CONF_MEASURE_TURN, "measure", "turn", CONF_DURATION, AT(measure.turn_s), 10, 0.1, 86400},
    {CONF_MEASURE_RUNS, "measure", "runs", CONF_COUNT, AT(measure.runs), 2000, 100, 1e6},
    {CONF_MEASURE_PAIRS, "measure", "pairs", CONF_COUNT, AT(measure.pairs), 30, 8, 1000},
    {CONF_MEASURE_SERVICE_TURN, "measure", "service_turn", CONF_DURATION,
	AT(measure.service_turn_s), 600, 1, 86400},
    {CONF_FETCH_PER_DAY, "fetch", "per_day", CONF_COUNT, AT(fetch.per_day), 50, 0, 1e6},
    {CONF_FETCH_DISK, "fetch", "disk", CONF_BYTES, AT(fetch.disk), 4294967296., 1048576, 1e15},
    {CONF_RECORD_DISK, "record", "disk", CONF_BYTES, AT(record.disk), 0, 0, 1e15},
    {CONF_SAMPLES_DAYS, "samples", "days", CONF_COUNT, AT(samples.days), 14, 0, 3650},
    {CONF_SAMPLES_DISK, "samples", "disk", CONF_BYTES, AT(samples.disk), 67108864., 1048576, 1e12},
    {CONF_KEEP_BUILDS, NULL, "keep_builds", CONF_COUNT, AT(keep_builds), 2, 1, 100},
    {CONF_PERF_LINKS, NULL, "perf_links", CONF_BOOLEAN, AT(perf_links), 0, 0, 1},
    {CONF_LEGACY, NULL, "legacy", CONF_LEVEL, AT(legacy), LEGACY_OBSERVE, LEGACY_OFF,
	LEGACY_OPTIMIZE},
#undef AT
};

const char *const conf_action_name[3] = {"optimize", "observe", "ignore"};

static void set_number(struct conf *c, const struct conf_field *f, double v)
{
	void *at = (char *)c + f->at;

	if (f->kind == CONF_COUNT || f->kind == CONF_BYTES)
		*(uint64_t *)at = (uint64_t)v;
	else if (f->kind == CONF_BOOLEAN)
		*(bool *)at = v != 0;
	else if (f->kind == CONF_LEVEL)
		*(int *)at = (int)v;
	else
		*(double *)at = v;
}

void conf_defaults(struct conf *c)
{
	size_t i;

	*c = (struct conf){0};
	for (i = 0; i < NFIELD; i++)
		set_number(c, &conf_field[i], conf_field[i].standard);
}

static void argv_free(char **v)
{
	size_t i;

	for (i = 0; v && v[i]; i++)
		free(v[i]);
	free(v);
}

void conf_free(struct conf *c)
{
	size_t i;

	for (i = 0; i < c->modules.n; i++) {
		free(c->modules.v[i].path);
		argv_free(c->modules.v[i].verify);
		argv_free(c->modules.v[i].measure);
		argv_free(c->modules.v[i].counter);
		argv_free(c->modules.v[i].restart);
		free(c->modules.v[i].order);
	}
	for (i = 0; i < c->packages.n; i++)
		free(c->packages.v[i].name);
	for (i = 0; i < c->fetch.servers.n; i++)
		free(c->fetch.servers.v[i]);
	vec_free(&c->fetch.servers);
	free(c->fetch.key);
	vec_free(&c->modules);
	vec_free(&c->packages);
	argv_free(c->verify);
	argv_free(c->notify);
	argv_free(c->measure.command);
	argv_free(c->measure.counter);
	argv_free(c->measure.restart);
	free(c->path);
	*c = (struct conf){0};
}

/* ---- reading ---- */

struct reader {
	struct conf *c;
	yaml_document_t doc;
	const char *name;
	struct err *e;
};

__attribute__((format(printf, 3, 4))) static int wrong(
    struct reader *r, const yaml_node_t *n, const char *fmt, ...)
{
	va_list ap;
	char text[512];
	size_t i;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	for (i = 0; text[i]; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			text[i] = '?';
	return err_set(r->e, "%s:%zu:%zu: %s", r->name, n->start_mark.line + 1,
	    n->start_mark.column + 1, text);
}

static const char *scalar(const yaml_node_t *n)
{
	return n->type == YAML_SCALAR_NODE &&
		       strlen((char *)n->data.scalar.value) == n->data.scalar.length
		   ? (const char *)n->data.scalar.value
		   : NULL;
}

/* Edits between two words, for "did you mean": at most 40 letters of each. */
static unsigned edits(const char *a, const char *b)
{
	size_t na = strnlen(a, 40), nb = strnlen(b, 40), i, j;
	unsigned row[41], diagonal, up, best;

	for (j = 0; j <= nb; j++)
		row[j] = (unsigned)j;
	for (i = 1; i <= na; i++) {
		diagonal = row[0];
		row[0] = (unsigned)i;
		for (j = 1; j <= nb; j++) {
			up = row[j];
			best = diagonal + (a[i - 1] != b[j - 1]);
			if (up + 1 < best)
				best = up + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
			diagonal = up;
		}
	}
	return row[nb];
}

static int unknown(
    struct reader *r, const yaml_node_t *key, const char *where, const char *const *known, size_t n)
{
	const char *k = scalar(key), *near = NULL;
	unsigned d, best = 4;
	size_t i;

	for (i = 0; i < n; i++) {
		d = edits(k, known[i]);
		if (d < best && d < strlen(known[i])) {
			best = d;
			near = known[i];
		}
	}
	if (near)
		return wrong(r, key, "unknown key '%.60s'%s; did you mean '%s'?", k, where, near);
	return wrong(r, key, "unknown key '%.60s'%s", k, where);
}

static int read_field(struct reader *r, const struct conf_field *f, const yaml_node_t *n)
{
	const char *s = scalar(n);
	char min[64], max[64];
	double v;

	if (!s || conf_value_parse(f->kind, s, &v))
		return wrong(r, n, "%s: expected %s%s%.60s%s", f->key, conf_value_form(f->kind),
		    s ? ", not '" : "", s ? s : "", s ? "'" : "");
	if (v < f->min || v > f->max) {
		conf_value_print(f->kind, f->min, min, sizeof min);
		conf_value_print(f->kind, f->max, max, sizeof max);
		return wrong(r, n, "%s: expected %s to %s, not '%.60s'", f->key, min, max, s);
	}
	set_number(r->c, f, v);
	r->c->line[f->id] = (unsigned)n->start_mark.line + 1;
	return 0;
}

static int read_legacy(struct reader *r, const yaml_node_t *n, int *out)
{
	const char *s = scalar(n);
	double v;

	if (!s || conf_value_parse(CONF_LEVEL, s, &v))
		return wrong(r, n, "legacy: expected %s", conf_value_form(CONF_LEVEL));
	*out = (int)v;
	return 0;
}

/* A command: a list of arguments, or one string, cut at blanks. */
static int read_command(struct reader *r, const char *key, const yaml_node_t *n, char ***out)
{
	VEC(char *) v = {0};
	yaml_node_item_t *i;
	const char *s = scalar(n);
	size_t len;

	if (n->type == YAML_SEQUENCE_NODE)
		for (i = n->data.sequence.items.start; i < n->data.sequence.items.top; i++) {
			s = scalar(yaml_document_get_node(&r->doc, *i));
			if (!s)
				break;
			vec_push(&v, xstrdup(s));
		}
	else
		for (; s && *(s += strspn(s, " \t\n")); s += len) {
			len = strcspn(s, " \t\n");
			vec_push(&v, xasprintf("%.*s", (int)len, s));
		}
	vec_push(&v, NULL);
	*out = v.v;
	if (s && v.v[0] && *v.v[0])
		return 0;
	return wrong(r, n, "%s: expected a command, such as [/usr/bin/test-it, \"{new}\"]", key);
}

/* Without {build} the same would be compared with itself. */
static int read_measure(struct reader *r, const char *key, const yaml_node_t *n, char ***out)
{
	char **arg;

	if (read_command(r, key, n, out))
		return -1;
	for (arg = *out; *arg; arg++)
		if (strstr(*arg, "{build}"))
			return 0;
	return wrong(r, n, "%s: expected {build} in the command: the build that is to be run", key);
}

/* Nobody restarts a service whose work cannot be told. */
static int restart_has_counter(
    struct reader *r, const yaml_node_t *n, char *const *restart, char *const *counter)
{
	return restart && !counter
		   ? wrong(r, n, "restart: expected a counter beside it, to compare by")
		   : 0;
}

/* Calls fn for each pair of a mapping; keys are scalars, each at most once. */
static int each_pair(struct reader *r, const yaml_node_t *map, const char *what,
    int (*fn)(struct reader *r, const yaml_node_t *key, const yaml_node_t *value, void *arg),
    void *arg)
{
	yaml_node_pair_t *p, *q;
	yaml_node_t *key, *other;

	if (map->type != YAML_MAPPING_NODE)
		return wrong(r, map, "%s: expected a mapping (key: value)", what);
	for (p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
		key = yaml_document_get_node(&r->doc, p->key);
		if (!scalar(key))
			return wrong(r, key, "%s: expected a key", what);
		for (q = map->data.mapping.pairs.start; q < p; q++) {
			other = yaml_document_get_node(&r->doc, q->key);
			if (!strcmp(scalar(other), scalar(key)))
				return wrong(r, key, "key '%.60s' is here twice, first in line %zu",
				    scalar(key), other->start_mark.line + 1);
		}
		if (fn(r, key, yaml_document_get_node(&r->doc, p->value), arg))
			return -1;
	}
	return 0;
}

static int read_order(struct reader *r, const yaml_node_t *n, char **out)
{
	const char *s = scalar(n);

	if (!s || !path_is_plain(s))
		return wrong(r, n, "order: expected the absolute path of a list of functions");
	*out = xstrdup(s);
	return 0;
}

static int module_pair(
    struct reader *r, const yaml_node_t *key, const yaml_node_t *value, void *arg)
{
	static const char *const known[] = {
	    "path", "action", "legacy", "verify", "measure", "counter", "restart", "order"};
	struct conf_module *m = arg;
	const char *k = scalar(key), *s = scalar(value);

	if (!strcmp(k, "path")) {
		if (!s || (*s != '/' && *s != '*'))
			return wrong(
			    r, value, "path: expected an absolute path or a pattern of paths");
		m->path = xstrdup(s);
		return 0;
	}
	if (!strcmp(k, "action")) {
		for (m->action = 0; m->action < 3; m->action++)
			if (s && !strcmp(s, conf_action_name[m->action]))
				return 0;
		return wrong(r, value, "action: expected optimize, observe or ignore");
	}
	if (!strcmp(k, "legacy"))
		return read_legacy(r, value, &m->legacy);
	if (!strcmp(k, "verify"))
		return read_command(r, "verify", value, &m->verify);
	if (!strcmp(k, "measure"))
		return read_measure(r, "measure", value, &m->measure);
	if (!strcmp(k, "counter"))
		return read_command(r, k, value, &m->counter);
	if (!strcmp(k, "restart"))
		return read_command(r, k, value, &m->restart);
	if (!strcmp(k, "order"))
		return read_order(r, value, &m->order);
	return unknown(r, key, " in modules", known, sizeof known / sizeof *known);
}

static int each_item(struct reader *r, const yaml_node_t *list, const char *expected,
    int (*fn)(struct reader *r, const yaml_node_t *item))
{
	yaml_node_item_t *i;

	if (list->type != YAML_SEQUENCE_NODE)
		return wrong(r, list, "%s", expected);
	for (i = list->data.sequence.items.start; i < list->data.sequence.items.top; i++)
		if (fn(r, yaml_document_get_node(&r->doc, *i)))
			return -1;
	return 0;
}

static int read_module(struct reader *r, const yaml_node_t *item)
{
	struct conf_module *m;

	vec_push(&r->c->modules, (struct conf_module){.legacy = LEGACY_UNSET,
				     .line = (unsigned)item->start_mark.line + 1});
	m = &r->c->modules.v[r->c->modules.n - 1];
	if (each_pair(r, item, "modules", module_pair, m))
		return -1;
	if (!m->path)
		return wrong(r, item, "modules: this entry has no path");
	return restart_has_counter(r, item, m->restart, m->counter);
}

static int read_package_name(struct reader *r, const yaml_node_t *n, struct conf_package *p)
{
	const char *s = scalar(n);

	if (!s || !*s || s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789+-.*?[]")])
		return wrong(
		    r, n, "packages: expected the name of a Debian package, or a pattern of names");
	p->name = xstrdup(s);
	return 0;
}

static int package_pair(
    struct reader *r, const yaml_node_t *key, const yaml_node_t *value, void *arg)
{
	static const char *const known[] = {"name", "legacy"};
	struct conf_package *p = arg;

	if (!strcmp(scalar(key), "name"))
		return read_package_name(r, value, p);
	if (!strcmp(scalar(key), "legacy"))
		return read_legacy(r, value, &p->legacy);
	return unknown(r, key, " in packages", known, sizeof known / sizeof *known);
}

static int read_package(struct reader *r, const yaml_node_t *item)
{
	struct conf_package *p;

	vec_push(&r->c->packages, (struct conf_package){.legacy = LEGACY_UNSET});
	p = &r->c->packages.v[r->c->packages.n - 1];
	if (item->type != YAML_MAPPING_NODE)
		return read_package_name(r, item, p);
	if (each_pair(r, item, "packages", package_pair, p))
		return -1;
	return p->name ? 0 : wrong(r, item, "packages: this entry has no name");
}

static int read_server(struct reader *r, const yaml_node_t *item)
{
	const char *s = scalar(item), *host = s ? strstr(s, "://") : NULL, *p;

	for (p = s; host && *p > ' ' && *p < 0x7f && !strchr("?#@\"\\", *p); p++)
		;
	if (!host || *p || p - s > SERVER_MAX || !host[3] || host[3] == '/' ||
	    (strncmp(s, "http://", 7) && strncmp(s, "https://", 8)))
		return wrong(
		    r, item, "servers: expected a URL such as https://artifacts.example.org");
	if (r->c->fetch.servers.n == SERVERS_MAX)
		return wrong(r, item, "servers: expected at most %d", SERVERS_MAX);
	vec_push(&r->c->fetch.servers, xstrdup(s));
	return 0;
}

/* "Ed", the key's number and the key: 42 bytes in base64. */
static int read_key(struct reader *r, const yaml_node_t *n)
{
	static const char base64[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *s = scalar(n);

	if (!s || strncmp(s, "RW", 2) || strlen(s) != 56 || s[strspn(s, base64)])
		return wrong(
		    r, n, "key: expected a public key of minisign(1), the second line of its file");
	r->c->fetch.key = xstrdup(s);
	return 0;
}

static int section_pair(
    struct reader *r, const yaml_node_t *key, const yaml_node_t *value, void *arg)
{
	const char *section = arg, *known[NFIELD];
	char where[32];
	size_t i, n = 0;

	for (i = 0; i < NFIELD; i++) {
		if (!conf_field[i].section || strcmp(conf_field[i].section, section))
			continue;
		if (!strcmp(conf_field[i].key, scalar(key)))
			return read_field(r, &conf_field[i], value);
		known[n++] = conf_field[i].key;
	}
	snprintf(where, sizeof where, " in %s", section);
	return unknown(r, key, where, known, n);
}

static int fetch_pair(struct reader *r, const yaml_node_t *key, const yaml_node_t *value, void *arg)
{
	static const char *const known[] = {"servers", "key", "per_day", "disk"};
	const char *k = scalar(key);

	if (!strcmp(k, "servers")) {
		r->c->line[CONF_FETCH_SERVERS] = (unsigned)key->start_mark.line + 1;
		return each_item(r, value, "servers: expected a list of URLs", read_server);
	}
	if (!strcmp(k, "key")) {
		r->c->line[CONF_FETCH_KEY] = (unsigned)key->start_mark.line + 1;
		return read_key(r, value);
	}
	if (!strcmp(k, "per_day") || !strcmp(k, "disk"))
		return section_pair(r, key, value, "fetch");
	return unknown(r, key, " in fetch", known, sizeof known / sizeof *known);
}

/* Without a signature only TLS says who a server is. */
static int read_fetch(struct reader *r, const yaml_node_t *value)
{
	const struct conf *c = r->c;
	size_t i;

	if (each_pair(r, value, "fetch", fetch_pair, NULL))
		return -1;
	for (i = 0; !c->fetch.key && i < c->fetch.servers.n; i++)
		if (strncmp(c->fetch.servers.v[i], "https://", 8))
			return wrong(r, value,
			    "fetch: without a key only https is believed, not %.60s",
			    c->fetch.servers.v[i]);
	return 0;
}

/* A section that is one command. */
struct command_section {
	const char *name;
	enum conf_key id;
	char ***at;
};

static int command_pair(
    struct reader *r, const yaml_node_t *key, const yaml_node_t *value, void *arg)
{
	static const char *const known[] = {"command"};
	const struct command_section *s = arg;
	char where[32];

	snprintf(where, sizeof where, " in %s", s->name);
	if (strcmp(scalar(key), "command"))
		return unknown(r, key, where, known, 1);
	r->c->line[s->id] = (unsigned)value->start_mark.line + 1;
	return read_command(r, "command", value, s->at);
}

static int measure_pair(
    struct reader *r, const yaml_node_t *key, const yaml_node_t *value, void *arg)
{
	static const char *const known[] = {
	    "switchback", "turn", "runs", "pairs", "service_turn", "command", "counter", "restart"};
	enum { NUMBERS = 5 };
	unsigned *line = r->c->line, here = (unsigned)value->start_mark.line + 1;
	const char *k = scalar(key);
	size_t i;

	for (i = 0; i < NUMBERS; i++)
		if (!strcmp(k, known[i]))
			return section_pair(r, key, value, "measure");
	if (!strcmp(k, "command")) {
		line[CONF_MEASURE] = here;
		return read_measure(r, k, value, &r->c->measure.command);
	}
	if (!strcmp(k, "counter")) {
		line[CONF_COUNTER] = here;
		return read_command(r, k, value, &r->c->measure.counter);
	}
	if (!strcmp(k, "restart")) {
		line[CONF_RESTART] = here;
		return read_command(r, k, value, &r->c->measure.restart);
	}
	return unknown(r, key, " in measure", known, sizeof known / sizeof *known);
}

static int read_measures(struct reader *r, const yaml_node_t *value)
{
	return each_pair(r, value, "measure", measure_pair, NULL) ||
		       restart_has_counter(r, value, r->c->measure.restart, r->c->measure.counter)
		   ? -1
		   : 0;
}

static int top_pair(struct reader *r, const yaml_node_t *key, const yaml_node_t *value, void *arg)
{
	static const char *const known[] = {"profile", "decide", "idle", "edit", "quota", "record",
	    "samples", "measure", "fetch", "verify", "notify", "modules", "packages", "keep_builds",
	    "perf_links", "legacy"};
	enum { SECTIONS = 7 };
	struct command_section command[] = {
	    {"verify", CONF_VERIFY, &r->c->verify}, {"notify", CONF_NOTIFY, &r->c->notify}};
	const char *k = scalar(key);
	size_t i;

	for (i = 0; i < SECTIONS; i++)
		if (!strcmp(k, known[i]))
			return each_pair(r, value, k, section_pair, (void *)known[i]);
	for (i = 0; i < NFIELD; i++)
		if (!conf_field[i].section && !strcmp(k, conf_field[i].key))
			return read_field(r, &conf_field[i], value);
	if (!strcmp(k, "measure"))
		return read_measures(r, value);
	if (!strcmp(k, "fetch"))
		return read_fetch(r, value);
	for (i = 0; i < sizeof command / sizeof *command; i++)
		if (!strcmp(k, command[i].name))
			return each_pair(r, value, k, command_pair, &command[i]);
	if (!strcmp(k, "modules")) {
		r->c->line[CONF_MODULES] = (unsigned)key->start_mark.line + 1;
		return each_item(
		    r, value, "modules: expected a list of {path: …, action: …}", read_module);
	}
	if (!strcmp(k, "packages")) {
		r->c->line[CONF_PACKAGES] = (unsigned)key->start_mark.line + 1;
		return each_item(
		    r, value, "packages: expected a list of package names", read_package);
	}
	return unknown(r, key, "", known, sizeof known / sizeof *known);
}

static int syntax_error(const char *name, const yaml_parser_t *p, struct err *e)
{
	const yaml_mark_t *m = &p->problem_mark;

	if (p->error == YAML_READER_ERROR)
		return err_set(e, "%s: byte %zu: %s", name, p->problem_offset, p->problem);
	return err_set(e, "%s:%zu:%zu: %s", name, m->line + 1, m->column + 1,
	    p->problem ? p->problem : "no YAML");
}

/* A second document would be read by nobody: refuse it. */
static int only_one(struct reader *r, yaml_parser_t *p)
{
	yaml_document_t more;
	yaml_node_t *n;
	int rc = 0;

	if (!yaml_parser_load(p, &more))
		return syntax_error(r->name, p, r->e);
	n = yaml_document_get_root_node(&more);
	if (n)
		rc = wrong(r, n, "expected one document, this is a second one");
	yaml_document_delete(&more);
	return rc;
}

int conf_parse(const char *name, const char *text, size_t n, struct conf *c, struct err *e)
{
	struct reader r = {.c = c, .name = name, .e = e};
	yaml_parser_t p;
	yaml_node_t *root;
	int rc;

	conf_defaults(c);
	c->path = xstrdup(name);
	if (!yaml_parser_initialize(&p))
		die(70, "out of memory");
	yaml_parser_set_encoding(&p, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&p, (const unsigned char *)text, n);
	if (!yaml_parser_load(&p, &r.doc)) {
		rc = syntax_error(name, &p, e);
	} else {
		root = yaml_document_get_root_node(&r.doc);
		rc = root ? each_pair(&r, root, "policy", top_pair, NULL) : 0;
		if (rc == 0 && root)
			rc = only_one(&r, &p);
		yaml_document_delete(&r.doc);
	}
	yaml_parser_delete(&p);
	if (rc)
		conf_free(c);
	return rc;
}

int conf_read(const char *path, struct buf *text, struct conf *c, struct err *e)
{
	conf_defaults(c);
	if (!path)
		return 0;
	if (file_read(path, POLICY_MAX, text, e))
		return -1;
	return conf_parse(path, buf_cstr(text), text->n, c, e);
}

int conf_read_fd(int fd, const char *name, struct conf *c, struct err *e)
{
	char *path = xasprintf("/dev/fd/%d", fd);
	struct buf text = {0};
	int r = file_read(path, POLICY_MAX, &text, e);

	if (!r)
		conf_defaults(c);
	if (!r && text.n)
		r = conf_parse(name ? name : "policy", text.p, text.n, c, e);
	buf_free(&text);
	free(path);
	return r;
}
