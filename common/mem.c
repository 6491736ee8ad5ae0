#include "common/mem.h"
#include "common/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { EXIT_NO_MEMORY = 70, ARENA_FIRST = 2048, ARENA_CHUNK = 64 * 1024 };

static void *checked(void *p)
{
	if (!p)
		die(EXIT_NO_MEMORY, "out of memory");
	return p;
}

void *xmalloc(size_t n)
{
	return checked(malloc(n ? n : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t n, size_t size)
{
	return checked(reallocarray(p, n ? n : 1, size));
}

void *xmalloc_large(size_t n, size_t size)
{
	const size_t page = (size_t)1 << 21;
	size_t total;
	void *p;

	if (__builtin_mul_overflow(n, size, &total) || total > SIZE_MAX - page)
		checked(NULL);
	if (total < page)
		return xmalloc(total);
	total = (total + page - 1) & ~(page - 1);
	p = checked(aligned_alloc(page, total));
	madvise(p, total, MADV_HUGEPAGE);
	return p;
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	va_end(ap);
	return checked(s);
}

struct arena_chunk {
	struct arena_chunk *next;
	size_t used, size;
	char data[] __attribute__((aligned(16)));
};

/* Small at first: zeroing takes longer than what many an arena is for. */
static size_t next_chunk(const struct arena_chunk *c)
{
	size_t size = c ? 2 * c->size : ARENA_FIRST;

	return size < ARENA_CHUNK ? size : ARENA_CHUNK;
}

void *arena_alloc(struct arena *a, size_t n)
{
	struct arena_chunk *c = a->chunk;
	size_t size;

	if (n > SIZE_MAX / 2)
		checked(NULL);
	n = (n + 15) & ~(size_t)15;
	if (!c || c->size - c->used < n) {
		size = n > ARENA_CHUNK ? n : next_chunk(c);
		size = size > n ? size : n;
		c = checked(calloc(1, sizeof *c + size));
		c->size = size;
		/* A large object gets a chunk of its own after the open one. */
		if (a->chunk && n > ARENA_CHUNK / 2) {
			c->next = a->chunk->next;
			a->chunk->next = c;
		} else {
			c->next = a->chunk;
			a->chunk = c;
		}
	}
	c->used += n;
	return c->data + c->used - n;
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total))
		checked(NULL);
	return arena_alloc(a, total);
}

void *arena_copy(struct arena *a, const void *p, size_t n, size_t size)
{
	void *copy = arena_array(a, n, size);

	return n ? memcpy(copy, p, n * size) : copy;
}

void *arena_more(struct arena *a, void *v, uint32_t n, uint32_t *cap, size_t size)
{
	void *more;

	if (n < *cap)
		return v;
	*cap = *cap ? 2 * *cap : 4;
	more = arena_array(a, *cap, size);
	return n ? memcpy(more, v, n * size) : more;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	return memcpy(arena_alloc(a, n + 1), s, n);
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	char room[128], *s;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(room, sizeof room, fmt, ap);
	va_end(ap);
	if (n >= 0 && n < (int)sizeof room)
		return arena_strndup(a, room, (size_t)n);
	s = arena_alloc(a, (size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(s, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return s;
}

void arena_free(struct arena *a)
{
	struct arena_chunk *c, *next;

	for (c = a->chunk; c; c = next) {
		next = c->next;
		free(c);
	}
	a->chunk = NULL;
}

static __attribute__((noinline)) void make_room(struct buf *b, size_t n)
{
	size_t cap = b->cap ? b->cap : 256;

	if (n > SIZE_MAX / 4 - b->n)
		checked(NULL);
	while (cap < b->n + n + 1)
		cap *= 2;
	b->p = xrealloc(b->p, cap, 1);
	b->cap = cap;
}

void *buf_grow(struct buf *b, size_t n)
{
	if (n >= b->cap - b->n)
		make_room(b, n);
	b->n += n;
	return b->p + b->n - n;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
	if (n)
		memcpy(buf_grow(b, n), p, n);
}

void buf_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_char(struct buf *b, char c)
{
	*(char *)buf_grow(b, 1) = c;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	enum { USUAL = 100 };
	va_list ap;
	int n;

	/* Into the room that most of it needs; the length is known then. */
	va_start(ap, fmt);
	n = vsnprintf(buf_grow(b, USUAL), USUAL, fmt, ap);
	va_end(ap);
	b->n -= USUAL;
	if (n >= 0 && n < USUAL) {
		b->n += (size_t)n;
		return;
	}
	va_start(ap, fmt);
	vsnprintf(buf_grow(b, (size_t)n), (size_t)n + 1, fmt, ap);
	va_end(ap);
}

char *buf_cstr(struct buf *b)
{
	buf_grow(b, 0);
	b->p[b->n] = '\0';
	return b->p;
}

void buf_decimal(struct buf *b, uint64_t v)
{
	char digits[20];
	size_t n = sizeof digits;

	do
		digits[--n] = (char)('0' + v % 10);
	while (v /= 10);
	buf_add(b, digits + n, sizeof digits - n);
}

void buf_uleb(struct buf *b, uint64_t v)
{
	do {
		buf_char(b, (char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0)));
		v >>= 7;
	} while (v);
}

void buf_free(struct buf *b)
{
	free(b->p);
	*b = (struct buf){0};
}

void buf_secret_room(struct buf *b, size_t n)
{
	struct buf bigger = {0};
	size_t used = b->n;

	if (n < b->cap - used)
		return;
	buf_grow(&bigger, used + n);
	if (used)
		memcpy(bigger.p, b->p, used);
	buf_wipe(b);
	buf_free(b);
	*b = bigger;
	b->n = used;
}

__attribute__((noinline)) void stack_wipe(void)
{
	char below[32 << 10];

	explicit_bzero(below, sizeof below);
}

void buf_wipe(struct buf *b)
{
	if (b->cap)
		explicit_bzero(b->p, b->cap);
	b->n = 0;
}

int uleb_read(const uint8_t **p, const uint8_t *end, uint64_t *v)
{
	unsigned shift;
	uint8_t byte;

	*v = 0;
	for (shift = 0; *p < end; shift += 7) {
		byte = *(*p)++;
		if (shift > 63 || (shift == 63 && (byte & 0x7e)))
			return -1;
		*v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return 0;
	}
	return -1;
}

int sleb_read(const uint8_t **p, const uint8_t *end, int64_t *v)
{
	uint64_t x = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		if (*p == end || shift > 56)
			return -1;
		byte = *(*p)++;
		x |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (byte & 0x40)
		x |= ~(uint64_t)0 << shift;
	*v = (int64_t)x;
	return 0;
}

int uleb_count(const uint8_t **p, const uint8_t *end, size_t size, uint64_t *n)
{
	return uleb_read(p, end, n) || *n > (uint64_t)(end - *p) / size ? -1 : 0;
}
