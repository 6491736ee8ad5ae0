/* morphctl annotate --blocks: a function as the editor knows it. Becomes morph-edit, which infers.
 */
#include "common/places.h"
#include "common/publish.h"
#include "morphctl/client/client.h"
#include "morphctl/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The module's aged profile, in a file without a name. */
static int fetch_profile(const struct invocation *in, const char **module, const char **samples)
{
	struct client *c = client_open(in->socket, in->mem);
	struct buf text = {0};
	json_t *m = NULL;
	int fd = -1, code = client_module(c, in->arg[0], &m);

	if (code == EXIT_DONE) {
		*module = arena_strdup(in->mem, json_string_value(json_object_get(m, "path")));
		code = client_get_text(c, &text, "/v1/modules/%s/samples",
		    json_string_value(json_object_get(m, "id")));
		json_decref(m);
	}
	if (code == EXIT_DONE) {
		fd = memfd_create("samples", 0);
		if (fd < 0 || file_write_all(fd, text.p, text.n))
			code = complain(EXIT_FAILED, "samples: %s", strerror(errno));
		*samples = arena_printf(in->mem, "/dev/fd/%d", fd);
	}
	client_close(c);
	buf_free(&text);
	return code;
}

int blocks_annotate(const struct invocation *in)
{
	char *editor = places_own("morph-edit"), *artifact;
	const char *module, *samples;
	struct err e = {{0}};
	int code = fetch_profile(in, &module, &samples);

	if (code != EXIT_DONE)
		return code;
	artifact = command_artifact(module, &e);
	if (!artifact)
		return complain(EXIT_NOT_FOUND, "%s", e.text);
	execl(editor, "morph-edit", "--artifact", artifact, "--samples", samples, "--module",
	    module, "--annotate", in->arg[1], in->json ? "--json" : NULL, NULL);
	return complain(EXIT_FAILED, "%s: %s", editor, strerror(errno));
}
