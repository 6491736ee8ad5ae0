#include "managerd/parent/swap/content.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 64 * 1024 };

struct content content_of_bytes(const void *p, size_t n)
{
	struct content c;

	crypto_generichash(c.b, sizeof c.b, p, n, NULL, 0);
	return c;
}

int content_of_file(int fd, uint64_t n, struct content *c)
{
	crypto_generichash_state state;
	unsigned char chunk[CHUNK];
	uint64_t at;
	ssize_t r;

	crypto_generichash_init(&state, NULL, 0, sizeof c->b);
	for (at = 0; at < n; at += (uint64_t)r) {
		r = pread(fd, chunk, n - at < CHUNK ? (size_t)(n - at) : CHUNK, (off_t)at);
		if (r < 0 && errno == EINTR)
			r = 0;
		else if (r <= 0) {
			errno = r ? errno : EIO;
			return -1;
		}
		crypto_generichash_update(&state, chunk, (size_t)r);
	}
	crypto_generichash_final(&state, c->b, sizeof c->b);
	return 0;
}

bool content_equal(const struct content *a, const struct content *b)
{
	return !memcmp(a->b, b->b, sizeof a->b);
}

const char *content_hex(const struct content *c, char out[CONTENT_HEX])
{
	return sodium_bin2hex(out, CONTENT_HEX, c->b, sizeof c->b);
}

int content_parse(const char *s, struct content *c)
{
	size_t n;

	return strlen(s) != CONTENT_HEX - 1 ||
		       sodium_hex2bin(c->b, sizeof c->b, s, CONTENT_HEX - 1, NULL, &n, NULL) ||
		       n != sizeof c->b
		   ? -1
		   : 0;
}
