#include "common/elf/buildid.h"

#include <string.h>

const char *build_id_hex(const struct build_id *id, char out[BUILD_ID_HEX])
{
	static const char digit[] = "0123456789abcdef";
	unsigned i;

	for (i = 0; i < id->n; i++) {
		out[2 * i] = digit[id->b[i] >> 4];
		out[2 * i + 1] = digit[id->b[i] & 15];
	}
	out[2 * i] = '\0';
	return out;
}

int build_id_parse(const char *hex, struct build_id *id)
{
	static const char digit[] = "0123456789abcdef";
	size_t n = strlen(hex), i;
	const char *hi, *lo;

	*id = (struct build_id){0};
	if (!n || n % 2 || n / 2 > sizeof id->b)
		return -1;
	for (i = 0; i < n / 2; i++) {
		hi = memchr(digit, hex[2 * i], 16);
		lo = memchr(digit, hex[2 * i + 1], 16);
		if (!hi || !lo)
			return -1;
		id->b[i] = (uint8_t)((hi - digit) << 4 | (lo - digit));
	}
	id->n = (uint8_t)(n / 2);
	return 0;
}

char *build_id_path(const char *folder, size_t n, const struct build_id *id)
{
	char hex[BUILD_ID_HEX];

	if (id->n < 2)
		return NULL;
	build_id_hex(id, hex);
	return xasprintf("%.*s/%.2s/%s.morph", (int)n, folder, hex, hex + 2);
}

void build_id_put(struct buf *out, const struct build_id *id)
{
	buf_char(out, (char)id->n);
	buf_add(out, id->b, id->n);
}

int build_id_get(const uint8_t **p, const uint8_t *end, struct build_id *id)
{
	*id = (struct build_id){0};
	if (*p == end || **p > sizeof id->b || end - *p - 1 < **p)
		return -1;
	id->n = *(*p)++;
	memcpy(id->b, *p, id->n);
	*p += id->n;
	return 0;
}

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->n == b->n && !memcmp(a->b, b->b, a->n);
}
