#include "common/artifact/artifact.h"
#include "common/places.h"
#include "common/publish.h"
#include "morphctl/command.h"

#include <stdio.h>
#include <unistd.h>

int cmd_compare(const struct invocation *in)
{
	char *editor = places_own("morph-edit"), *artifact, top[16];
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
