#include "hooks/ldopt.h"

#include <string.h>

struct known {
	const char *name; /* without dashes */
	enum ldopt_kind kind;
	bool value; /* takes one, also as the next argument */
};

static const struct known long_option[] = {
    {"architecture", LDOPT_KEEP, true},
    {"assert", LDOPT_KEEP, true},
    {"audit", LDOPT_KEEP, true},
    {"auxiliary", LDOPT_KEEP, true},
    {"build-id", LDOPT_BUILD_ID, false},
    {"compress-debug-sections", LDOPT_KEEP, true},
    {"ctf-share-types", LDOPT_KEEP, true},
    {"dT", LDOPT_FILE, true},
    {"default-script", LDOPT_FILE, true},
    {"defsym", LDOPT_KEEP, true},
    {"depaudit", LDOPT_KEEP, true},
    {"dependency-file", LDOPT_DEPENDENCY_FILE, true},
    {"dynamic-linker", LDOPT_KEEP, true},
    {"dynamic-list", LDOPT_FILE, true},
    {"entry", LDOPT_KEEP, true},
    {"error-handling-script", LDOPT_DROP, true},
    {"exclude-libs", LDOPT_KEEP, true},
    {"export-dynamic-symbol", LDOPT_KEEP, true},
    {"export-dynamic-symbol-list", LDOPT_FILE, true},
    {"filter", LDOPT_KEEP, true},
    {"fini", LDOPT_KEEP, true},
    {"format", LDOPT_FORMAT, true},
    {"gpsize", LDOPT_KEEP, true},
    {"hash-size", LDOPT_KEEP, true},
    {"hash-style", LDOPT_KEEP, true},
    {"help", LDOPT_INQUIRY, false},
    {"ignore-unresolved-symbol", LDOPT_KEEP, true},
    {"init", LDOPT_KEEP, true},
    {"just-symbols", LDOPT_FILE, true},
    {"library", LDOPT_LIBRARY, true},
    {"library-path", LDOPT_FOLDER, true},
    {"Map", LDOPT_MAP, true},
    {"max-cache-size", LDOPT_KEEP, true},
    {"mri-script", LDOPT_FILE, true},
    {"no-pie", LDOPT_KEEP, false},
    {"oformat", LDOPT_KEEP, true},
    {"orphan-handling", LDOPT_KEEP, true},
    {"out-implib", LDOPT_DROP, true},
    {"output", LDOPT_OUTPUT, true},
    {"plugin", LDOPT_DROP, true},
    {"plugin-opt", LDOPT_DROP, true},
    {"print-map", LDOPT_MAP, false},
    {"print-output-format", LDOPT_INQUIRY, false},
    {"print-sysroot", LDOPT_INQUIRY, false},
    {"relocatable", LDOPT_RELOCATABLE, false},
    {"require-defined", LDOPT_KEEP, true},
    {"retain-symbols-file", LDOPT_FILE, true},
    {"rpath", LDOPT_KEEP, true},
    {"rpath-link", LDOPT_DROP, true},
    {"script", LDOPT_FILE, true},
    {"section-start", LDOPT_KEEP, true},
    {"soname", LDOPT_KEEP, true},
    {"sort-section", LDOPT_KEEP, true},
    {"spare-dynamic-tags", LDOPT_KEEP, true},
    {"sysroot", LDOPT_SYSROOT, true},
    {"target-help", LDOPT_INQUIRY, false},
    {"task-link", LDOPT_KEEP, true},
    {"Tbss", LDOPT_KEEP, true},
    {"Tdata", LDOPT_KEEP, true},
    {"Tldata-segment", LDOPT_KEEP, true},
    {"Trodata-segment", LDOPT_KEEP, true},
    {"Ttext", LDOPT_KEEP, true},
    {"Ttext-segment", LDOPT_KEEP, true},
    {"trace", LDOPT_DROP, false},
    {"trace-symbol", LDOPT_DROP, true},
    {"undefined", LDOPT_KEEP, true},
    {"unresolved-symbols", LDOPT_KEEP, true},
    {"Ur", LDOPT_RELOCATABLE, false},
    {"verbose", LDOPT_DROP, false},
    {"version", LDOPT_INQUIRY, false},
    {"version-exports-section", LDOPT_KEEP, true},
    {"version-script", LDOPT_FILE, true},
    {"wrap", LDOPT_KEEP, true},
};

/* Of one dash and one letter. */
static const struct known short_option[] = {
    {"a", LDOPT_KEEP, true},
    {"A", LDOPT_KEEP, true},
    {"b", LDOPT_FORMAT, true},
    {"c", LDOPT_FILE, true},
    {"e", LDOPT_KEEP, true},
    {"f", LDOPT_KEEP, true},
    {"F", LDOPT_KEEP, true},
    {"G", LDOPT_KEEP, true},
    {"h", LDOPT_KEEP, true},
    {"I", LDOPT_KEEP, true},
    {"l", LDOPT_LIBRARY, true},
    {"L", LDOPT_FOLDER, true},
    {"m", LDOPT_KEEP, true},
    {"o", LDOPT_OUTPUT, true},
    {"O", LDOPT_KEEP, true},
    {"P", LDOPT_KEEP, true},
    {"R", LDOPT_FILE, true},
    {"T", LDOPT_FILE, true},
    {"u", LDOPT_KEEP, true},
    {"y", LDOPT_DROP, true},
    {"Y", LDOPT_KEEP, true},
    {"z", LDOPT_KEEP, true},
    {"i", LDOPT_RELOCATABLE, false},
    {"M", LDOPT_MAP, false},
    {"r", LDOPT_RELOCATABLE, false},
    {"t", LDOPT_DROP, false},
    {"v", LDOPT_DROP, false},
    {"V", LDOPT_DROP, false},
};

#define COUNT(A) (sizeof(A) / sizeof *(A))

static const struct known *find(const struct known *t, size_t count, const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (strlen(t[i].name) == n && !memcmp(t[i].name, s, n))
			return &t[i];
	return NULL;
}

/* -Tdata=0x1000 and -T data are told apart as getopt does: the long names
 * first, but none that begins with 'o' behind one dash. */
static const struct known *find_long(const char *s, size_t n, bool one_dash)
{
	if (one_dash && (*s == 'o' || n < 2))
		return NULL;
	return find(long_option, COUNT(long_option), s, n);
}

static void take_value(const struct args *arg, struct ldopt *o)
{
	if (!o->value && o->first + 1 < arg->n) {
		o->value = arg->v[o->first + 1];
		o->n = 2;
	}
}

static void read_option(const struct args *arg, struct ldopt *o)
{
	const char *s = arg->v[o->first], *body = s + (s[1] == '-' ? 2 : 1);
	size_t n = strcspn(body, "=");
	const struct known *k = find_long(body, n, s[1] != '-');

	o->name = s;
	o->name_n = (size_t)(body - s) + n;
	o->is_long = true;
	o->value = body[n] ? body + n + 1 : NULL;
	if (!k && s[1] != '-' && (k = find(short_option, COUNT(short_option), body, 1))) {
		if (!k->value && body[1]) { /* several letters, or unknown */
			k = NULL;
		} else {
			o->is_long = false;
			o->name_n = 2;
			o->value = body[1] ? body + 1 : NULL;
		}
	}
	o->kind = k ? k->kind : LDOPT_UNKNOWN;
	if (k && k->value)
		take_value(arg, o);
}

bool ldopt_next(const struct args *arg, size_t *i, struct ldopt *o)
{
	if (*i >= arg->n)
		return false;
	*o = (struct ldopt){.first = *i, .n = 1};
	if (arg->v[*i][0] != '-' || !arg->v[*i][1]) {
		o->kind = LDOPT_INPUT;
		o->value = arg->v[*i];
	} else {
		read_option(arg, o);
	}
	*i += o->n;
	return true;
}

void ldcmd_read(struct ldcmd *c, const struct args *arg)
{
	struct ldopt o;
	size_t i = 0;

	*c = (struct ldcmd){.output = "a.out"};
	while (ldopt_next(arg, &i, &o)) {
		if (o.kind == LDOPT_INPUT || o.kind == LDOPT_LIBRARY)
			c->inputs++;
		else if (o.kind == LDOPT_OUTPUT && o.value)
			c->output = o.value;
		else if (o.kind == LDOPT_MAP && o.value)
			c->map = o.value;
		else if (o.kind == LDOPT_MAP)
			c->map_stdout = true;
		else if (o.kind == LDOPT_DEPENDENCY_FILE)
			c->dependency_file = o.value;
		else if (o.kind == LDOPT_SYSROOT)
			c->sysroot = o.value;
		else if (o.kind == LDOPT_RELOCATABLE)
			c->relocatable = true;
		else if (o.kind == LDOPT_INQUIRY)
			c->inquiry = true;
		else if (o.kind == LDOPT_BUILD_ID)
			c->fixed_build_id = o.value && !strncmp(o.value, "0x", 2);
		else if (!o.is_long && o.name_n == 2 && o.name[1] == 'm')
			c->emulation = o.value;
	}
	/* ld -v alone is a question; with inputs it links as well. */
	if (!c->inputs)
		c->inquiry = true;
}
