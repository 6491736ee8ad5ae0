#include "hooks/args.h"
#include "common/publish.h"

#include <stdlib.h>
#include <string.h>

enum { RESPONSE_FILES_MAX = 2000, RESPONSE_BYTES_MAX = 64 << 20 };

void args_take(struct args *a, char *s)
{
	vec_push(a, s);
}

void args_add(struct args *a, const char *s)
{
	args_take(a, xstrdup(s));
}

char **args_end(struct args *a)
{
	args_take(a, NULL);
	a->n--;
	return a->v;
}

void args_free(struct args *a)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		free(a->v[i]);
	vec_free(a);
}

bool args_among(const char *const *list, const char *s)
{
	for (; *list; list++)
		if (!strcmp(*list, s))
			return true;
	return false;
}

char *args_join(const struct args *a, char sep)
{
	struct buf b = {0};
	size_t i;

	for (i = 0; i < a->n; i++) {
		if (i)
			buf_char(&b, sep);
		buf_str(&b, a->v[i]);
	}
	return buf_cstr(&b);
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

void args_split(struct args *out, const char *text, size_t n)
{
	const char *p = text, *end = text + n;
	struct buf word = {0};
	char quote = '\0';

	for (;;) {
		while (p < end && is_space(*p))
			p++;
		if (p == end)
			break;
		word.n = 0;
		for (; p < end && (quote || !is_space(*p)); p++) {
			if (*p == '\\' && p + 1 < end)
				buf_char(&word, *++p);
			else if (quote ? *p == quote : *p == '\'' || *p == '"')
				quote = quote ? '\0' : *p;
			else
				buf_char(&word, *p);
		}
		args_add(out, buf_cstr(&word));
	}
	buf_free(&word);
}

static int expand_one(struct args *out, const char *arg, int *budget, struct err *e)
{
	struct args inner = {0};
	struct buf text = {0};
	int r = 0;
	size_t i;

	if (arg[0] != '@' || file_read(arg + 1, RESPONSE_BYTES_MAX, &text, NULL) < 0) {
		args_add(out, arg);
		return 0;
	}
	if (--*budget < 0)
		r = err_set(e, "%s: too many response files", arg);
	args_split(&inner, text.p, text.n);
	for (i = 0; i < inner.n && !r; i++)
		r = expand_one(out, inner.v[i], budget, e);
	args_free(&inner);
	buf_free(&text);
	return r;
}

int args_expand(struct args *out, int argc, char **argv, struct err *e)
{
	int budget = RESPONSE_FILES_MAX, r = 0, i;

	for (i = 1; i < argc && !r; i++)
		r = expand_one(out, argv[i], &budget, e);
	return r;
}
