/* morphctl artifact show: the second half of a program, from its file. */
#include "common/artifact/artifact.h"
#include "common/publish.h"
#include "morphctl/command.h"
#include "morphctl/text/table.h"
#include "morphctl/text/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *kind_name(uint32_t kind)
{
	switch (kind) {
	case ELF_EXEC:
		return "executable";
	case ELF_PIE:
		return "position-independent executable";
	case ELF_SHARED:
		return "shared library";
	default:
		return "other";
	}
}

static const char *input_kind_name(uint32_t kind)
{
	static const char *const name[] = {[ART_OBJECT] = "object",
	    [ART_TU] = "unit",
	    [ART_ARCHIVE] = "archive",
	    [ART_SHARED] = "shared-library",
	    [ART_FILE] = "file"};

	return kind >= ART_OBJECT && kind <= ART_FILE ? name[kind] : "other";
}

char *command_artifact(const char *name, struct err *e)
{
	struct build_id id = {0};
	struct elf *f;

	if (access(name, F_OK) < 0 && build_id_parse(name, &id) == 0)
		return artifact_find(NULL, &id, e);
	f = elf_file_open(name, -1, e);
	if (!f)
		return artifact_peek(name, &id, NULL, e) ? NULL : xstrdup(name);
	id = elf_file_build_id(f);
	elf_file_close(f);
	return artifact_find(name, &id, e);
}

/* ---- the file as JSON ---- */

static json_t *optional_text(struct arena *a, const char *s)
{
	return s && *s ? words_json(s) : json_null();
}

static json_t *units_json(struct artifact *art, struct arena *a)
{
	const struct art_tu *tu;
	char hash[HASH_HEX];
	json_t *list = json_array();
	size_t n = artifact_tus(art, &tu), i;

	for (i = 0; i < n; i++)
		json_array_append_new(list,
		    json_pack("{sI so ss sI so}", "id", (json_int_t)tu[i].id, "name",
			words_json(tu[i].name), "hash", hash_hex(&tu[i].hash, hash), "bytes",
			(json_int_t)tu[i].text_size, "as_args", optional_text(a, tu[i].as_args)));
	return list;
}

static json_t *functions_json(struct artifact *art, struct arena *a)
{
	const struct art_func *f;
	char key[HASH_HEX];
	json_t *list = json_array();
	size_t n = artifact_funcs(art, &f), i;
	uint64_t insns;
	uint32_t b;

	for (i = 0; i < n; i++) {
		for (insns = 0, b = 0; b < f[i].nblock; b++)
			insns += f[i].insns[b];
		json_array_append_new(list,
		    json_pack("{sI sI so ss sI sI so}", "unit", (json_int_t)f[i].tu, "ordinal",
			(json_int_t)f[i].ord, "name", words_json(f[i].name), "key",
			hash_hex(&f[i].key, key), "blocks", (json_int_t)f[i].nblock, "instructions",
			(json_int_t)insns, "opaque", optional_text(a, f[i].opaque)));
	}
	return list;
}

static json_t *number_or_null(int64_t v)
{
	return v < 0 ? json_null() : json_integer(v);
}

static json_t *inputs_json(struct artifact *art, struct arena *a)
{
	const struct art_input *in;
	json_t *list = json_array();
	size_t n = artifact_inputs(art, &in), i;

	for (i = 0; i < n; i++)
		json_array_append_new(
		    list, json_pack("{sI ss so so so sI}", "id", (json_int_t)in[i].id, "kind",
			      input_kind_name(in[i].kind), "path", words_json(in[i].path),
			      "archive", number_or_null(in[i].archive), "unit",
			      number_or_null(in[i].tu), "bytes", (json_int_t)in[i].size));
	return list;
}

static json_t *recipe_json(struct artifact *art, struct arena *a)
{
	const char *const *arg;
	json_t *list = json_array();
	size_t n = artifact_recipe(art, &arg), i;

	for (i = 0; i < n; i++)
		json_array_append_new(list, words_json(arg[i]));
	return list;
}

static json_t *artifact_json(const char *path, struct artifact *art, struct arena *a)
{
	const struct art_meta *m = artifact_meta(art);
	char id[BUILD_ID_HEX];
	struct stat st;

	return json_pack("{so sI si so so ss so ss so so so so}", "path", words_json(path), "bytes",
	    (json_int_t)(stat(path, &st) == 0 ? st.st_size : 0), "format", ARTIFACT_FORMAT, "name",
	    words_json(m->name), "producer", words_json(m->producer), "build_id",
	    build_id_hex(&m->id, id), "ld", words_json(m->ld), "kind", kind_name(m->kind), "units",
	    units_json(art, a), "functions", functions_json(art, a), "inputs", inputs_json(art, a),
	    "recipe", recipe_json(art, a));
}

/* ---- the same for people ---- */

struct totals {
	double functions, opaque, blocks, instructions;
};

static void add(struct totals *t, const json_t *f)
{
	t->functions++;
	t->opaque += json_str(f, "opaque") != NULL;
	t->blocks += json_num(f, "blocks");
	t->instructions += json_num(f, "instructions");
}

static void show_units(struct arena *a, const json_t *art, bool colour)
{
	static const struct column column[] = {{"UNIT", CUT}, {"ASSEMBLY", RIGHT},
	    {"FUNCTIONS", RIGHT}, {"OPAQUE", RIGHT}, {"BLOCKS", RIGHT}, {"INSTRUCTIONS", RIGHT}};
	struct table t = {column, sizeof column / sizeof *column};
	const json_t *units = json_object_get(art, "units"), *u, *f;
	struct totals *sum = arena_array(a, json_array_size(units), sizeof *sum);
	size_t i;

	json_array_foreach (json_object_get(art, "functions"), i, f)
		add(&sum[(size_t)json_num(f, "unit")], f);
	json_array_foreach (units, i, u)
		table_row(&t, json_str(u, "name"), words_bytes(a, json_num(u, "bytes")),
		    words_number(a, sum[i].functions), words_number(a, sum[i].opaque),
		    words_number(a, sum[i].blocks), words_number(a, sum[i].instructions));
	table_end(&t, colour);
}

struct reason {
	const char *why, *example;
	double n;
};

/* Why functions move as a whole: each reason once, with how many and one of
 * their names. */
static void show_opaque(struct arena *a, const json_t *functions, bool colour)
{
	static const struct column column[] = {
	    {"OPAQUE", RIGHT}, {"WHY THEY MOVE AS A WHOLE", LEFT}, {"FOR EXAMPLE", CUT_END}};
	struct table t = {column, sizeof column / sizeof *column};
	VEC(struct reason) reason = {0};
	const char *why;
	const json_t *f;
	size_t i, k;

	json_array_foreach (functions, i, f) {
		why = json_str(f, "opaque");
		for (k = 0; why && k < reason.n && strcmp(reason.v[k].why, why) != 0; k++)
			;
		if (!why)
			continue;
		if (k == reason.n)
			vec_push(&reason, (struct reason){why, json_str(f, "name"), 0});
		reason.v[k].n++;
	}
	for (k = 0; k < reason.n; k++)
		table_row(&t, words_number(a, reason.v[k].n), reason.v[k].why, reason.v[k].example);
	vec_free(&reason);
	if (t.row.n)
		table_end(&t, colour);
}

static void show_functions(struct arena *a, const json_t *art, bool colour)
{
	static const struct column column[] = {{"FUNCTION", CUT_END}, {"UNIT", LEFT},
	    {"BLOCKS", RIGHT}, {"INSTRUCTIONS", RIGHT}, {"KEY", LEFT}};
	struct table t = {column, sizeof column / sizeof *column};
	const json_t *units = json_object_get(art, "units"), *f, *u;
	struct table_row *row;
	size_t i;

	json_array_foreach (json_object_get(art, "functions"), i, f) {
		u = json_array_get(units, (size_t)json_num(f, "unit"));
		row = table_row(&t, json_str(f, "name"), json_str(u, "name"),
		    words_number(a, json_num(f, "blocks")),
		    words_number(a, json_num(f, "instructions")), json_str(f, "key"));
		row->cell[4].paint = DIM;
	}
	table_end(&t, colour);
}

/* Linked files; members stand below their archive. */
static void show_inputs(struct arena *a, const json_t *inputs, bool colour)
{
	static const struct column column[] = {
	    {"INPUT", RIGHT}, {"KIND", LEFT}, {"KEPT", RIGHT}, {"PATH", CUT}};
	struct table t = {column, sizeof column / sizeof *column};
	const char *indent;
	const json_t *in;
	size_t i;

	json_array_foreach (inputs, i, in) {
		indent = json_is_null(json_object_get(in, "archive")) ? "" : "  ";
		table_row(&t, words_number(a, json_num(in, "id")), json_str(in, "kind"),
		    words_bytes(a, json_num(in, "bytes")),
		    arena_printf(a, "%s%s", indent, json_str(in, "path")));
	}
	table_end(&t, colour);
}

static char *recipe_words(struct arena *a, const json_t *recipe)
{
	struct buf b = {0};
	const json_t *arg;
	char *text;
	size_t i;

	json_array_foreach (recipe, i, arg)
		buf_printf(&b, "%s%s", i ? " " : "", json_string_value(arg));
	text = arena_strdup(a, buf_cstr(&b));
	buf_free(&b);
	return text;
}

static void show_artifact(const struct invocation *in, const json_t *art)
{
	const json_t *functions = json_object_get(art, "functions"), *f, *u;
	bool colour = table_colour();
	struct arena *a = in->mem;
	struct totals sum = {0};
	double text = 0;
	size_t i;

	json_array_foreach (functions, i, f)
		add(&sum, f);
	json_array_foreach (json_object_get(art, "units"), i, u)
		text += json_num(u, "bytes");
	table_paint(stdout, colour, BOLD, json_str(art, "path"));
	printf(": artifact of %s\n", json_str(art, "name"));
	table_field(stdout, colour, "module", json_str(art, "kind"));
	table_field(stdout, colour, "build-id", json_str(art, "build_id"));
	table_field(stdout, colour, "made by",
	    arena_printf(a, "%s, format %.0f", json_str(art, "producer"), json_num(art, "format")));
	table_field(stdout, colour, "size",
	    arena_printf(a, "%s, holds %s of assembly in %s",
		words_bytes(a, json_num(art, "bytes")), words_bytes(a, text),
		words_plural(a, (double)json_array_size(json_object_get(art, "units")), "unit")));
	table_field(stdout, colour, "code",
	    arena_printf(a, "%s (%s opaque), %s, %s", words_plural(a, sum.functions, "function"),
		words_number(a, sum.opaque), words_plural(a, sum.blocks, "block"),
		words_plural(a, sum.instructions, "instruction")));
	table_field(stdout, colour, "recipe",
	    arena_printf(
		a, "%s %s", json_str(art, "ld"), recipe_words(a, json_object_get(art, "recipe"))));
	show_units(a, art, colour);
	show_opaque(a, functions, colour);
	if (in->given & OPT_FUNCTIONS)
		show_functions(a, art, colour);
	show_inputs(a, json_object_get(art, "inputs"), colour);
}

int cmd_artifact(const struct invocation *in)
{
	const char *name = in->arg[0];
	struct artifact *art = NULL;
	struct build_id id;
	struct err e;
	char *path;
	json_t *j;

	if (access(name, F_OK) < 0 && build_id_parse(name, &id))
		return complain(EXIT_NOT_FOUND, "%s: %m", name);
	path = command_artifact(name, &e);
	if (path)
		art = artifact_open(path, &e);
	if (!art)
		return complain(EXIT_FAILED, "%s", words_clean(in->mem, e.text));
	j = artifact_json(path, art, in->mem);
	artifact_close(art);
	free(path);
	return show(in, j, show_artifact);
}
