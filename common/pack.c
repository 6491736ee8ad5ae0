#include "common/pack.h"
#include "common/log.h"

#include <zstd.h>

/* On compiler output level 3 gives x5.1 at 400 MB/s, level 6 x6.0 at 120 MB/s,
 * level 9 x6.5 at 70 MB/s, level 12 x6.9 at 14 MB/s. Each compilation and each link
 * of a build waits for it: level 1 makes artifacts of Lua 12 % larger than level 6. */
enum { PACK_LEVEL = 1, SMALL_LEVEL = 19, EXIT_PACK = 70 };

/* Setting one up costs more than packing a small thing. */
static _Thread_local ZSTD_CCtx *packer;

static void pack(const void *p, size_t n, int level, struct buf *out)
{
	size_t bound = ZSTD_compressBound(n), was = out->n, r;

	if (!packer && !(packer = ZSTD_createCCtx()))
		die(EXIT_PACK, "zstd: out of memory");
	r = ZSTD_compressCCtx(packer, buf_grow(out, bound), bound, p, n, level);
	if (ZSTD_isError(r))
		die(EXIT_PACK, "zstd: %s", ZSTD_getErrorName(r));
	out->n = was + r;
}

void pack_bytes(const void *p, size_t n, struct buf *out)
{
	pack(p, n, PACK_LEVEL, out);
}

void pack_small(const void *p, size_t n, struct buf *out)
{
	pack(p, n, SMALL_LEVEL, out);
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
