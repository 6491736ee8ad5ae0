#include "morphctl/other.h"
#include "morphctl/client/client.h"
#include "morphctl/text/words.h"

#include <stdio.h>
#include <string.h>

enum { MODULES_MAX = 1000 };

json_t *other_ask(const struct invocation *in)
{
	json_t *status = NULL, *modules = NULL, *other = NULL;
	struct client *c;
	const char *path;
	bool system;

	if (in->socket && !in->system)
		return NULL;
	path = client_other(in->socket ?: client_socket(in->mem), in->mem, &system);
	if (!path)
		return NULL;
	c = client_open_other(path, in->mem);
	if (!client_get(c, &status, "/v1/status") &&
	    !client_get(c, &modules, "/v1/modules?limit=%ld", (long)MODULES_MAX))
		other =
		    json_pack("{ss sO sO}", "socket", path, "status", status, "modules", modules);
	json_decref(status);
	json_decref(modules);
	client_close(c);
	return other;
}

void other_show(const struct invocation *in, const json_t *other, int64_t now)
{
	const json_t *s = json_object_get(other, "status"), *m;
	const char *mode = json_str(s, "mode"),
		   *path = words_clean(in->mem, json_str(other, "socket"));
	bool system = !mode || strcmp(mode, "user") != 0;
	struct arena *a = in->mem;
	size_t i;

	printf("\nAlso running: %s manager (process %.0f, up %s): morphctl %s%s status\n",
	    system ? "the system's" : "your own", json_num(s, "pid"),
	    words_duration(a, (double)(now - words_time(json_str(s, "started")))),
	    system ? "--system" : "--socket ", system ? "" : path);
	json_array_foreach (json_object_get(other, "modules"), i, m)
		if (json_str(m, "layout_at"))
			printf("  laid out by it: %s, %s\n", words_clean(a, json_str(m, "path")),
			    words_ago(a, json_str(m, "layout_at"), now));
}
