#include "hooks/functions.h"

#include <string.h>

static void put_string(struct buf *out, const char *s)
{
	buf_uleb(out, strlen(s));
	buf_str(out, s);
}

void functions_put(struct buf *out, const struct unit *u)
{
	const struct unit_func *f;
	uint32_t i, b;

	put_string(out, u->name);
	buf_uleb(out, u->nfunc);
	for (i = 0; i < u->nfunc; i++) {
		f = &u->func[i];
		put_string(out, f->name);
		put_string(out, f->opaque ? f->opaque : "");
		buf_add(out, f->key.b, sizeof f->key.b);
		buf_uleb(out, f->cfg.nblock);
		for (b = 0; b < f->cfg.nblock; b++)
			buf_uleb(out, f->cfg.block[b].insns);
	}
}

/* NULL = cut off, or with a NUL in it. */
static const char *get_string(struct arena *a, const uint8_t **p, const uint8_t *end)
{
	const char *s;
	uint64_t n;

	if (uleb_count(p, end, 1, &n) < 0 || memchr(*p, '\0', n))
		return NULL;
	s = arena_strndup(a, (const char *)*p, n);
	*p += n;
	return s;
}

static int get_function(struct art_func *f, struct arena *a, const uint8_t **p, const uint8_t *end)
{
	uint32_t *insns;
	uint64_t n, v, i;

	f->name = get_string(a, p, end);
	f->opaque = f->name ? get_string(a, p, end) : NULL;
	if (!f->opaque || (size_t)(end - *p) < sizeof f->key.b)
		return -1;
	memcpy(f->key.b, *p, sizeof f->key.b);
	*p += sizeof f->key.b;
	if (uleb_count(p, end, 1, &n) < 0 || n > UINT32_MAX)
		return -1;
	insns = arena_array(a, n, sizeof *insns);
	for (i = 0; i < n; i++) {
		if (uleb_read(p, end, &v) < 0 || v > UINT32_MAX)
			return -1;
		insns[i] = (uint32_t)v;
	}
	f->insns = insns;
	f->nblock = (uint32_t)n;
	return 0;
}

int functions_read(struct functions *f, struct arena *a, const uint8_t *p, size_t n, struct err *e)
{
	enum { FUNCTION_MIN = 19 }; /* two lengths, key, number of blocks */
	const uint8_t *end = p + n;
	uint64_t count, i;

	f->name = get_string(a, &p, end);
	if (!f->name || uleb_count(&p, end, FUNCTION_MIN, &count) < 0 || count > UINT32_MAX)
		return err_set(e, "its table of functions is damaged");
	f->n = (uint32_t)count;
	f->func = arena_array(a, count, sizeof *f->func);
	for (i = 0; i < count; i++) {
		f->func[i].ord = (uint32_t)i;
		if (get_function(&f->func[i], a, &p, end) < 0)
			return err_set(e, "its table of functions is damaged");
	}
	return p == end ? 0 : err_set(e, "its table of functions is damaged");
}
