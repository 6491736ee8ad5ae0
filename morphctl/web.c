#include "common/places.h"
#include "morphctl/client/client.h"
#include "morphctl/command.h"

#include <stdlib.h>
#include <unistd.h>

int cmd_web(const struct invocation *in)
{
	char *server = places_own("../libexec/morph/morph-web");
	const char *argv[6] = {"morph-web"};
	int n = 1;

	if (!server)
		return complain(EXIT_FAILED, "morph-web: %m");
	if (command_value(in, OPT_LISTEN)) {
		argv[n++] = "--listen";
		argv[n++] = command_value(in, OPT_LISTEN);
	}
	argv[n++] = "--";
	argv[n++] = in->socket ?: client_socket(in->mem);
	execv(server, (char **)argv);
	complain(EXIT_FAILED, "%s: %m", server);
	free(server);
	return EXIT_FAILED;
}
