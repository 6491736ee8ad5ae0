#include "editor-driver/counts.h"
#include "common/publish.h"
#include "editor/cfg.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_MIN = 8, KEY_MAX = 32, NONE = -1 };
/* Keeps every sum of a whole file, times SAMPLE_ONE, far from overflow. */
static const uint64_t VALUE_MAX = (uint64_t)1 << 44;
static const uint64_t SUM_MAX = (uint64_t)1 << 60;

struct line {
	const char *func, *key; /* key = NULL: none given */
	size_t nfunc, nkey;
	uint64_t block, value;
};

/* Functions of one name, chained by next[] in artifact order. */
struct names {
	struct htab first; /* name -> index + 1 */
	int64_t *next;
};

static void names_init(struct names *t, const struct art_func *func, size_t nfunc)
{
	uint64_t *head;
	bool fresh;
	size_t i;

	t->first = (struct htab){0};
	t->next = xcalloc(nfunc, sizeof *t->next);
	for (i = nfunc; i-- > 0;) {
		head = htab_put_str(&t->first, func[i].name, &fresh);
		t->next[i] = fresh ? NONE : (int64_t)*head - 1;
		*head = i + 1;
	}
}

static void names_free(struct names *t)
{
	htab_free(&t->first);
	free(t->next);
}

static const char *skip_blank(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

static const char *skip_word(const char *p, const char *end)
{
	while (p < end && *p != ' ' && *p != '\t')
		p++;
	return p;
}

static const char *read_whole(const char *p, const char *end, uint64_t max, uint64_t *v)
{
	const char *begin = p;

	for (*v = 0; p < end && isdigit((unsigned char)*p); p++) {
		*v = *v * 10 + (uint64_t)(*p - '0');
		if (*v > max)
			return NULL;
	}
	return p == begin ? NULL : p;
}

static const char *read_samples(const char *p, const char *end, uint64_t *v)
{
	uint64_t milli = 0;
	int digit;

	p = read_whole(p, end, VALUE_MAX, v);
	if (!p)
		return NULL;
	if (p < end && *p == '.') {
		for (p++, digit = 0; digit < 3; digit++) {
			milli *= 10;
			if (p < end && isdigit((unsigned char)*p))
				milli += (uint64_t)(*p++ - '0');
			else if (digit == 0)
				return NULL;
		}
	}
	*v = *v * SAMPLE_ONE + (milli * SAMPLE_ONE + 500) / 1000;
	return p;
}

/* Splits name#KEY; a '#' that no key follows belongs to the name. */
static void split_key(struct line *l)
{
	const char *hash = memrchr(l->func, '#', l->nfunc);
	size_t i, n;

	l->key = NULL;
	l->nkey = 0;
	if (!hash || hash == l->func)
		return;
	n = l->nfunc - (size_t)(hash + 1 - l->func);
	if (n < KEY_MIN || n > KEY_MAX)
		return;
	for (i = 0; i < n; i++)
		if (!isxdigit((unsigned char)hash[1 + i]))
			return;
	l->key = hash + 1;
	l->nkey = n;
	l->nfunc = (size_t)(hash - l->func);
}

static int read_line(
    const char *p, const char *end, enum counts_form form, struct line *l, struct err *e)
{
	l->func = p;
	p = skip_word(p, end);
	l->nfunc = (size_t)(p - l->func);
	split_key(l);
	p = read_whole(skip_blank(p, end), end, UINT32_MAX, &l->block);
	if (!p || (p < end && *p != ' ' && *p != '\t'))
		return err_set(e, "expected a block number after the function");
	p = skip_blank(p, end);
	p = form == COUNTS_SAMPLES ? read_samples(p, end, &l->value)
				   : read_whole(p, end, VALUE_MAX, &l->value);
	if (!p || skip_blank(p, end) != end)
		return err_set(e, "expected %s after the block, and nothing behind it",
		    form == COUNTS_SAMPLES ? "a number with at most 3 fraction digits"
					   : "a whole number");
	return 0;
}

static bool key_matches(const struct art_func *f, const struct line *l)
{
	char hex[HASH_HEX];

	return !l->key || !strncasecmp(hash_hex(&f->key, hex), l->key, l->nkey);
}

static void add(uint64_t *sum, uint64_t v)
{
	*sum = *sum > SUM_MAX - v ? SUM_MAX : *sum + v;
}

/* The values of the functions a line means, or NULL and why in *lost. */
static uint64_t *resolve(struct counts *c, const struct names *t, const struct art_func *func,
    const struct line *l, const struct art_func **hit, uint64_t **lost)
{
	const uint64_t *head = htab_get(&t->first, l->func, l->nfunc);
	int64_t i, first = NONE;

	*lost = &c->unknown;
	for (i = head ? (int64_t)*head - 1 : NONE; i != NONE; i = t->next[i]) {
		if (!key_matches(&func[i], l))
			continue;
		if (first == NONE)
			first = i;
		*lost = &c->ambiguous;
		if (!hash_equal(&func[i].key, &func[first].key) ||
		    func[i].nblock != func[first].nblock)
			return NULL;
	}
	if (first == NONE)
		return NULL;
	*hit = &func[first];
	if (c->block[first])
		return c->block[first];
	c->block[first] = arena_array(&c->mem, func[first].nblock, sizeof(uint64_t));
	for (i = t->next[first]; i != NONE; i = t->next[i])
		if (key_matches(&func[i], l))
			c->block[i] = c->block[first];
	return c->block[first];
}

static void take_line(struct counts *c, const struct names *t, const struct art_func *func,
    const struct line *l)
{
	const struct art_func *hit;
	uint64_t *lost, *value;

	c->lines++;
	add(&c->total, l->value);
	value = resolve(c, t, func, l, &hit, &lost);
	if (!value) {
		++*lost;
	} else if (l->block >= hit->nblock) {
		c->no_block++;
	} else {
		add(&value[l->block], l->value);
		add(&c->used, l->value);
	}
}

int counts_parse(const char *text, size_t n, const char *name, enum counts_form form,
    const struct art_func *func, size_t nfunc, struct counts *out, struct err *e)
{
	const char *p, *eol, *end = text + n;
	struct names names;
	struct line l;
	size_t no = 0;
	int rc = 0;

	*out = (struct counts){.form = form};
	out->block = arena_array(&out->mem, nfunc, sizeof *out->block);
	names_init(&names, func, nfunc);
	for (p = text; p < end && !rc; p = eol + 1) {
		no++;
		eol = memchr(p, '\n', (size_t)(end - p));
		if (!eol)
			eol = end;
		p = skip_blank(p, eol);
		if (p == eol || (*p == '#' && (p + 1 == eol || p[1] == ' ')))
			continue;
		rc = read_line(p, eol, form, &l, e);
		if (rc)
			err_wrap(e, "%s:%zu", name, no);
		else
			take_line(out, &names, func, &l);
	}
	names_free(&names);
	return rc;
}

int counts_read(const char *path, enum counts_form form, const struct art_func *func,
    size_t nfunc, struct counts *out, struct err *e)
{
	struct buf text = {0};
	int rc;

	*out = (struct counts){.form = form};
	rc = file_read(path, 0, &text, e);
	if (!rc)
		rc = counts_parse(text.p, text.n, path, form, func, nfunc, out, e);
	buf_free(&text);
	return rc;
}

void counts_free(struct counts *c)
{
	arena_free(&c->mem);
	*c = (struct counts){0};
}

uint64_t counts_weight(const struct counts *c, const struct art_func *func, size_t i)
{
	uint64_t w, sum = 0;
	uint32_t b;

	for (b = 0; c->block[i] && b < func[i].nblock; b++) {
		w = c->block[i][b];
		if (c->form == COUNTS_EXECUTIONS && __builtin_mul_overflow(w, func[i].insns[b], &w))
			w = SUM_MAX;
		add(&sum, w < SUM_MAX ? w : SUM_MAX);
	}
	return sum;
}
