/*
 * What gcov writes of programs of gcc --coverage: executions of source lines. As JSON of GCC 9 and
 * later (gcov --json-format), objects one after another, of which are read:
 *
 *	{"gcc_version": …, "files": [{"file": PATH,
 *	  "functions": [{"name": …, "demangled_name": …, "start_line": …}, …],
 *	  "lines": [{"line_number": …, "count": …, "function_name": …}, …]}, …]}
 *
 * or as text (gcov -t, a .gcov file):
 *
 *	COUNT[*]:LINE:SOURCE TEXT       COUNT "-": no code; '#', '=' and so on: never executed
 *	-:0:Source:PATH
 *	function NAME called …          with -b: before its first line
 *	------------------              then NAME: and its own share of the lines above, or no share
 *
 * A function that nothing names is called by its file. Branches have no target in it and are passed
 * over, as are counts in a form for people (-H).
 */
#include "morphctl/report/in/named.h"
#include "morphctl/report/in/lines.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ---- */

static uint32_t function_in(const struct named *to, const char *name, const char *demangled,
    const char *source, json_int_t line)
{
	return recording_function(
	    to->r, &(struct recording_function){.name = demangled ?: name,
		       .linkage = name,
		       .source = source,
		       .file = to->file,
		       .start = UINT64_MAX,
		       .line = line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0});
}

/* "[PATH]": what lies in a source file. */
static uint32_t unnamed(const struct named *to, const char *source)
{
	char *name = xasprintf("[%s]", source);
	uint32_t function = function_in(to, name, NULL, source, 0);

	free(name);
	return function;
}

static void list_functions(
    const struct named *to, const json_t *list, const char *source, struct htab *known)
{
	const char *name;
	const json_t *f;
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		f = json_array_get(list, i);
		name = json_string_value(json_object_get(f, "name"));
		if (name)
			*htab_put_str(known, name, NULL) = function_in(to, name,
			    json_string_value(json_object_get(f, "demangled_name")), source,
			    json_integer_value(json_object_get(f, "start_line")));
	}
}

static int add_json_line(const struct named *to, const json_t *line, const char *source,
    const struct htab *known, const struct in_file *f, struct err *e)
{
	const json_t *number = json_object_get(line, "line_number");
	const json_t *count = json_object_get(line, "count");
	const char *name = json_string_value(json_object_get(line, "function_name"));
	json_int_t at = json_integer_value(number), n = json_integer_value(count);
	const uint64_t *function = name ? htab_get_str(known, name) : NULL;
	struct recording_frame frame = {.line = (uint32_t)at};

	if (!json_is_integer(number) || !json_is_integer(count) || at < 0 || at > UINT32_MAX ||
	    n < 0)
		return err_set(e, "%s: %.500s: not a line_number and a count", f->name, source);
	if (!n)
		return 0;
	frame.function = function ? (uint32_t)*function
			 : name   ? function_in(to, name, NULL, source, 0)
				  : unnamed(to, source);
	named_count(to, &frame, 1, (uint64_t)n);
	return 0;
}

static int add_json_file(
    const struct named *to, const json_t *file, const struct in_file *f, struct err *e)
{
	const char *source = json_string_value(json_object_get(file, "file"));
	const json_t *lines = json_object_get(file, "lines");
	struct htab known = {0};
	int result = 0;
	size_t i;

	if (!source || !json_is_array(lines))
		return err_set(e, "%s: a file without its name and lines", f->name);
	list_functions(to, json_object_get(file, "functions"), source, &known);
	for (i = 0; !result && i < json_array_size(lines); i++)
		result = add_json_line(to, json_array_get(lines, i), source, &known, f, e);
	htab_free(&known);
	return result;
}

static int add_object(
    const struct named *to, const json_t *object, const struct in_file *f, struct err *e)
{
	const json_t *files = json_object_get(object, "files");
	int result = 0;
	size_t i;

	if (!json_is_array(files))
		return err_set(e, "%s: no files in it", f->name);
	for (i = 0; !result && i < json_array_size(files); i++)
		result = add_json_file(to, json_array_get(files, i), f, e);
	return result;
}

static size_t blanks(const uint8_t *p, size_t n)
{
	size_t i;

	for (i = 0; i < n && p[i] && strchr(" \t\r\n", p[i]); i++)
		;
	return i;
}

static int read_json(const struct named *to, const struct in_file *f, struct err *e)
{
	size_t at = blanks(f->p, f->n);
	json_error_t bad;
	json_t *object;
	int result = 0;

	while (!result && at < f->n) {
		object =
		    json_loadb((const char *)f->p + at, f->n - at, JSON_DISABLE_EOF_CHECK, &bad);
		if (!object)
			return err_set(
			    e, "%s: offset %zu: %s", f->name, at + (size_t)bad.position, bad.text);
		result = add_object(to, object, f, e);
		json_decref(object);
		at += (size_t)bad.position;
		at += blanks(f->p + at, f->n - at);
	}
	return result;
}

/* ---- text ---- */

struct counted {
	uint64_t n;
	uint32_t line, function; /* RECORDING_NONE: nothing names it */
	bool share;
};

struct text {
	struct lines l;
	struct named to;
	char *source;
	VEC(struct counted) line; /* of the source */
	struct htab shared;       /* its lines of which there are shares */
	uint32_t function;
	bool after_rule, share;
};

static bool begins(struct word w, const char *s)
{
	return w.n >= strlen(s) && !memcmp(w.s, s, strlen(s));
}

/* What the shares of a line do not say is said twice. */
static void end_source(struct text *x)
{
	struct recording_frame frame = {0};
	const struct counted *c;

	for (c = x->line.v; c < x->line.v + x->line.n; c++) {
		if (!c->share && htab_get(&x->shared, &c->line, sizeof c->line))
			continue;
		frame.line = c->line;
		frame.function =
		    c->function == RECORDING_NONE ? unnamed(&x->to, x->source) : c->function;
		named_count(&x->to, &frame, 1, c->n);
	}
	vec_free(&x->line);
	htab_free(&x->shared);
	free(x->source);
	x->source = NULL;
	x->function = RECORDING_NONE;
	x->after_rule = x->share = false;
}

static bool set_function(struct text *x, struct word name)
{
	char *text;

	if (!name.n || memchr(name.s, '\0', name.n) || !x->source)
		return false;
	text = xasprintf("%.*s", (int)name.n, name.s);
	x->function = function_in(&x->to, text, NULL, x->source, 0);
	free(text);
	return true;
}

/* The name may have blanks. */
static bool take_function(struct text *x, struct word line)
{
	static const char called[] = " called ";
	size_t begin = strlen("function "), at = line.n;

	while (at > begin && !begins((struct word){line.s + at, line.n - at}, called))
		at--;
	return set_function(x, (struct word){line.s + begin, at - begin});
}

static bool take_source(struct text *x, struct word line)
{
	static const char source[] = "Source:";

	if (!begins(line, source))
		return true;
	end_source(x);
	x->source = xasprintf("%.*s", (int)(line.n - strlen(source)), line.s + strlen(source));
	return line.n > strlen(source);
}

/* COUNT:LINE:TEXT; *n = 0 where nothing ran. */
static bool split_line(struct word *line, uint64_t *n, uint64_t *number)
{
	struct word count, at;

	if (!word_split(line, ":", &count) || !word_split(line, ":", &at))
		return false;
	while (count.n && *count.s == ' ')
		count.s++, count.n--;
	while (at.n && *at.s == ' ')
		at.s++, at.n--;
	if (count.n && count.s[count.n - 1] == '*')
		count.n--;
	*n = 0;
	if (!count.n || !word_decimal(at, number) || *number > UINT32_MAX)
		return false;
	return memchr("-#=$%", *count.s, 5) || word_decimal(count, n);
}

static bool add_text_line(struct text *x, struct word line)
{
	struct counted c = {.function = x->function, .share = x->share};
	uint64_t number;

	if (begins(line, "function "))
		return take_function(x, line);
	if (begins(line, "branch ") || begins(line, "call ") || begins(line, "unconditional "))
		return true;
	if (!split_line(&line, &c.n, &number))
		return false;
	if (!number)
		return take_source(x, line);
	if (!x->source)
		return false;
	c.line = (uint32_t)number;
	if (x->share)
		htab_put(&x->shared, &c.line, sizeof c.line, NULL);
	if (c.n)
		vec_push(&x->line, c);
	return true;
}

/* A rule, and the name after it, begin the share of one of several functions on the same lines, a
 * rule alone ends the last one. true: it is one of these. */
static bool is_heading(struct text *x, struct word line)
{
	bool after = x->after_rule;

	x->after_rule = begins(line, "------");
	if (x->after_rule || !after)
		return x->after_rule;
	x->share = *line.s != ' ' && line.s[line.n - 1] == ':';
	x->function = RECORDING_NONE;
	return x->share && set_function(x, (struct word){line.s, line.n - 1});
}

static int read_text(const struct named *to, const struct in_file *f, struct err *e)
{
	struct text x = {.l = {.f = f}, .to = *to, .function = RECORDING_NONE};
	int result = 0;
	struct word line;

	while (!result && lines_next(&x.l)) {
		line = x.l.rest;
		if (!lines_end(&x.l) && !is_heading(&x, line) && !add_text_line(&x, line))
			result = lines_bad(&x.l, e, "not COUNT:LINE:TEXT after a -:0:Source:PATH");
	}
	end_source(&x);
	return result;
}

/* ---- either ---- */

static bool is_json(const struct in_file *f)
{
	size_t at = blanks(f->p, f->n);

	return at < f->n && f->p[at] == '{';
}

static int read_gcov(
    struct recording *r, const struct in_file *f, const struct in_options *o, struct err *e)
{
	struct named to = named_begin(r, o, "[gcov]", "executions");

	return is_json(f) ? read_json(&to, f, e) : read_text(&to, f, e);
}

static bool is_gcov(const struct in_file *f)
{
	static const char version[] = "\"gcc_version\"", files[] = "\"files\"";
	struct lines l = {.f = f};
	uint64_t n, number;

	if (is_json(f))
		return memmem(f->p, f->n, version, sizeof version - 1) &&
		       memmem(f->p, f->n, files, sizeof files - 1);
	return lines_next_full(&l) && split_line(&l.rest, &n, &number) && !number &&
	       begins(l.rest, "Source:");
}

const struct in_format in_gcov = {
    "gcov", "executions of lines, of gcov -t or --json-format", is_gcov, read_gcov};
