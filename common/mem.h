/*
 * Memory, by lifetime.
 *
 *   x…()    one object, freed by its owner with free(). Never NULL: a program
 *           that runs out of memory says so and exits with status 70.
 *   arena   everything that dies together (one parsed unit, one request).
 *           Zero-filled; never NULL; free all at once.
 *   buf     one growing run of bytes. A zero-filled struct is an empty one.
 *   VEC(T)  one growing array of T. A zero-filled struct is an empty one.
 */
#ifndef MORPH_MEM_H
#define MORPH_MEM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
/* For n elements. libiberty has another function of this name. */
void *xrealloc(void *p, size_t n, size_t size) __asm__("xrealloc_array");
/* An array for n elements, on huge pages where it is large and the kernel gives them:
 * memory that is used from its begin to its end, at once. Not zeroed. */
void *xmalloc_large(size_t n, size_t size);
char *xstrdup(const char *s);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

struct arena {
	struct arena_chunk *chunk;
};

void *arena_alloc(struct arena *a, size_t n);
/* An array of n elements of size bytes; dies on overflow. */
void *arena_array(struct arena *a, size_t n, size_t size);
/* A copy of such an array. */
void *arena_copy(struct arena *a, const void *p, size_t n, size_t size);
/* Room for one more after the n elements at v, of *cap: v itself, or a copy
 * twice as large. */
void *arena_more(struct arena *a, void *v, uint32_t n, uint32_t *cap, size_t size);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void arena_free(struct arena *a);

struct buf {
	char *p;
	size_t n, cap;
};

void buf_add(struct buf *b, const void *p, size_t n);
void buf_str(struct buf *b, const char *s);
void buf_char(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* As buf_printf() would by %llu, for what is printed by the hundred thousand. */
void buf_decimal(struct buf *b, uint64_t v);
/* Adds n bytes to be filled by the caller. */
void *buf_grow(struct buf *b, size_t n);
/* Ends the bytes with a NUL that does not count in n; returns b->p. */
char *buf_cstr(struct buf *b);
void buf_uleb(struct buf *b, uint64_t v);
void buf_free(struct buf *b);
/* For bytes of which no copy may remain: makes room for n more without a
 * copy staying elsewhere; zeroes all that is there and empties the buffer. */
void buf_secret_room(struct buf *b, size_t n);
void buf_wipe(struct buf *b);
/* Zeroes what calls that returned left on the stack of this thread, 32 KiB
 * deep: copies of secrets that the compiler made. */
void stack_wipe(void);

/* Reads an ULEB128 at *p below end and moves *p past it. Returns 0, or -1
 * when it is cut off or exceeds 64 bits. */
int uleb_read(const uint8_t **p, const uint8_t *end, uint64_t *v);
/* The same of a signed one, of at most 63 bits. */
int sleb_read(const uint8_t **p, const uint8_t *end, int64_t *v);
/* Likewise a number of things that follow and take at least size bytes each: no more than there
 * can be. */
int uleb_count(const uint8_t **p, const uint8_t *end, size_t size, uint64_t *n);

#define VEC(T) \
	struct { \
		T *v; \
		size_t n, cap; \
	}
#define vec_push(V, ...) \
	do { \
		if ((V)->n == (V)->cap) { \
			(V)->cap = (V)->cap ? 2 * (V)->cap : 8; \
			(V)->v = xrealloc((V)->v, (V)->cap, sizeof *(V)->v); \
		} \
		(V)->v[(V)->n++] = (__VA_ARGS__); \
	} while (0)
/* Room for n elements in all. */
#define vec_reserve(V, room) \
	do { \
		if ((V)->cap < (room)) { \
			(V)->cap = (room); \
			(V)->v = xrealloc((V)->v, (V)->cap, sizeof *(V)->v); \
		} \
	} while (0)
#define vec_free(V) \
	do { \
		free((V)->v); \
		(V)->v = NULL; \
		(V)->n = (V)->cap = 0; \
	} while (0)

#endif
