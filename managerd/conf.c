#include "managerd/conf.h"
#include "common/log.h"
#include "common/publish.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { POLICY_MAX = 1 << 20 };

enum kind { DURATION, SHARE, NUMBER, COUNT, BYTES, BOOLEAN };

static const char *const expected[] = {
    [DURATION] = "a duration such as 10s, 5min, 12h or 7d",
    [SHARE] = "a share such as 0.1 or 10%",
    [NUMBER] = "a number",
    [COUNT] = "a whole number",
    [BYTES] = "a size such as 512M or 2G, or 0 for no limit",
    [BOOLEAN] = "yes or no",
};

/* All scalar keys; the order is that of conf_print(). */
static const struct field {
	enum conf_key id;
	const char *section, *key;
	enum kind kind;
	size_t at;
	double standard, min, max;
} field[] = {
#define AT(member) offsetof(struct conf, member)
    {CONF_HALF_LIFE, "profile", "half_life", DURATION, AT(profile.half_life_s), 7 * 86400, 1,
	3650 * 86400.},
    {CONF_REGISTERS, "profile", "registers", BOOLEAN, AT(profile.registers), 1, 0, 1},
    {CONF_EVERY, "decide", "every", DURATION, AT(decide.every_s), 60, 0.1, 86400},
    {CONF_MIN_SAMPLES, "decide", "min_samples", NUMBER, AT(decide.min_samples), 15000, 1, 1e15},
    {CONF_MIN_COVERAGE, "decide", "min_coverage", SHARE, AT(decide.min_coverage), 0.5, 0, 1},
    {CONF_MIN_CHANGE, "decide", "min_change", SHARE, AT(decide.min_change), 0.1, 0, 1},
    {CONF_MIN_GAIN, "decide", "min_gain", SHARE, AT(decide.min_gain), 0.01, 0, 1},
    {CONF_COOL_DOWN, "decide", "cool_down", DURATION, AT(decide.cool_down_s), 6 * 3600, 0,
	3650 * 86400.},
    {CONF_HOLD, "decide", "hold", DURATION, AT(decide.hold_s), 86400, 0, 3650 * 86400.},
    {CONF_EDITS_PER_DAY, "decide", "edits_per_day", COUNT, AT(decide.edits_per_day), 24, 0, 1e6},
    {CONF_IDLE_CPU, "idle", "cpu", SHARE, AT(idle.cpu), 0.7, 0, 1},
    {CONF_IDLE_PSI, "idle", "psi", SHARE, AT(idle.psi), 0.1, 0, 1},
    {CONF_IDLE_AFTER, "idle", "after", DURATION, AT(idle.after_s), 60, 0, 86400},
    {CONF_IDLE_BATTERY, "idle", "battery", BOOLEAN, AT(idle.battery), 0, 0, 1},
    {CONF_EDIT_DEADLINE, "edit", "deadline", DURATION, AT(edit.deadline_s), 600, 1, 86400},
    {CONF_EDIT_MEMORY, "edit", "memory", BYTES, AT(edit.memory), 2147483648., 0, 1e15},
    {CONF_HUGE_PAGES, "layout", "huge_pages", BOOLEAN, AT(layout.huge_pages), 0, 0, 1},
    {CONF_KEEP_BUILDS, NULL, "keep_builds", COUNT, AT(keep_builds), 2, 1, 100},
#undef AT
};
enum { NFIELD = sizeof field / sizeof *field };

static const struct {
	const char *name;
	double s;
} unit[] = {{"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}, {"ms", 0.001}};
enum { NUNIT = sizeof unit / sizeof *unit };

static const struct {
	const char *name;
	double bytes;
} size_unit[] = {{"T", 1099511627776.}, {"G", 1073741824}, {"M", 1048576}, {"K", 1024}, {"", 1}};
enum { NSIZE_UNIT = sizeof size_unit / sizeof *size_unit };

static const char *const action_name[] = {"optimize", "observe", "ignore"};

static void set_number(struct conf *c, const struct field *f, double v)
{
	void *at = (char *)c + f->at;

	if (f->kind == COUNT || f->kind == BYTES)
		*(uint64_t *)at = (uint64_t)v;
	else if (f->kind == BOOLEAN)
		*(bool *)at = v != 0;
	else
		*(double *)at = v;
}

static double get_number(const struct conf *c, const struct field *f)
{
	const void *at = (const char *)c + f->at;

	if (f->kind == COUNT || f->kind == BYTES)
		return (double)*(const uint64_t *)at;
	return f->kind == BOOLEAN ? *(const bool *)at : *(const double *)at;
}

void conf_defaults(struct conf *c)
{
	size_t i;

	*c = (struct conf){0};
	for (i = 0; i < NFIELD; i++)
		set_number(c, &field[i], field[i].standard);
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
	}
	for (i = 0; i < c->packages.n; i++)
		free(c->packages.v[i]);
	vec_free(&c->modules);
	vec_free(&c->packages);
	argv_free(c->verify);
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

static int parse_number(const char *s, const char **rest, double *v)
{
	char *end;

	if (!isdigit((unsigned char)*s))
		return -1;
	for (*rest = s; isdigit((unsigned char)**rest) || **rest == '.' || **rest == 'e'; ++*rest)
		;
	*v = strtod(s, &end);
	if (end > *rest || !isfinite(*v))
		return -1;
	*rest = end;
	return 0;
}

static int parse_value(enum kind kind, const char *s, double *v)
{
	const char *rest;
	size_t i;

	if (kind == BOOLEAN) {
		*v = !strcmp(s, "yes") || !strcmp(s, "true");
		return *v || !strcmp(s, "no") || !strcmp(s, "false") ? 0 : -1;
	}
	if (parse_number(s, &rest, v))
		return -1;
	while (*rest == ' ')
		rest++;
	if (kind == SHARE && !strcmp(rest, "%")) {
		*v /= 100;
		return 0;
	}
	if (kind == DURATION) {
		for (i = 0; i < NUNIT; i++)
			if (!strcmp(rest, unit[i].name)) {
				*v *= unit[i].s;
				return 0;
			}
		return *v == 0 && !*rest ? 0 : -1;
	}
	if (kind == BYTES) {
		for (i = 0; i < NSIZE_UNIT; i++)
			if (!strcmp(rest, size_unit[i].name)) {
				*v = floor(*v * size_unit[i].bytes);
				return 0;
			}
		return -1;
	}
	return *rest || (kind == COUNT && *v != floor(*v)) ? -1 : 0;
}

static void print_value(const struct field *f, double v, char *out, size_t n)
{
	size_t i;

	switch (f->kind) {
	case BOOLEAN:
		snprintf(out, n, "%s", v ? "yes" : "no");
		return;
	case SHARE:
		snprintf(out, n, "%.15g%%", 100 * v);
		if (strtod(out, NULL) / 100 != v)
			snprintf(out, n, "%.17g", v);
		return;
	case NUMBER:
	case COUNT:
		snprintf(out, n, "%.15g", v);
		return;
	case BYTES:
		for (i = 0; i < NSIZE_UNIT - 1 &&
			    (v == 0 || v / size_unit[i].bytes != floor(v / size_unit[i].bytes));
		     i++)
			;
		snprintf(out, n, "%.15g%s", v / size_unit[i].bytes, size_unit[i].name);
		return;
	case DURATION:
		break;
	}
	for (i = 0; i < NUNIT - 1 && (v == 0 ? i < 3 : v / unit[i].s != floor(v / unit[i].s)); i++)
		;
	snprintf(
	    out, n, "%.15g%s", i == NUNIT - 1 ? v / unit[i].s : floor(v / unit[i].s), unit[i].name);
}

static int read_field(struct reader *r, const struct field *f, const yaml_node_t *n)
{
	const char *s = scalar(n);
	char min[64], max[64];
	double v;

	if (!s || parse_value(f->kind, s, &v))
		return wrong(r, n, "%s: expected %s%s%.60s%s", f->key, expected[f->kind],
		    s ? ", not '" : "", s ? s : "", s ? "'" : "");
	if (v < f->min || v > f->max) {
		print_value(f, f->min, min, sizeof min);
		print_value(f, f->max, max, sizeof max);
		return wrong(r, n, "%s: expected %s to %s, not '%.60s'", f->key, min, max, s);
	}
	set_number(r->c, f, v);
	r->c->line[f->id] = (unsigned)n->start_mark.line + 1;
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

static int module_pair(
    struct reader *r, const yaml_node_t *key, const yaml_node_t *value, void *arg)
{
	static const char *const known[] = {"path", "action", "verify", "huge_pages"};
	struct conf_module *m = arg;
	const char *k = scalar(key), *s = scalar(value);
	double yes;

	if (!strcmp(k, "path")) {
		if (!s || (*s != '/' && *s != '*'))
			return wrong(
			    r, value, "path: expected an absolute path or a pattern of paths");
		m->path = xstrdup(s);
		return 0;
	}
	if (!strcmp(k, "action")) {
		for (m->action = 0; m->action < 3; m->action++)
			if (s && !strcmp(s, action_name[m->action]))
				return 0;
		return wrong(r, value, "action: expected optimize, observe or ignore");
	}
	if (!strcmp(k, "verify"))
		return read_command(r, "verify", value, &m->verify);
	if (!strcmp(k, "huge_pages")) {
		if (!s || parse_value(BOOLEAN, s, &yes))
			return wrong(r, value, "huge_pages: expected %s", expected[BOOLEAN]);
		m->huge_pages = yes != 0 ? CONF_YES : CONF_NO;
		return 0;
	}
	return unknown(r, key, " in modules", known, 4);
}

static int read_modules(struct reader *r, const yaml_node_t *n)
{
	struct conf_module *m;
	yaml_node_item_t *i;
	yaml_node_t *item;

	if (n->type != YAML_SEQUENCE_NODE)
		return wrong(r, n, "modules: expected a list of {path: …, action: …}");
	for (i = n->data.sequence.items.start; i < n->data.sequence.items.top; i++) {
		item = yaml_document_get_node(&r->doc, *i);
		vec_push(&r->c->modules,
		    (struct conf_module){.line = (unsigned)item->start_mark.line + 1});
		m = &r->c->modules.v[r->c->modules.n - 1];
		if (each_pair(r, item, "modules", module_pair, m))
			return -1;
		if (!m->path)
			return wrong(r, item, "modules: this entry has no path");
	}
	return 0;
}

static int read_packages(struct reader *r, const yaml_node_t *n)
{
	yaml_node_item_t *i;
	yaml_node_t *item;
	const char *s;

	if (n->type != YAML_SEQUENCE_NODE)
		return wrong(r, n, "packages: expected a list of package names");
	for (i = n->data.sequence.items.start; i < n->data.sequence.items.top; i++) {
		item = yaml_document_get_node(&r->doc, *i);
		s = scalar(item);
		if (!s || !*s || s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789+-.")])
			return wrong(r, item, "packages: expected the name of a Debian package");
		vec_push(&r->c->packages, xstrdup(s));
	}
	return 0;
}

static int section_pair(
    struct reader *r, const yaml_node_t *key, const yaml_node_t *value, void *arg)
{
	const char *section = arg, *known[NFIELD];
	char where[32];
	size_t i, n = 0;

	for (i = 0; i < NFIELD; i++) {
		if (!field[i].section || strcmp(field[i].section, section))
			continue;
		if (!strcmp(field[i].key, scalar(key)))
			return read_field(r, &field[i], value);
		known[n++] = field[i].key;
	}
	snprintf(where, sizeof where, " in %s", section);
	return unknown(r, key, where, known, n);
}

static int verify_pair(
    struct reader *r, const yaml_node_t *key, const yaml_node_t *value, void *arg)
{
	static const char *const known[] = {"command"};

	if (strcmp(scalar(key), "command"))
		return unknown(r, key, " in verify", known, 1);
	r->c->line[CONF_VERIFY] = (unsigned)value->start_mark.line + 1;
	return read_command(r, "command", value, &r->c->verify);
}

static int top_pair(struct reader *r, const yaml_node_t *key, const yaml_node_t *value, void *arg)
{
	static const char *const known[] = {
	    "profile", "decide", "idle", "edit", "layout", "verify", "modules", "packages",
	    "keep_builds"};
	enum { SECTIONS = 5 };
	const char *k = scalar(key);
	size_t i;

	for (i = 0; i < SECTIONS; i++)
		if (!strcmp(k, known[i]))
			return each_pair(r, value, k, section_pair, (void *)known[i]);
	for (i = 0; i < NFIELD; i++)
		if (!field[i].section && !strcmp(k, field[i].key))
			return read_field(r, &field[i], value);
	if (!strcmp(k, "verify"))
		return each_pair(r, value, k, verify_pair, NULL);
	if (!strcmp(k, "modules")) {
		r->c->line[CONF_MODULES] = (unsigned)key->start_mark.line + 1;
		return read_modules(r, value);
	}
	if (!strcmp(k, "packages")) {
		r->c->line[CONF_PACKAGES] = (unsigned)key->start_mark.line + 1;
		return read_packages(r, value);
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

int conf_read(const char *path, struct conf *c, struct err *e)
{
	struct buf b = {0};
	int rc;

	if (!path) {
		conf_defaults(c);
		return 0;
	}
	*c = (struct conf){0};
	rc = file_read(path, POLICY_MAX, &b, e);
	if (rc == 0)
		rc = conf_parse(path, buf_cstr(&b), b.n, c, e);
	buf_free(&b);
	return rc;
}

/* ---- printing ---- */

static void print_origin(const struct conf *c, enum conf_key key, FILE *out)
{
	if (c->line[key])
		fprintf(out, " # %s:%u\n", c->path, c->line[key]);
	else
		fputs(" # default\n", out);
}

static void print_string(const char *s, FILE *out)
{
	putc('"', out);
	for (; *s; s++)
		if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if ((unsigned char)*s < ' ' || *s == 0x7f)
			fprintf(out, "\\x%02X", (unsigned char)*s);
		else
			putc(*s, out);
	putc('"', out);
}

static void print_command(char *const *v, FILE *out)
{
	size_t i;

	for (i = 0; v[i]; i++) {
		fputs(i ? ", " : "[", out);
		print_string(v[i], out);
	}
	putc(']', out);
}

static void print_lists(const struct conf *c, FILE *out)
{
	const struct conf_module *m;
	size_t i;

	fputs(c->modules.n ? "modules:" : "modules: []", out);
	print_origin(c, CONF_MODULES, out);
	for (i = 0; i < c->modules.n; i++) {
		m = &c->modules.v[i];
		fputs("  - path: ", out);
		print_string(m->path, out);
		fprintf(
		    out, " # %s:%u\n    action: %s\n", c->path, m->line, action_name[m->action]);
		if (m->huge_pages != CONF_AS_GENERAL)
			fprintf(out, "    huge_pages: %s\n",
			    m->huge_pages == CONF_YES ? "yes" : "no");
		if (m->verify) {
			fputs("    verify: ", out);
			print_command(m->verify, out);
			putc('\n', out);
		}
	}
	fputs(c->packages.n ? "packages:" : "packages: []", out);
	print_origin(c, CONF_PACKAGES, out);
	for (i = 0; i < c->packages.n; i++) {
		fputs("  - ", out);
		print_string(c->packages.v[i], out);
		putc('\n', out);
	}
}

void conf_print(const struct conf *c, FILE *out)
{
	const char *section = "";
	char value[64];
	size_t i;

	for (i = 0; i < NFIELD; i++) {
		if (field[i].section && strcmp(section, field[i].section))
			fprintf(out, "%s:\n", section = field[i].section);
		print_value(&field[i], get_number(c, &field[i]), value, sizeof value);
		fprintf(out, "%s%s: %s", field[i].section ? "  " : "", field[i].key, value);
		print_origin(c, field[i].id, out);
	}
	if (c->verify) {
		fputs("verify:\n  command: ", out);
		print_command(c->verify, out);
	} else {
		fputs("verify: {}", out);
	}
	print_origin(c, CONF_VERIFY, out);
	print_lists(c, out);
}

/* ---- what holds for a path ---- */

static bool path_matches(const char *glob, const char *path)
{
	return fnmatch(glob, path, strstr(glob, "**") ? 0 : FNM_PATHNAME) == 0;
}

const struct conf_module *conf_module_for(const struct conf *c, const char *path)
{
	size_t i;

	for (i = 0; i < c->modules.n; i++)
		if (path_matches(c->modules.v[i].path, path))
			return &c->modules.v[i];
	return NULL;
}

char *const *conf_verify_for(const struct conf *c, const char *path)
{
	const struct conf_module *m = conf_module_for(c, path);

	return m && m->verify ? m->verify : c->verify;
}

bool conf_huge_pages_for(const struct conf *c, const char *path)
{
	const struct conf_module *m = conf_module_for(c, path);

	return m && m->huge_pages != CONF_AS_GENERAL ? m->huge_pages == CONF_YES
						     : c->layout.huge_pages;
}

char *const **conf_verify_all(const struct conf *c)
{
	VEC(char *const *) v = {0};
	size_t i;

	if (c->verify)
		vec_push(&v, c->verify);
	for (i = 0; i < c->modules.n; i++)
		if (c->modules.v[i].verify)
			vec_push(&v, c->modules.v[i].verify);
	vec_push(&v, NULL);
	return v.v;
}
