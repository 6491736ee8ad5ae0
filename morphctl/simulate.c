#include "common/places.h"
#include "morphctl/command.h"

#include <stdlib.h>
#include <unistd.h>

int cmd_simulate(const struct invocation *in)
{
	char *simulator = places_own("../libexec/morph/morph-simulate");
	const char **argv = arena_array(in->mem, (size_t)in->narg + 8, sizeof *argv);
	int i, n = 0;

	if (!simulator)
		return complain(EXIT_FAILED, "morph-simulate: %m");
	argv[n++] = "morph-simulate";
	if (in->json)
		argv[n++] = "--json";
	if (in->given & OPT_DECISIONS)
		argv[n++] = "--decisions";
	if (command_value(in, OPT_POLICY)) {
		argv[n++] = "--policy";
		argv[n++] = command_value(in, OPT_POLICY);
	}
	argv[n++] = "--";
	for (i = 0; i < in->narg; i++)
		argv[n++] = in->arg[i];
	execv(simulator, (char **)argv);
	complain(EXIT_FAILED, "%s: %m", simulator);
	free(simulator);
	return EXIT_FAILED;
}
