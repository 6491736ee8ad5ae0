#include "common/artifact/artifact.h"
#include "common/publish.h"
#include "morphctl/command.h"

#include <stdio.h>
#include <unistd.h>

/* The editor in the folder of this program. */
static char *editor_path(void)
{
	char *own = realpath("/proc/self/exe", NULL), *dir, *path;

	if (!own)
		return NULL;
	dir = path_dir(own);
	path = xasprintf("%s/morph-edit", dir);
	free(own);
	free(dir);
	return path;
}

int cmd_compare(const struct invocation *in)
{
	char *editor = editor_path(), *artifact, top[16];
	struct err e = {{0}};
	const char *argv[10];
	int n = 0;

	artifact = command_artifact(in->arg[0], &e);
	if (!artifact) {
		free(editor);
		return complain(EXIT_NOT_FOUND, "%s", e.text);
	}
	argv[n++] = "morph-edit";
	argv[n++] = "--artifact";
	argv[n++] = artifact;
	argv[n++] = "--compare";
	if (in->limit) {
		snprintf(top, sizeof top, "--top=%ld", in->limit);
		argv[n++] = top;
	}
	if (in->json)
		argv[n++] = "--json";
	argv[n++] = in->arg[1];
	argv[n++] = in->arg[2];
	argv[n] = NULL;
	execv(editor, (char **)argv);
	complain(EXIT_FAILED, "%s: %m", editor);
	free(artifact);
	free(editor);
	return EXIT_FAILED;
}
