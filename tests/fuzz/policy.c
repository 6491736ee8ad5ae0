/*
 * cov >= 160
 * Policies: any bytes. What is accepted prints as a policy that is accepted,
 * and that means the same.
 */
#include "managerd/conf/conf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the policy says, without its comments: they hold file and line. */
static char *said(const struct conf *c, size_t *n)
{
	struct conf plain = *c;
	char *text = NULL;
	FILE *f = open_memstream(&text, n);
	size_t i;

	memset(plain.line, 0, sizeof plain.line);
	plain.path = (char *)"";
	for (i = 0; i < plain.modules.n; i++)
		plain.modules.v[i].line = 0;
	conf_print(&plain, f);
	fclose(f);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct conf c, again;
	char *one, *two;
	size_t n1, n2;
	struct err e = {""};

	if (conf_parse("fuzz", (const char *)p, n, &c, &e)) {
		if (!strstr(e.text, "fuzz:") || strchr(e.text, '\n'))
			abort();
		return 0;
	}
	one = said(&c, &n1);
	if (conf_parse("again", one, n1, &again, &e)) {
		fprintf(stderr, "%s\n%s", e.text, one);
		abort();
	}
	two = said(&again, &n2);
	if (n1 != n2 || memcmp(one, two, n1))
		abort();
	conf_module_for(&again, "/usr/bin/lua5.4");
	conf_free(&c);
	conf_free(&again);
	free(one);
	free(two);
	return 0;
}
