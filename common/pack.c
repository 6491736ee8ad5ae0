#include "common/pack.h"
#include "common/log.h"

#include <lzma.h>
#include <string.h>
#include <zstd.h>

/* On compiler output level 3 gives x5.1 at 400 MB/s, level 6 x6.0 at 120 MB/s,
 * level 9 x6.5 at 70 MB/s, level 12 x6.9 at 14 MB/s. Each compilation and each link
 * of a build waits for it: level 1 makes artifacts of Lua 12 % larger than level 6. */
enum { PACK_LEVEL = 1, EXIT_PACK = 70 };
enum { WINDOW_MIN = 4096, WINDOW_MAX = 64 << 20 };

/* Setting one up costs more than packing a small thing. */
static _Thread_local ZSTD_CCtx *packer;

void pack_bytes(const void *p, size_t n, struct buf *out)
{
	size_t bound = ZSTD_compressBound(n), was = out->n, r;

	if (!packer && !(packer = ZSTD_createCCtx()))
		die(EXIT_PACK, "zstd: out of memory");
	r = ZSTD_compressCCtx(packer, buf_grow(out, bound), bound, p, n, PACK_LEVEL);
	if (ZSTD_isError(r))
		die(EXIT_PACK, "zstd: %s", ZSTD_getErrorName(r));
	out->n = was + r;
}

int unpack_bytes(const void *z, size_t zn, uint64_t size, const struct hash128 *hash,
    struct buf *out, struct err *e)
{
	size_t was = out->n, r;
	struct hash128 h;

	if (size > PACK_MAX)
		return err_set(e, "content of %llu bytes exceeds the limit of 1 GiB",
		    (unsigned long long)size);
	if (ZSTD_getFrameContentSize(z, zn) != size || ZSTD_findFrameCompressedSize(z, zn) != zn)
		return err_set(e, "compressed content is damaged (size)");
	r = ZSTD_decompress(buf_grow(out, size), size, z, zn);
	out->n = was;
	if (ZSTD_isError(r))
		return err_set(e, "compressed content is damaged (%s)", ZSTD_getErrorName(r));
	h = hash_bytes(out->p + was, size);
	if (r != size || !hash_equal(&h, hash))
		return err_set(e, "content does not match its hash");
	out->n += size;
	return 0;
}

/* ---- in less room ---- */

static void lzma_options(lzma_options_lzma *o, uint64_t size)
{
	lzma_lzma_preset(o, 9 | LZMA_PRESET_EXTREME);
	o->dict_size = size < WINDOW_MIN   ? WINDOW_MIN
		       : size > WINDOW_MAX ? WINDOW_MAX
					   : (uint32_t)size;
	o->pb = 0; /* streams of bytes */
}

static void pack_one(const struct buf *s, unsigned ratio, struct buf *out)
{
	lzma_options_lzma options;
	lzma_filter filter[] = {{LZMA_FILTER_LZMA2, &options}, {.id = LZMA_VLI_UNKNOWN}};
	uint8_t *z;
	size_t n = 0;
	lzma_ret r;

	buf_uleb(out, s->n);
	if (!s->n) {
		buf_uleb(out, 0);
		return;
	}
	z = xmalloc(s->n);
	lzma_options(&options, s->n);
	r = lzma_raw_buffer_encode(filter, NULL, (const uint8_t *)s->p, s->n, z, &n, s->n);
	if (r != LZMA_OK && r != LZMA_BUF_ERROR)
		die(EXIT_PACK, "lzma: error %d", r);
	if (r != LZMA_OK || n >= s->n || (ratio && n < s->n / ratio))
		n = s->n;
	buf_uleb(out, n);
	buf_add(out, n == s->n ? (const void *)s->p : z, n);
	free(z);
}

void pack_small(const struct buf *s, size_t n, unsigned ratio, struct buf *out)
{
	size_t i;

	for (i = 0; i < n; i++)
		pack_one(&s[i], ratio, out);
}

static bool unpack_one(const uint8_t *z, size_t zn, uint64_t size, struct buf *out)
{
	lzma_options_lzma options;
	lzma_filter filter[] = {{LZMA_FILTER_LZMA2, &options}, {.id = LZMA_VLI_UNKNOWN}};
	uint8_t *to = buf_grow(out, size);
	size_t from = 0, n = 0;

	if (!size)
		return zn == 0;
	if (zn == size) {
		memcpy(to, z, zn);
		return true;
	}
	lzma_options(&options, size);
	return lzma_raw_buffer_decode(filter, NULL, z, &from, zn, to, &n, size) == LZMA_OK &&
	       from == zn && n == size;
}

int unpack_small(
    const void *z, size_t zn, uint64_t max, unsigned ratio, struct buf *s, size_t n, struct err *e)
{
	const uint8_t *p = z, *end = p + zn;
	uint64_t size, packed;
	size_t i;

	for (i = 0; i < n; i++) {
		if (uleb_read(&p, end, &size) < 0 || uleb_read(&p, end, &packed) < 0 ||
		    packed > (uint64_t)(end - p) || size > max || (ratio && size / ratio > packed))
			return err_set(e, "compressed content is damaged (size)");
		if (!unpack_one(p, packed, size, &s[i]))
			return err_set(e, "compressed content is damaged");
		p += packed;
		max -= size;
	}
	return p == end ? 0 : err_set(e, "compressed content is damaged (size)");
}

int unpack_xz(const void *z, size_t zn, size_t max, struct buf *out)
{
	enum { STEP = 64 << 10 };
	lzma_stream s = LZMA_STREAM_INIT;
	lzma_ret rc = lzma_stream_decoder(&s, max, 0);
	size_t was = out->n;

	s.next_in = z;
	s.avail_in = zn;
	while (rc == LZMA_OK && out->n - was < max) {
		s.avail_out = STEP;
		s.next_out = buf_grow(out, STEP);
		rc = lzma_code(&s, LZMA_FINISH);
		out->n -= s.avail_out;
	}
	lzma_end(&s);
	return rc == LZMA_STREAM_END ? 0 : -1;
}
