#include "managerd/conf/fields.h"

#include <stdio.h>
#include <string.h>

static double get_number(const struct conf *c, const struct conf_field *f)
{
	const void *at = (const char *)c + f->at;

	if (f->kind == CONF_COUNT || f->kind == CONF_BYTES)
		return (double)*(const uint64_t *)at;
	if (f->kind == CONF_LEVEL)
		return *(const int *)at;
	return f->kind == CONF_BOOLEAN ? *(const bool *)at : *(const double *)at;
}

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

static void print_servers(const struct conf *c, FILE *out)
{
	size_t i;

	fputs("  servers: [", out);
	for (i = 0; i < c->fetch.servers.n; i++) {
		fputs(i ? ", " : "", out);
		print_string(c->fetch.servers.v[i], out);
	}
	putc(']', out);
	print_origin(c, CONF_FETCH_SERVERS, out);
	if (c->fetch.key) {
		fprintf(out, "  key: %s", c->fetch.key);
		print_origin(c, CONF_FETCH_KEY, out);
	}
}

static void print_command_section(
    const struct conf *c, const char *name, enum conf_key key, char *const *v, FILE *out)
{
	if (v) {
		fprintf(out, "%s:\n  command: ", name);
		print_command(v, out);
	} else {
		fprintf(out, "%s: {}", name);
	}
	print_origin(c, key, out);
}

static void print_module_command(const char *key, char *const *v, FILE *out)
{
	if (!v)
		return;
	fprintf(out, "    %s: ", key);
	print_command(v, out);
	putc('\n', out);
}

static void print_legacy(int legacy, FILE *out)
{
	char value[32];

	if (legacy == LEGACY_UNSET)
		return;
	conf_value_print(CONF_LEVEL, legacy, value, sizeof value);
	fprintf(out, "    legacy: %s\n", value);
}

static void print_packages(const struct conf *c, FILE *out)
{
	const struct conf_package *p;
	size_t i;

	fputs(c->packages.n ? "packages:" : "packages: []", out);
	print_origin(c, CONF_PACKAGES, out);
	for (i = 0; i < c->packages.n; i++) {
		p = &c->packages.v[i];
		fputs(p->legacy == LEGACY_UNSET ? "  - " : "  - name: ", out);
		print_string(p->name, out);
		putc('\n', out);
		print_legacy(p->legacy, out);
	}
}

static void print_modules(const struct conf *c, FILE *out)
{
	const struct conf_module *m;
	size_t i;

	fputs(c->modules.n ? "modules:" : "modules: []", out);
	print_origin(c, CONF_MODULES, out);
	for (i = 0; i < c->modules.n; i++) {
		m = &c->modules.v[i];
		fputs("  - path: ", out);
		print_string(m->path, out);
		fprintf(out, " # %s:%u\n    action: %s\n", c->path, m->line,
		    conf_action_name[m->action]);
		print_legacy(m->legacy, out);
		print_module_command("verify", m->verify, out);
		print_module_command("measure", m->measure, out);
		print_module_command("counter", m->counter, out);
		print_module_command("restart", m->restart, out);
		if (m->order) {
			fputs("    order: ", out);
			print_string(m->order, out);
			putc('\n', out);
		}
	}
}

static void print_measuring(
    const struct conf *c, const char *name, enum conf_key key, char *const *v, FILE *out)
{
	if (!v)
		return;
	fprintf(out, "  %s: ", name);
	print_command(v, out);
	print_origin(c, key, out);
}

static void print_section(const struct conf *c, const char *name, FILE *out)
{
	fprintf(out, "%s:\n", name);
	if (!strcmp(name, "fetch"))
		print_servers(c, out);
	if (!strcmp(name, "measure")) {
		print_measuring(c, "command", CONF_MEASURE, c->measure.command, out);
		print_measuring(c, "counter", CONF_COUNTER, c->measure.counter, out);
		print_measuring(c, "restart", CONF_RESTART, c->measure.restart, out);
	}
}

void conf_print(const struct conf *c, FILE *out)
{
	const char *section = "";
	char value[64];
	size_t i;

	for (i = 0; i < NFIELD; i++) {
		if (conf_field[i].section && strcmp(section, conf_field[i].section))
			print_section(c, section = conf_field[i].section, out);
		conf_value_print(
		    conf_field[i].kind, get_number(c, &conf_field[i]), value, sizeof value);
		fprintf(
		    out, "%s%s: %s", conf_field[i].section ? "  " : "", conf_field[i].key, value);
		print_origin(c, conf_field[i].id, out);
	}
	print_command_section(c, "verify", CONF_VERIFY, c->verify, out);
	print_command_section(c, "notify", CONF_NOTIFY, c->notify, out);
	print_modules(c, out);
	print_packages(c, out);
}
