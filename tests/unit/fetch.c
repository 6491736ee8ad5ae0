/*
 * Artifacts from servers: a child serves on this machine what the path says, and signatures are
 * made here as minisign(1) makes them.
 */
#include "common/fetch/fetch.h"
#include "common/fetch/download.h"
#include "common/fetch/minisign.h"
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct err e;

/* ---- signing ---- */

static const char file[] = "the artifact", NUMBER[] = "12345678";
static unsigned char public_key[crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES];

static void add_base64(struct buf *b, const void *p, size_t n)
{
	char text[256];

	buf_printf(
	    b, "%s\n", sodium_bin2base64(text, sizeof text, p, n, sodium_base64_VARIANT_ORIGINAL));
}

/* The second line of a .pub file. */
static char *key_text(const char *algorithm, const char *number)
{
	struct buf b = {0}, text = {0};

	buf_str(&b, algorithm);
	buf_str(&b, number);
	buf_add(&b, (char *)public_key, sizeof public_key);
	add_base64(&text, b.p, b.n);
	buf_free(&b);
	text.p[--text.n] = '\0';
	return text.p;
}

/* The text of a .minisig file of p. */
static char *sign(const char *algorithm, const char *comment, const void *p, size_t n)
{
	unsigned char hash[crypto_generichash_BYTES_MAX], sig[crypto_sign_BYTES];
	struct buf b = {0}, text = {0};

	crypto_generichash(hash, sizeof hash, p, n, NULL, 0);
	crypto_sign_detached(sig, NULL, hash, sizeof hash, secret);
	buf_str(&b, algorithm);
	buf_str(&b, NUMBER);
	buf_add(&b, (char *)sig, sizeof sig);
	buf_str(&text, "untrusted comment: anything\n");
	add_base64(&text, b.p, b.n);
	buf_printf(&text, "trusted comment: %s\n", comment);
	b.n = 0;
	buf_add(&b, (char *)sig, sizeof sig);
	buf_str(&b, comment);
	crypto_sign_detached(sig, NULL, (unsigned char *)b.p, b.n, secret);
	add_base64(&text, sig, sizeof sig);
	buf_free(&b);
	return buf_cstr(&text);
}

static void make_keys(void)
{
	ck_assert_int_ge(sodium_init(), 0);
	crypto_sign_keypair(public_key, secret);
}

static int verify(const char *key, const char *signature)
{
	e.text[0] = '\0';
	return minisign_verify(key, signature, file, sizeof file, &e);
}

START_TEST(a_signature_is_of_the_whole_file_and_comment)
{
	char *key = key_text("Ed", NUMBER), *good = sign("ED", "t", file, sizeof file), *bad;
	size_t i, n = strlen(good), first = strcspn(good, "\n") + 1;

	ck_assert_msg(verify(key, good) == 0, "%s", e.text);
	ck_assert_int_eq(minisign_verify(key, good, file, sizeof file - 1, &e), -1);
	ck_assert_str_eq(e.text, "the signature is not of this file");
	/* Cut off anywhere, or with a byte that is another one. */
	for (i = 0; i < n - 2; i++) {
		bad = xasprintf("%.*s", (int)i, good);
		ck_assert_msg(verify(key, bad) == -1, "cut off at %zu", i);
		ck_assert(*e.text);
		free(bad);
	}
	for (i = first; i < n - 5; i++) {
		bad = xstrdup(good);
		bad[i] = bad[i] == 'A' ? 'B' : 'A';
		ck_assert_msg(verify(key, bad) == -1, "byte %zu", i);
		free(bad);
	}
	free(good);
	free(key);
}
END_TEST

START_TEST(of_another_kind_there_is_none)
{
	char *key = key_text("Ed", NUMBER), *other = key_text("Ed", "87654321"),
	     *odd = key_text("ed", NUMBER), *good = sign("ED", "t", file, sizeof file),
	     *whole = sign("Ed", "t", file, sizeof file);

	ck_assert_int_eq(verify(other, good), -1);
	ck_assert_str_eq(e.text, "signed with another key");
	ck_assert_int_eq(verify(odd, good), -1);
	ck_assert_str_eq(e.text, "the key is no public key of minisign");
	ck_assert_int_eq(verify("", good), -1);
	ck_assert_int_eq(verify(key, whole), -1);
	ck_assert_int_eq(verify(key, ""), -1);
	ck_assert_str_eq(e.text, "not a signature of minisign");
	free(good);
	make_keys();
	good = sign("ED", "t", file, sizeof file);
	ck_assert_int_eq(verify(key, good), -1);
	free(key);
	free(other);
	free(odd);
	free(good);
	free(whole);
}
END_TEST

/* ---- a server ---- */

enum { BODY = 100000 };
static char url[64], *signature;
static pid_t server;

static void reply(int to, const char *request)
{
	static char body[BODY];
	const char *head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
	size_t i, n = 0;

	memset(body, 'b', sizeof body);
	if (strstr(request, "GET /have"))
		n = 1;
	else if (strstr(request, "GET /endless"))
		n = 100000;
	else if (strstr(request, "GET /cut"))
		head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort";
	else if (strstr(request, "GET /moved"))
		head = "HTTP/1.1 302 Found\r\nLocation: /have\r\nContent-Length: 0\r\n\r\n";
	else if (strstr(request, "GET /gone"))
		head = "HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n";
	else if (strstr(request, "GET /no-http"))
		head = "SSH-2.0-OpenSSH_9.2\r\n";
	else if (strstr(request, ".minisig") && strstr(request, "GET /signed"))
		head = xasprintf("HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
		    strlen(signature), signature);
	else if (strstr(request, "GET /signed"))
		head = xasprintf(
		    "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", strlen(file), file);
	else
		head = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
	if (write(to, head, strlen(head)) < 0)
		return;
	for (i = 0; i < n && write(to, body, sizeof body) > 0; i++)
		continue;
}

static _Noreturn void serve(int s)
{
	char request[4096];
	ssize_t n;
	int to;

	signal(SIGPIPE, SIG_IGN);
	while ((to = accept(s, NULL, NULL)) >= 0) {
		n = read(to, request, sizeof request - 1);
		request[n > 0 ? n : 0] = '\0';
		reply(to, request);
		close(to);
	}
	_exit(0);
}

static void setup(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof a;
	int s = socket(AF_INET, SOCK_STREAM, 0);

	make_keys();
	signature = sign("ED", "t", file, strlen(file));
	ck_assert_int_eq(bind(s, (struct sockaddr *)&a, sizeof a), 0);
	ck_assert_int_eq(listen(s, 8), 0);
	ck_assert_int_eq(getsockname(s, (struct sockaddr *)&a, &n), 0);
	snprintf(url, sizeof url, "http://127.0.0.1:%u", ntohs(a.sin_port));
	server = fork();
	if (!server)
		serve(s);
	close(s);
}

static void teardown(void)
{
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	free(signature);
}

static int get(const char *path, size_t max, struct buf *b)
{
	char *whole = xasprintf("%s%s", url, path);
	int r = download(whole, max, b, &e);

	free(whole);
	return r;
}

static void refused(const char *path, const char *why)
{
	struct buf b = {0};

	ck_assert_int_eq(get(path, BODY, &b), -1);
	ck_assert_msg(strstr(e.text, why) != NULL, "%s: %s", path, e.text);
	ck_assert_uint_eq(b.n, 0);
}

START_TEST(a_body_comes_whole_or_not_at_all)
{
	struct buf b = {0};

	ck_assert_msg(get("/have", BODY, &b) == 1, "%s", e.text);
	ck_assert_uint_eq(b.n, BODY);
	ck_assert_int_eq(b.p[BODY - 1], 'b');
	buf_free(&b);
	ck_assert_int_eq(get("/none", BODY, &b), 0);
	ck_assert_int_eq(get("/gone", BODY, &b), 0);
	ck_assert_int_eq(get("/have", BODY - 1, &b), -1);
	refused("/endless", "writ");
	refused("/cut", "bytes remaining");
	refused("/moved", "the server answers 302");
	refused("/no-http", "HTTP/0.9");
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	refused("/have", "connect");
}
END_TEST

START_TEST(only_urls_of_the_web)
{
	static const char *const bad[] = {
	    "", "nonsense://x/y", "file:///etc/passwd", "ftp://127.0.0.1/x", "/etc/passwd"};
	struct buf b = {0};
	size_t i;

	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_msg(download(bad[i], BODY, &b, &e) == -1, "%s", bad[i]);
	ck_assert_uint_eq(b.n, 0);
}
END_TEST

START_TEST(an_artifact_is_signed_or_of_a_known_server)
{
	char *key = key_text("Ed", NUMBER), *at = xasprintf("%s/signed", url);
	struct build_id id = {2, {0xab, 0xcd}};
	struct buf b = {0};

	ck_assert_msg(fetch_artifact(at, key, &id, &b, &e) == 1, "%s", e.text);
	ck_assert_str_eq(buf_cstr(&b), file);
	b.n = 0;
	ck_assert_int_eq(fetch_artifact(at, NULL, &id, &b, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "without a key only https is believed"));
	ck_assert_int_eq(fetch_artifact(url, key, &id, &b, &e), 0);
	free(at);
	at = xasprintf("%s/have", url);
	ck_assert_int_eq(fetch_artifact(at, key, &id, &b, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "/have/buildid/abcd/morph.minisig"));
	free(at);
	free(key);
	key = key_text("Ed", "87654321");
	at = xasprintf("%s/signed", url);
	ck_assert_int_eq(fetch_artifact(at, key, &id, &b, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "signed with another key"));
	buf_free(&b);
	free(at);
	free(key);
}
END_TEST

UNIT_MAIN("fetch", 60, setup, teardown, a_signature_is_of_the_whole_file_and_comment,
    of_another_kind_there_is_none, a_body_comes_whole_or_not_at_all, only_urls_of_the_web,
    an_artifact_is_signed_or_of_a_known_server)
