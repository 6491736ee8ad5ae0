#include "morphctl/client/client.h"
#include "common/places.h"
#include "common/publish.h"
#include "morphctl/text/words.h"

#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONNECT_S = 5, ANSWER_S = 120, ANSWER_MAX = 64 << 20 };

struct client {
	struct arena *mem;
	CURL *curl;
	struct curl_slist *headers;
	const char *socket;
	bool silent;
	char why[CURL_ERROR_SIZE];
};

/* ---- which socket ---- */

char *client_socket(struct arena *mem)
{
	char *path = places_socket("api.sock"), *own = arena_strdup(mem, path);

	free(path);
	return own;
}

char *client_other(const char *socket, struct arena *mem, bool *system)
{
	char *machine = places_machine_socket("api.sock"), *run = places_run(), *other;

	*system = strcmp(socket, machine) != 0;
	other = *system ? arena_strdup(mem, machine)
		: run   ? arena_printf(mem, "%s/api.sock", run)
			: NULL;
	free(machine);
	free(run);
	return other && !access(other, F_OK) && strcmp(other, socket) ? other : NULL;
}

/* ---- one request ---- */

struct client *client_open(const char *socket, struct arena *mem)
{
	struct client *c = xcalloc(1, sizeof *c);

	c->mem = mem;
	c->socket = socket ? socket : client_socket(mem);
	c->curl = curl_easy_init();
	if (!c->curl) {
		complain(EXIT_FAILED, "libcurl does not start");
		exit(EXIT_FAILED);
	}
	c->headers = curl_slist_append(NULL, "Content-Type: application/json");
	return c;
}

struct client *client_open_other(const char *socket, struct arena *mem)
{
	struct client *c = client_open(socket, mem);

	c->silent = true;
	return c;
}

void client_close(struct client *c)
{
	curl_slist_free_all(c->headers);
	curl_easy_cleanup(c->curl);
	free(c);
}

static size_t take(char *p, size_t size, size_t n, void *arg)
{
	struct buf *b = arg;

	if (b->n + n > ANSWER_MAX)
		return 0;
	buf_add(b, p, n);
	return n;
}

/* Nobody there, or nobody for us. */
static int no_connection(struct client *c)
{
	long code = 0;

	curl_easy_getinfo(c->curl, CURLINFO_OS_ERRNO, &code);
	if (code == EACCES || code == EPERM)
		return complain(EXIT_REFUSED, "%s: %s", c->socket, strerror((int)code));
	if (code == EAGAIN)
		return complain(EXIT_FAILED, "%s: the manager is busy; try again", c->socket);
	complain(EXIT_NOT_RUNNING, "no manager answers at %s (%s)", c->socket,
	    code ? strerror((int)code) : c->why);
	fprintf(stderr, "  start your own:       morphd --user\n"
			"  start the system's:   sudo systemctl start morphd\n"
			"  ask another one:      morphctl --socket PATH …, or MORPH_RUN=DIR\n");
	return EXIT_NOT_RUNNING;
}

static int exit_code(long status)
{
	switch (status) {
	case 404:
		return EXIT_NOT_FOUND;
	case 403:
	case 409:
		return EXIT_REFUSED;
	default:
		return EXIT_FAILED;
	}
}

/* Takes the result out of an envelope, or tells what the error was. */
static int open_envelope(struct client *c, const struct buf *b, long status, json_t **result)
{
	json_t *envelope = json_loadb(b->p ? b->p : "", b->n, 0, NULL);
	const char *type = json_str(envelope, "type"), *message;
	int code = EXIT_DONE;

	*result = json_incref(json_object_get(envelope, "result"));
	if (!type || !*result) {
		code = complain(EXIT_FAILED, "%s: not an answer of morphd (HTTP status %ld)",
		    c->socket, status);
	} else if (strcmp(type, "error") == 0) {
		message = json_str(*result, "message");
		code = complain(exit_code(status), "%s",
		    words_clean(c->mem, message ? message : "the manager gave no reason"));
	}
	json_decref(envelope);
	if (code) {
		json_decref(*result);
		*result = NULL;
	}
	return code;
}

/* One exchange; *status is HTTP's. */
static int exchange(
    struct client *c, const char *path, const char *body, struct buf *answer, long *status)
{
	char *url = arena_printf(c->mem, "http://morph%s", path);
	CURLcode r;

	curl_easy_reset(c->curl);
	curl_easy_setopt(c->curl, CURLOPT_UNIX_SOCKET_PATH, c->socket);
	curl_easy_setopt(c->curl, CURLOPT_URL, url);
	curl_easy_setopt(c->curl, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(c->curl, CURLOPT_ERRORBUFFER, c->why);
	curl_easy_setopt(c->curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
	curl_easy_setopt(c->curl, CURLOPT_TIMEOUT, (long)(c->silent ? CONNECT_S : ANSWER_S));
	curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, answer);
	if (body) {
		curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, c->headers);
		curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, body);
	}
	r = curl_easy_perform(c->curl);
	curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, status);
	if (c->silent)
		return r == CURLE_OK && *status == 200 ? EXIT_DONE : EXIT_FAILED;
	if (r == CURLE_COULDNT_CONNECT)
		return no_connection(c);
	if (r != CURLE_OK)
		return complain(
		    EXIT_FAILED, "%s: %s", c->socket, c->why[0] ? c->why : curl_easy_strerror(r));
	return EXIT_DONE;
}

static int perform(struct client *c, json_t **result, const char *body, const char *path)
{
	struct buf answer = {0};
	long status = 0;
	int code;

	*result = NULL;
	code = exchange(c, path, body, &answer, &status);
	if (code == EXIT_DONE)
		code = open_envelope(c, &answer, status, result);
	buf_free(&answer);
	return code;
}

#define PATH_FROM(fmt, path) \
	va_list ap; \
	char *path; \
	va_start(ap, fmt); \
	if (vasprintf(&path, fmt, ap) < 0) \
		exit(EXIT_FAILED); \
	va_end(ap)

int client_get(struct client *c, json_t **result, const char *fmt, ...)
{
	int code;

	PATH_FROM(fmt, path);
	code = perform(c, result, NULL, path);
	free(path);
	return code;
}

int client_get_text(struct client *c, struct buf *text, const char *fmt, ...)
{
	json_t *none = NULL;
	long status = 0;
	int code;

	PATH_FROM(fmt, path);
	code = exchange(c, path, NULL, text, &status);
	free(path);
	if (code == EXIT_DONE && status != 200)
		code = open_envelope(c, text, status, &none);
	json_decref(none);
	return code;
}

int client_post(struct client *c, json_t **result, json_t *body, const char *fmt, ...)
{
	char *text = body ? json_dumps(body, JSON_COMPACT) : xstrdup("");
	int code;

	PATH_FROM(fmt, path);
	code = perform(c, result, text, path);
	free(path);
	free(text);
	json_decref(body);
	return code;
}

const char *client_escape(struct client *c, const char *value)
{
	char *escaped = curl_easy_escape(c->curl, value, 0);
	char *own = arena_strdup(c->mem, escaped ? escaped : "");

	curl_free(escaped);
	return own;
}

/* ---- the module a person means ---- */

static int ask_path(struct client *c, const char *path, json_t **module)
{
	return client_get(c, module, "/v1/modules/-?path=%s", client_escape(c, path));
}

static int ambiguous(struct client *c, const char *name, const json_t *found)
{
	const json_t *m;
	size_t i;

	complain(
	    EXIT_USAGE, "%s is the name of %zu modules; say which:", name, json_array_size(found));
	json_array_foreach (found, i, m)
		fprintf(stderr, "  %s\n", words_clean(c->mem, json_str(m, "path")));
	return EXIT_USAGE;
}

static bool named(const json_t *m, const char *name)
{
	const char *id = json_str(m, "id"), *path = json_str(m, "path");

	return (id && strcmp(id, name) == 0) || (path && strcmp(path_base(path), name) == 0);
}

static int ask_name(struct client *c, const char *name, json_t **module)
{
	json_t *all, *found = json_array(), *m;
	char *path;
	size_t i;
	int code;

	code = client_get(c, &all, "/v1/modules?limit=1000");
	if (code == EXIT_DONE) {
		json_array_foreach (all, i, m) {
			if (named(m, name))
				json_array_append(found, m);
		}
		path = realpath(name, NULL);
		if (json_array_size(found) == 1)
			*module = json_incref(json_array_get(found, 0));
		else if (json_array_size(found) > 1)
			code = ambiguous(c, name, found);
		else if (path)
			code = ask_path(c, path, module);
		else
			code = complain(
			    EXIT_NOT_FOUND, "no module %s; morphctl status lists them", name);
		free(path);
	}
	json_decref(all);
	json_decref(found);
	return code;
}

/* Of a file that is gone, whose module may still be known; NULL with errno. */
static char *absolute(const char *name)
{
	char *here, *path;

	if (*name == '/')
		return xstrdup(name);
	here = getcwd(NULL, 0);
	path = here ? xasprintf("%s/%s", here, name + (strncmp(name, "./", 2) ? 0 : 2)) : NULL;
	free(here);
	return path;
}

int client_module(struct client *c, const char *name, json_t **module)
{
	char *path;
	int code;

	*module = NULL;
	if (!strchr(name, '/'))
		return ask_name(c, name, module);
	path = realpath(name, NULL);
	if (!path)
		path = absolute(name);
	code = path ? ask_path(c, path, module) : complain(EXIT_FAILED, "%s: %m", name);
	free(path);
	return code;
}
