/* morphctl annotate and export --blocks: a module's profile as the editor knows it. morph-edit
 * infers. */
#include "common/places.h"
#include "common/publish.h"
#include "common/spawn.h"
#include "morphctl/client/client.h"
#include "morphctl/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The module's aged profile, in a file without a name. */
static int fetch_profile(
    const struct invocation *in, const char *name, const char **module, const char **samples)
{
	struct client *c = client_open(in->socket, in->mem);
	struct buf text = {0};
	json_t *m = NULL;
	int fd = -1, code = client_module(c, name, &m);

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

/* The module that was named, with what morph-edit reads of it. */
struct edited {
	const char *module, *samples;
	char *artifact;
};

static int find_edited(const struct invocation *in, const char *name, struct edited *m)
{
	struct err e = {{0}};
	int code = fetch_profile(in, name, &m->module, &m->samples);

	if (code != EXIT_DONE)
		return code;
	m->artifact = command_artifact(m->module, &e);
	return m->artifact ? EXIT_DONE : complain(EXIT_NOT_FOUND, "%s", e.text);
}

int blocks_annotate(const struct invocation *in)
{
	char *editor = places_own("morph-edit");
	struct edited m;
	int code = find_edited(in, in->arg[0], &m);

	if (code != EXIT_DONE)
		return code;
	execl(editor, "morph-edit", "--artifact", m.artifact, "--samples", m.samples, "--module",
	    m.module, "--annotate", in->arg[1], in->json ? "--json" : NULL, NULL);
	return complain(EXIT_FAILED, "%s: %s", editor, strerror(errno));
}

/* Writes the text; morph-edit has said why where it fails. */
static int infer(const struct edited *m, const char *text)
{
	char *editor = places_own("morph-edit");
	const char *const argv[] = {editor, "--artifact", m->artifact, "--samples", m->samples,
	    "--module", m->module, "--branches", "-o", text, NULL};
	struct spawn s = {.argv = argv, .out = -1};
	struct err e;
	int status = spawn_run(&s, &e);

	free(editor);
	if (status < 0)
		return complain(EXIT_FAILED, "%s", e.text);
	return status ? EXIT_FAILED : EXIT_DONE;
}

/* The text in a file that has no name any more. */
static int infer_in(const char *folder, const struct edited *m, int *fd)
{
	char *text = xasprintf("%s/text", folder);
	int code = infer(m, text);

	if (code == EXIT_DONE) {
		*fd = open(text, O_RDONLY); /* morph-report inherits it */
		if (*fd < 0)
			code = complain(EXIT_FAILED, "%s: %s", text, strerror(errno));
		unlink(text);
	}
	free(text);
	return code;
}

int blocks_branches(
    const struct invocation *in, const char *name, const char **module, const char **path)
{
	const char *tmp = env_value("TMPDIR");
	char *folder;
	struct edited m;
	int code = find_edited(in, name, &m), fd = -1;

	if (code != EXIT_DONE)
		return code;
	folder = xasprintf("%s/morph-export.XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
	if (mkdtemp(folder)) {
		code = infer_in(folder, &m, &fd);
		rmdir(folder);
	} else {
		code = complain(EXIT_FAILED, "%s: %s", folder, strerror(errno));
	}
	free(folder);
	*module = m.module;
	*path = arena_printf(in->mem, "/proc/self/fd/%d", fd);
	return code;
}
