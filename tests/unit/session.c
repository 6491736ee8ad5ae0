#include "morphctl/web/proxy.h"
#include "morphctl/web/session.h"
#include "tests/unit/unit.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct session s;
static struct session_request r;
static char path[64], origin[64];
static const char *rest, *why;

static void setup(void)
{
	ck_assert_int_ge(sodium_init(), 0);
	session_new(&s, 8080);
	snprintf(path, sizeof path, "%s/main.js", s.base);
	r = (struct session_request){.path = path, .host = s.host, .cookie = s.cookie};
}

static void teardown(void)
{
}

static void expect(enum session_answer want)
{
	rest = why = NULL;
	ck_assert_int_eq(session_ask(&s, &r, &rest, &why), want);
	ck_assert((want == SESSION_SERVE) == (rest != NULL));
	ck_assert((want == SESSION_REFUSE) == (why != NULL));
}

START_TEST(secrets_are_long_and_differ)
{
	struct session other;

	session_new(&other, 8080);
	ck_assert_uint_eq(strlen(s.token), 32);
	ck_assert_uint_eq(strlen(s.cookie), 32);
	ck_assert_uint_eq(strlen(s.base), 17);
	ck_assert_str_eq(s.host, "127.0.0.1:8080");
	ck_assert_str_ne(s.token, s.cookie);
	ck_assert_str_ne(s.token, other.token);
	ck_assert_str_ne(s.cookie, other.cookie);
	ck_assert_str_ne(s.base, other.base);
}
END_TEST

START_TEST(the_cookie_lets_in)
{
	expect(SESSION_SERVE);
	ck_assert_str_eq(rest, "/main.js");
	r.cookie = NULL;
	expect(SESSION_REFUSE);
	r.cookie = "";
	expect(SESSION_REFUSE);
	r.cookie = s.token;
	expect(SESSION_REFUSE);
}
END_TEST

START_TEST(the_token_is_good_once)
{
	char token[SESSION_HEX];

	strcpy(token, s.token);
	r = (struct session_request){.path = "/", .host = s.host, .token = ""};
	expect(SESSION_REFUSE);
	r.token = token;
	r.path = "/x";
	expect(SESSION_REFUSE);
	r.path = "/";
	expect(SESSION_EXCHANGE);
	expect(SESSION_REFUSE);
	r.token = "";
	expect(SESSION_REFUSE);
	r.token = s.token;
	expect(SESSION_REFUSE);
}
END_TEST

START_TEST(other_hosts_and_pages_are_refused)
{
	r.host = "evil.example:8080";
	expect(SESSION_REFUSE);
	r.host = NULL;
	expect(SESSION_REFUSE);
	r.host = s.host;
	snprintf(origin, sizeof origin, "http://%s", s.host);
	r.origin = origin;
	expect(SESSION_SERVE);
	r.origin = "https://127.0.0.1:8080";
	expect(SESSION_REFUSE);
	r.origin = "null";
	expect(SESSION_REFUSE);
	r.origin = NULL;
	r.site = "same-site"; /* of another port */
	r.mode = "no-cors";
	expect(SESSION_REFUSE);
	r.mode = "navigate";
	expect(SESSION_SERVE);
	r.site = "same-origin";
	r.mode = NULL;
	expect(SESSION_SERVE);
}
END_TEST

START_TEST(behind_a_proxy_there_is_no_secret)
{
	s = (struct session){.open = true};
	r = (struct session_request){.path = "/main.js", .host = "morph.example"};
	expect(SESSION_SERVE);
	ck_assert_str_eq(rest, "/main.js");
	r.origin = "https://morph.example";
	expect(SESSION_SERVE);
	r.origin = "https://evil.example";
	expect(SESSION_REFUSE);
	r.host = NULL;
	expect(SESSION_REFUSE);
}
END_TEST

static const struct {
	const char *path, *name, *value, *want;
} routes[] = {
    {"/api/v1/status", NULL, NULL, "/v1/status"},
    {"/api/v1/modules", "limit", "1000", "/v1/modules?limit=1000"},
    {"/api/v1/modules/0123456789abcdef/code", "build", "a&b=c#\r\n",
	"/v1/modules/0123456789abcdef/code?build=a%26b%3Dc%23%0D%0A"},
    {"/api/v1/modules/0123456789abcdef", NULL, NULL, "/v1/modules/0123456789abcdef"},
    {"/api/v1/modules/0123456789abcde", NULL, NULL, NULL},
    {"/api/v1/modules/0123456789abcdef0", NULL, NULL, NULL},
    {"/api/v1/modules/0123456789ABCDEF", NULL, NULL, NULL},
    {"/api/v1/modules/-/profile", "path", "/x", NULL},
    {"/api/v1/modules/0123456789abcdef/samples", NULL, NULL, NULL},
    {"/api/v1/reload", NULL, NULL, NULL},
    {"/api/v1/status", "wait", "60", NULL},
    {"/v1/status", NULL, NULL, NULL},
};

START_TEST(only_what_reads_is_asked)
{
	struct proxy_param p = {routes[_i].name, routes[_i].value};
	char *got = proxy_path(routes[_i].path, &p, p.name != NULL);

	ck_assert_pstr_eq(got, routes[_i].want);
	free(got);
}
END_TEST

UNIT_MAIN("session", 20, setup, teardown, secrets_are_long_and_differ, the_cookie_lets_in,
    the_token_is_good_once, other_hosts_and_pages_are_refused, behind_a_proxy_there_is_no_secret,
    UNIT_LOOP(only_what_reads_is_asked, sizeof routes / sizeof *routes))
