/* Profiles as text, added up by weight. */
#include "common/ascii.h"
#include "common/hash.h"
#include "common/profiletext/profiletext.h"
#include "common/publish.h"
#include "morphctl/command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct input {
	char *path;
	double weight;
	struct buf text;
	double sum; /* of what its blocks have */
};

struct fact {
	struct profiletext_line line; /* names point into the text of the first input that has it */
	double value;
};

struct merged {
	VEC(struct fact) fact; /* in the order in which they came */
	struct htab index;     /* all of a line but its value -> index in fact */
	struct buf key;        /* scratch */
};

/* FILE or FILE:WEIGHT; what is there by the whole name is a file. */
static int read_argument(const char *arg, struct input *in, struct err *e)
{
	const char *colon = strrchr(arg, ':');
	char *end = NULL;

	*in = (struct input){.weight = 1};
	if (colon && colon > arg && access(arg, F_OK) != 0) {
		in->weight = strtod(colon + 1, &end);
		if (!colon[1] || *end || !isfinite(in->weight) || in->weight <= 0)
			return err_set(
			    e, "%s: the weight after the colon is a number above 0", arg);
		in->path = xasprintf("%.*s", (int)(colon - arg), arg);
	} else {
		in->path = xstrdup(arg);
	}
	return file_read(in->path, 0, &in->text, e);
}

static void add(struct merged *m, const struct profiletext_line *l, double value)
{
	struct profiletext_line fact = *l;
	uint64_t *at;
	bool fresh;

	fact.value = 0;
	m->key.n = 0;
	profiletext_write(&m->key, COUNTS_EXECUTIONS, &fact);
	at = htab_put(&m->index, m->key.p, m->key.n, &fresh);
	if (fresh) {
		*at = m->fact.n;
		vec_push(&m->fact, (struct fact){.line = fact});
	}
	m->fact.v[*at].value += value;
}

/* Each line times `factor`, into m; NULL: only for the sum. */
static int read_lines(
    struct input *in, enum counts_form form, double factor, struct merged *m, struct err *e)
{
	struct profiletext_reader r = {form, in->text.p, in->text.p + in->text.n, 0};
	struct profiletext_line l;
	int rc;

	in->sum = 0;
	while ((rc = profiletext_read(&r, &l, e)) > 0) {
		if (l.kind == PROFILETEXT_BLOCK)
			in->sum += (double)l.value;
		if (m)
			add(m, &l, factor * (double)l.value);
	}
	if (rc < 0)
		return err_wrap(e, "%s: line %zu", in->path, r.line);
	return in->sum > 0 ? 0 : err_set(e, "%s: no block has a count", in->path);
}

/* All count executions, in whole numbers, or else samples. */
static int find_form(struct input *in, int n, enum counts_form *form, struct err *e)
{
	int i;

	*form = COUNTS_EXECUTIONS;
	for (i = 0; i < n; i++) {
		if (!read_lines(&in[i], *form, 1, NULL, e))
			continue;
		if (*form == COUNTS_SAMPLES)
			return -1;
		*form = COUNTS_SAMPLES;
		i = -1;
	}
	return 0;
}

static int print(const struct merged *m, enum counts_form form, struct buf *out, struct err *e)
{
	double max = (double)PROFILETEXT_VALUE_MAX * (form == COUNTS_SAMPLES ? 1000 : 1);
	struct profiletext_line l;
	size_t i;

	for (i = 0; i < m->fact.n; i++) {
		l = m->fact.v[i].line;
		if (m->fact.v[i].value > max)
			return err_set(e,
			    "%.*s: block %u: more than a line can hold: take smaller weights",
			    (int)l.func.n, l.func.p, l.block);
		l.value = (uint64_t)llround(m->fact.v[i].value);
		if (l.value)
			profiletext_write(out, form, &l);
	}
	return 0;
}

static int merge(struct input *in, int n, bool equal, struct buf *out, struct err *e)
{
	struct merged m = {0};
	enum counts_form form;
	double most = 0;
	int i, rc = find_form(in, n, &form, e);

	for (i = 0; i < n; i++)
		most = fmax(most, in[i].sum);
	for (i = 0; rc == 0 && i < n; i++)
		rc = read_lines(&in[i], form, in[i].weight * (equal ? most / in[i].sum : 1), &m, e);
	if (rc == 0)
		rc = print(&m, form, out, e);
	vec_free(&m.fact);
	htab_free(&m.index);
	buf_free(&m.key);
	return rc;
}

int cmd_merge(const struct invocation *in)
{
	bool equal = in->given & OPT_EQUAL;
	struct input *input = xcalloc((size_t)in->narg, sizeof *input);
	struct buf out = {0};
	struct err e;
	int i, rc = 0;

	for (i = 0; rc == 0 && i < in->narg; i++)
		rc = read_argument(in->arg[i], &input[i], &e);
	if (rc == 0)
		rc = merge(input, in->narg, equal, &out, &e);
	if (rc == 0 && command_value(in, OPT_OUTPUT)) {
		rc = publish_bytes(command_value(in, OPT_OUTPUT), out.p, out.n, 0666, &e);
	} else if (rc == 0) {
		ascii_keep_stdout();
		fwrite(out.p, 1, out.n, stdout);
	}
	for (i = 0; i < in->narg; i++) {
		free(input[i].path);
		buf_free(&input[i].text);
	}
	free(input);
	buf_free(&out);
	return rc ? complain(EXIT_FAILED, "%s", e.text) : EXIT_DONE;
}
