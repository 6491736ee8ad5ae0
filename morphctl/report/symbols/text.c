/*
 * /proc/kallsyms: "ADDRESS TYPE NAME" and for modules a tab and "[MODULE]", in lines; ADDRESS
 * hexadecimal, TYPE as of nm: t, T, w and W are code. Addresses are zero for who may not know them.
 *
 * perf-PID.map: "START SIZE NAME", both hexadecimal, in lines; NAME has spaces. Compilers move
 * code and write lines again: the last one that has an address names it.
 */
#include "common/sort.h"
#include "morphctl/report/confined/confined.h"
#include "morphctl/report/symbols/readers.h"

#include <string.h>
#include <unistd.h>

/* ---- lines ---- */

static int digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* A number and the space after it. */
static int hex(const char **p, const char *end, uint64_t *v)
{
	const char *begin;
	uint64_t n = 0;

	if (end - *p > 2 && (*p)[0] == '0' && ((*p)[1] | 32) == 'x')
		*p += 2;
	for (begin = *p; *p < end && digit(**p) >= 0; ++*p) {
		if (n >> 60)
			return -1;
		n = n << 4 | (uint64_t)digit(**p);
	}
	if (*p == begin || *p == end || **p != ' ')
		return -1;
	++*p;
	*v = n;
	return 0;
}

int reader_bytes(size_t max, struct buf *out, struct err *e)
{
	enum { CHUNK = 64 << 10 };
	ssize_t n;

	do {
		n = read(CONFINED_FILE, buf_grow(out, CHUNK), CHUNK);
		out->n -= CHUNK - (size_t)(n > 0 ? n : 0);
	} while (n > 0 && out->n <= max);
	if (n < 0)
		return err_sys(e, "reading");
	return out->n > max ? err_set(e, "larger than %zu bytes", max) : 0;
}

uint32_t reader_function(struct recording *r, const char *linkage, uint64_t start, uint64_t size)
{
	struct recording_function f = {
	    .name = linkage, .file = RECORDING_NONE, .start = start, .size = size};

	return recording_function(r, &f);
}

void reader_location(struct recording *r, uint32_t function)
{
	struct recording_frame f = {.function = function};

	recording_resolve(r, recording_location(r, RECORDING_NONE, r->location.n), &f,
	    function == RECORDING_NONE ? 0 : 1);
}

/* ---- the kernel ---- */

struct symbol {
	uint64_t start;
	const char *name, *module; /* not terminated; module NULL = the kernel itself */
	uint32_t nname, nmodule;
	unsigned rank; /* 0 = no code */
};
enum { NAME_BYTES = 1024, PAGE = 4096 };

static int kernel_line(const char *p, const char *end, struct symbol *s)
{
	const char *tab;

	if (hex(&p, end, &s->start) || end - p < 3 || p[1] != ' ')
		return -1;
	s->rank = *p == 'T' ? 3 : *p == 'W' || *p == 'w' ? 2 : *p == 't' ? 1 : 0;
	s->name = p + 2;
	tab = memchr(s->name, '\t', (size_t)(end - s->name));
	s->module = tab && end - tab > 1 && tab[1] == '[' ? tab + 1 : NULL;
	s->nmodule = s->module ? (uint32_t)(end - s->module) : 0;
	s->nname = (uint32_t)((tab ? tab : end) - s->name);
	return s->nname && s->nname < NAME_BYTES && s->nmodule < NAME_BYTES ? 0 : -1;
}

/* Of those at one address the last one names it. */
static int by_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return ORDER(x->start, y->start) ?: ORDER(x->rank, y->rank) ?: ORDER(y->name, x->name);
}

static bool same_module(const struct symbol *a, const struct symbol *b)
{
	return a->nmodule == b->nmodule &&
	       !memcmp(a->module ? a->module : "", b->module ? b->module : "", a->nmodule);
}

/* Where that symbol's code ends at most: nobody says where a module does. */
static uint64_t end_of(const struct symbol *s, const struct symbol *end)
{
	const struct symbol *next = s + 1;
	uint64_t page = ((s->start | (PAGE - 1)) + 1) + PAGE;

	while (next < end && next->start == s->start)
		next++;
	if (next == end)
		return page;
	return same_module(s, next) || next->start < page ? next->start : page;
}

/* "name", and " [module]" where the file is not called so. */
static uint32_t kernel_function(
    struct recording *r, const struct request *q, const struct symbol *s, uint64_t end)
{
	char name[2 * NAME_BYTES + 2], *p = name;

	p = mempcpy(p, s->name, s->nname);
	if (s->module &&
	    (strlen(q->file->path) != s->nmodule || memcmp(q->file->path, s->module, s->nmodule))) {
		*p++ = ' ';
		p = mempcpy(p, s->module, s->nmodule);
	}
	*p = '\0';
	return reader_function(r, name, s->start, end - s->start);
}

int read_kallsyms(
    const struct request *q, const char *text, size_t n, struct recording *r, struct err *e)
{
	const char *p = text, *end = text + n, *line;
	VEC(struct symbol) t = {0};
	struct symbol s;
	uint64_t any = 0, limit;
	size_t i, k;

	for (; p < end; p = line + 1) {
		line = memchr(p, '\n', (size_t)(end - p)) ?: end;
		if (kernel_line(p, line, &s))
			continue;
		any |= s.start;
		vec_push(&t, s);
	}
	vec_sort(&t, by_start);
	for (i = 0; any && i < q->n; i++) {
		k = partition_point(0, t.n, m, t.v[m].start <= q->at[i]);
		limit = k ? end_of(&t.v[k - 1], t.v + t.n) : 0;
		reader_location(r, k && t.v[k - 1].rank && q->at[i] < limit
				       ? kernel_function(r, q, &t.v[k - 1], limit)
				       : RECORDING_NONE);
	}
	vec_free(&t);
	return any ? 0
		   : err_set(e, "the kernel hides addresses from this user; run this as root "
				"where kernel.kptr_restrict is 0 or 1");
}

/* ---- code of JIT compilers ---- */

/* The first location from i on that has no name yet; n = none. */
static uint32_t unnamed(uint32_t *next, uint32_t i)
{
	while (next[i] != i) {
		next[i] = next[next[i]];
		i = next[i];
	}
	return i;
}

static void map_line(const struct request *q, const char *p, const char *end, struct recording *r,
    uint32_t *next, uint32_t *function)
{
	uint64_t start, size;
	char name[NAME_BYTES];
	size_t i, n;

	if (hex(&p, end, &start) || hex(&p, end, &size) || p == end || start + size < start)
		return;
	n = (size_t)(end - p) < sizeof name ? (size_t)(end - p) : sizeof name - 1;
	memcpy(name, p, n);
	name[n] = '\0';
	i = unnamed(next, (uint32_t)partition_point(0, q->n, m, q->at[m] < start));
	for (; i < q->n && q->at[i] < start + size; i = unnamed(next, (uint32_t)i)) {
		function[i] = reader_function(r, name, start, size);
		next[i] = (uint32_t)i + 1;
	}
}

/* From the last line to the first, so that each location is named once. */
void read_perfmap(const struct request *q, const char *text, size_t n, struct recording *r)
{
	uint32_t *next = xmalloc((q->n + 1) * sizeof *next);
	uint32_t *function = xmalloc((q->n + 1) * sizeof *function);
	const char *end = text + n, *p;
	uint32_t i;

	for (i = 0; i <= q->n; i++) {
		next[i] = i;
		function[i] = RECORDING_NONE;
	}
	while (end > text) {
		p = memrchr(text, '\n', (size_t)(end - text));
		map_line(q, p ? p + 1 : text, end, r, next, function);
		end = p ? p : text;
	}
	for (i = 0; i < q->n; i++)
		reader_location(r, function[i]);
	free(next);
	free(function);
}
