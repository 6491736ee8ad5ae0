#include "common/wire/samples.h"

enum { SAMPLE_LEAST = 2 /* bytes */ };

uint64_t wire_sum_samples(const struct wire_sample *s, uint32_t n)
{
	uint64_t all = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		all += s[i].count;
	return all;
}

void wire_put_samples(struct buf *out, const struct wire_sample *s, uint32_t n)
{
	uint64_t offset = 0;
	uint32_t i;

	buf_uleb(out, n);
	for (i = 0; i < n; i++) {
		buf_uleb(out, s[i].offset - offset);
		buf_uleb(out, s[i].count);
		offset = s[i].offset;
	}
}

int wire_get_samples(const uint8_t **p, const uint8_t *end, uint64_t max, struct arena *a,
    struct wire_sample **sample, uint32_t *n)
{
	uint64_t delta, offset = 0, count;
	struct wire_sample *s;
	uint32_t i;

	if (uleb_count(p, end, SAMPLE_LEAST, &count) < 0 || count > UINT32_MAX)
		return -1;
	*n = (uint32_t)count;
	s = *sample = arena_array(a, *n, sizeof *s);
	for (i = 0; i < *n; i++) {
		if (uleb_read(p, end, &delta) < 0 || (i && !delta) ||
		    __builtin_add_overflow(offset, delta, &offset) ||
		    uleb_read(p, end, &s[i].count) < 0 || !s[i].count || s[i].count > max)
			return -1;
		s[i].offset = offset;
	}
	return 0;
}
