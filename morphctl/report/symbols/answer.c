#include "morphctl/report/symbols/answer.h"
#include "common/log.h"
#include "common/utf8.h"

#include <stdbool.h>
#include <string.h>

/* ---- writing ---- */

struct strings {
	struct htab index; /* of interned strings, by their address */
	struct buf b;
	uint64_t n;
};

void answer_put(struct buf *out, const char *s)
{
	size_t n = strlen(s);

	buf_uleb(out, n);
	buf_add(out, s, n);
}

static uint64_t string(struct strings *t, const char *s)
{
	bool fresh;
	uint64_t *at = htab_put(&t->index, &s, sizeof s, &fresh);

	if (fresh) {
		*at = t->n++;
		answer_put(&t->b, s);
	}
	return *at;
}

static void put_function(struct strings *t, struct buf *out, const struct recording_function *f)
{
	buf_uleb(out, string(t, f->name));
	buf_uleb(out, string(t, f->linkage));
	buf_uleb(out, f->source ? string(t, f->source) + 1 : 0);
	buf_uleb(out, f->start + 1);
	buf_uleb(out, f->size);
	buf_uleb(out, f->line);
}

static void put_location(
    struct buf *out, const struct recording *r, const struct recording_location *l)
{
	uint32_t i;

	buf_uleb(out, l->nframe);
	for (i = 0; i < l->nframe; i++) {
		buf_uleb(out, r->frame.v[l->frame + i].function);
		buf_uleb(out, r->frame.v[l->frame + i].line);
		buf_uleb(out, r->frame.v[l->frame + i].discriminator);
	}
}

void answer_encode(const struct recording *r, struct buf *out)
{
	struct strings t = {0};
	struct buf rest = {0};
	size_t i;

	buf_uleb(&rest, r->function.n);
	for (i = 0; i < r->function.n; i++)
		put_function(&t, &rest, &r->function.v[i]);
	buf_uleb(&rest, r->location.n);
	for (i = 0; i < r->location.n; i++)
		put_location(&rest, r, &r->location.v[i]);
	buf_uleb(out, t.n);
	buf_add(out, t.b.p, t.b.n);
	buf_add(out, rest.p, rest.n);
	htab_free(&t.index);
	buf_free(&t.b);
	buf_free(&rest);
}

/* ---- reading ---- */

struct reader {
	const uint8_t *p, *end;
	struct recording *r;
	struct arena mem;
	const char **string;
	uint64_t nstring;
	VEC(uint32_t) function; /* by its number in the answer */
};

static int number(struct reader *d, uint64_t max, uint64_t *v)
{
	return uleb_read(&d->p, d->end, v) || *v > max ? -1 : 0;
}

static bool printable(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	int n;

	for (; *p && (n = utf8_printable(p)); p += n)
		;
	return !*p;
}

const char *answer_get(const uint8_t **p, const uint8_t *end, struct arena *mem)
{
	uint64_t n;
	char *raw, *out;

	if (uleb_count(p, end, 1, &n))
		return NULL;
	raw = arena_strndup(mem, (const char *)*p, n);
	*p += n;
	if (printable(raw))
		return raw;
	out = arena_alloc(mem, 4 * n + 5);
	log_escape(out, 4 * n + 5, raw);
	return out;
}

static int strings(struct reader *d)
{
	uint64_t i;

	if (uleb_count(&d->p, d->end, 1, &d->nstring))
		return -1;
	d->string = arena_array(&d->mem, d->nstring, sizeof *d->string);
	for (i = 0; i < d->nstring; i++) {
		d->string[i] = answer_get(&d->p, d->end, &d->mem);
		if (!d->string[i])
			return -1;
	}
	return 0;
}

static int function(struct reader *d, uint64_t i)
{
	struct recording_function f = {.file = RECORDING_NONE};
	uint64_t name, linkage, source, start, line;

	if (!d->nstring || number(d, d->nstring - 1, &name) ||
	    number(d, d->nstring - 1, &linkage) || number(d, d->nstring, &source) ||
	    number(d, UINT64_MAX, &start) || number(d, UINT64_MAX, &f.size) ||
	    number(d, UINT32_MAX, &line))
		return -1;
	f.name = d->string[name];
	f.linkage = d->string[linkage];
	f.source = source ? d->string[source - 1] : NULL;
	f.start = start - 1;
	f.line = (uint32_t)line;
	if (f.start != UINT64_MAX && f.start + f.size < f.start)
		return -1;
	vec_push(&d->function, recording_function(d->r, &f));
	return 0;
}

static int location(struct reader *d, uint64_t i)
{
	struct recording_frame frame[ANSWER_DEPTH];
	uint64_t n, k, function, line, disc;

	if (number(d, ANSWER_DEPTH, &n) || (n && !d->function.n))
		return -1;
	for (k = 0; k < n; k++) {
		if (number(d, d->function.n - 1, &function) || number(d, UINT32_MAX, &line) ||
		    number(d, UINT32_MAX, &disc))
			return -1;
		frame[k] = (struct recording_frame){
		    d->function.v[function], (uint32_t)line, (uint32_t)disc};
	}
	recording_resolve(d->r, recording_location(d->r, RECORDING_NONE, i), frame, (uint32_t)n);
	return 0;
}

static int each(struct reader *d, size_t size, int (*fn)(struct reader *, uint64_t), uint64_t *n)
{
	uint64_t i;

	if (uleb_count(&d->p, d->end, size, n))
		return -1;
	for (i = 0; i < *n; i++)
		if (fn(d, i))
			return -1;
	return 0;
}

int answer_decode(const void *p, size_t bytes, size_t n, struct recording *r, struct err *e)
{
	struct reader d = {.p = p, .end = (const uint8_t *)p + bytes, .r = r};
	uint64_t functions, locations = 0;
	int rc;

	rc = strings(&d) || each(&d, 6, function, &functions) || each(&d, 1, location, &locations);
	arena_free(&d.mem);
	vec_free(&d.function);
	if (rc || locations != n || d.p != d.end)
		return err_set(e, "the process that read it gave a wrong answer");
	return 0;
}
