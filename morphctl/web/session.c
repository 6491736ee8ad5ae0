#include "morphctl/web/session.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

static void random_hex(char *out, size_t bytes)
{
	unsigned char b[16];

	randombytes_buf(b, bytes);
	sodium_bin2hex(out, 2 * bytes + 1, b, bytes);
	sodium_memzero(b, sizeof b);
}

void session_new(struct session *s, unsigned port)
{
	*s = (struct session){0};
	random_hex(s->token, 16);
	random_hex(s->cookie, 16);
	s->base[0] = '/';
	random_hex(s->base + 1, 8);
	snprintf(s->host, sizeof s->host, "127.0.0.1:%u", port);
}

/* In the time that all take. */
static bool same_secret(const char *mine, const char *given)
{
	return given && strlen(given) == SESSION_HEX - 1 && strlen(mine) == SESSION_HEX - 1 &&
	       sodium_memcmp(mine, given, SESSION_HEX - 1) == 0;
}

static bool own_origin(const struct session *s, const struct session_request *r)
{
	const char *host = s->open ? r->host : s->host;
	size_t scheme;

	if (!r->origin)
		return true;
	scheme = !strncmp(r->origin, "http://", 7)               ? 7
		 : s->open && !strncmp(r->origin, "https://", 8) ? 8
								 : 0;
	return scheme && host && strcmp(r->origin + scheme, host) == 0;
}

/* A link on another page may lead here, as a person's click; its page may not fetch. */
static bool own_page(const struct session_request *r)
{
	return !r->site || !strcmp(r->site, "same-origin") || !strcmp(r->site, "none") ||
	       (r->mode && !strcmp(r->mode, "navigate"));
}

enum session_answer session_ask(
    struct session *s, const struct session_request *r, const char **rest, const char **why)
{
	size_t n = strlen(s->base);

	if (!s->open && (!r->host || strcmp(r->host, s->host) != 0))
		*why = "not the host of this page";
	else if (!own_origin(s, r) || !own_page(r))
		*why = "asked by another page";
	else if (!s->open && !strcmp(r->path, "/") && same_secret(s->token, r->token)) {
		sodium_memzero(s->token, sizeof s->token);
		return SESSION_EXCHANGE;
	} else if (!s->open && !same_secret(s->cookie, r->cookie))
		*why = "open the link that morphctl web printed; it is good for one browser, once";
	else if (strncmp(r->path, s->base, n) != 0 || r->path[n] != '/')
		*why = "not a page of this session";
	else {
		*rest = r->path + n;
		return SESSION_SERVE;
	}
	return SESSION_REFUSE;
}
