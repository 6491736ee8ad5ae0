#include "editor-driver/proof/vet.h"
#include "common/command/asopt.h"
#include "common/command/ldopt.h"

#include <string.h>

/* Of a member: one name. Of a file: an absolute path, which tree.c walks. */
static int vet_name(const struct art_input *in, struct err *e)
{
	const char *s = in->path, *fault = recipe_name_fault(s, in->kind == ART_SHARED);

	if (fault)
		return err_set(e, "%.200s: %s", s, fault);
	if (in->archive >= 0 && (strchr(s, '/') || !*s || !strcmp(s, ".") || !strcmp(s, "..")))
		return err_set(e, "%.200s: not the name of an archive member", s);
	if (in->archive < 0 && *s != '/')
		return err_set(e, "%.200s: not an absolute path", s);
	return 0;
}

/* One that was lifted has none. */
static int vet_link(struct artifact *a, size_t inputs, struct err *e)
{
	const char *const *arg;
	size_t args = artifact_recipe(a, &arg);

	if (artifact_lifted(a))
		return args || inputs ? err_set(e, "was lifted, and says how it was linked") : 0;
	return recipe_check(linker_named(artifact_meta(a)->ld), arg, args, inputs, e)
		   ? err_wrap(e, "recipe")
		   : 0;
}

int vet_artifact(struct artifact *a, struct err *e)
{
	const struct art_input *in;
	const struct art_tu *tu;
	size_t i, tus = artifact_tus(a, &tu), inputs = artifact_inputs(a, &in);

	if (vet_link(a, inputs, e))
		return -1;
	for (i = 0; i < tus; i++)
		if (asopt_check(tu[i].as_args, e))
			return err_wrap(e, "unit %zu", i);
	for (i = 0; i < inputs; i++)
		if (vet_name(&in[i], e))
			return -1;
	return 0;
}
