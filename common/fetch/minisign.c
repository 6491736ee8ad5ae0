/*
 *	public key   base64 of "Ed", 8 bytes of its number, 32 of the key
 *	signature    untrusted comment: any
 *	             base64 of "ED", 8 bytes of the key's number, 64 of the signature
 *	             trusted comment: any
 *	             base64 of 64 bytes: signature of the signature and the trusted comment
 */
#include "common/fetch/minisign.h"
#include "common/mem.h"

#include <sodium.h>
#include <stdbool.h>
#include <string.h>

enum { ALGORITHM = 2, NUMBER = 8, LINES = 4 };
static const char TRUSTED[] = "trusted comment: ";

struct public_key {
	unsigned char algorithm[ALGORITHM], number[NUMBER], key[crypto_sign_PUBLICKEYBYTES];
};

struct signature {
	unsigned char algorithm[ALGORITHM], number[NUMBER], of_file[crypto_sign_BYTES];
};

static bool decode(const char *text, size_t n, void *out, size_t size)
{
	size_t got;

	return !sodium_base642bin(
		   out, size, text, n, " \r\n", &got, NULL, sodium_base64_VARIANT_ORIGINAL) &&
	       got == size;
}

static bool split_lines(const char *text, const char *line[LINES], size_t n[LINES])
{
	int i;

	for (i = 0; i < LINES; i++) {
		line[i] = text;
		n[i] = strcspn(text, "\n");
		if (!text[n[i]] && i < LINES - 1)
			return false;
		text += n[i] + (text[n[i]] == '\n');
	}
	return n[2] >= strlen(TRUSTED) && !strncmp(line[2], TRUSTED, strlen(TRUSTED));
}

static bool signed_by(const struct public_key *k, const unsigned char *sig, const void *p, size_t n)
{
	return !crypto_sign_verify_detached(sig, p, n, k->key);
}

int minisign_verify(const char *key, const char *signature, const void *p, size_t n, struct err *e)
{
	unsigned char hash[crypto_generichash_BYTES_MAX], of_comment[crypto_sign_BYTES];
	const char *line[LINES];
	struct public_key k;
	struct signature s;
	struct buf comment = {0};
	size_t length[LINES];
	bool whole;

	if (sodium_init() < 0)
		return err_set(e, "libsodium does not start");
	if (!decode(key, strlen(key), &k, sizeof k) || memcmp(k.algorithm, "Ed", ALGORITHM))
		return err_set(e, "the key is no public key of minisign");
	if (!split_lines(signature, line, length) || !decode(line[1], length[1], &s, sizeof s) ||
	    !decode(line[3], length[3], of_comment, sizeof of_comment) ||
	    memcmp(s.algorithm, "ED", ALGORITHM))
		return err_set(e, "not a signature of minisign");
	if (memcmp(s.number, k.number, NUMBER))
		return err_set(e, "signed with another key");
	crypto_generichash(hash, sizeof hash, p, n, NULL, 0);
	buf_add(&comment, s.of_file, sizeof s.of_file);
	buf_add(&comment, line[2] + strlen(TRUSTED), length[2] - strlen(TRUSTED));
	whole = signed_by(&k, s.of_file, hash, sizeof hash) &&
		signed_by(&k, of_comment, comment.p, comment.n);
	buf_free(&comment);
	return whole ? 0 : err_set(e, "the signature is not of this file");
}
