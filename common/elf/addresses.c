#include "common/elf/addresses.h"
#include "common/le.h"
#include "common/mem.h"

int addresses_make(struct addresses *a, const uint64_t *v, size_t n)
{
	size_t i;

	*a = (struct addresses){.begin = v[0], .end = v[0]};
	for (i = 0; i < n; i++) {
		a->begin = v[i] < a->begin ? v[i] : a->begin;
		a->end = v[i] >= a->end ? v[i] + 1 : a->end;
	}
	if (!a->end || a->end - 1 > UINT32_MAX)
		return -1;
	a->bit = xcalloc((a->end - a->begin) / 64 + 1, sizeof *a->bit);
	for (i = 0; i < n; i++)
		a->bit[(v[i] - a->begin) / 64] |= (uint64_t)1 << (v[i] - a->begin) % 64;
	return 0;
}

size_t addresses_next(
    const struct addresses *a, const uint8_t *p, size_t n, size_t from, uint64_t *found)
{
	size_t i;
	uint64_t v;

	for (i = from; i < n && n - i >= 4; i++) {
		v = get_le32(p + i) - a->begin;
		if (v < a->end - a->begin && a->bit[v / 64] >> v % 64 & 1) {
			*found = a->begin + v;
			return i;
		}
	}
	return n;
}

void addresses_free(struct addresses *a)
{
	free(a->bit);
}
