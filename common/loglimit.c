#include "common/loglimit.h"

#include <stddef.h>
#include <stdio.h>

static struct loglimit_site *slot_of(struct loglimit *l, const void *site, uint64_t now)
{
	struct loglimit_site *s, *spare = NULL;

	for (s = l->site; s < l->site + LOGLIMIT_SITES; s++) {
		if (s->site == site)
			return s;
		if (!spare && (!s->site || (!s->more && now - s->since >= LOGLIMIT_MS)))
			spare = s;
	}
	if (spare)
		*spare = (struct loglimit_site){.site = site, .since = now};
	return spare;
}

bool loglimit_allows(struct loglimit *l, const void *site, const char *fmt, uint64_t now)
{
	struct loglimit_site *s = slot_of(l, site, now);

	if (!s)
		return true;
	if (now - s->since >= LOGLIMIT_MS && !s->more) {
		s->since = now;
		s->lines = 0;
	}
	if (s->lines < LOGLIMIT_LINES) {
		s->lines++;
		return true;
	}
	if (!s->more++)
		snprintf(s->like, sizeof s->like, "%s", fmt);
	return false;
}

bool loglimit_next(struct loglimit *l, uint64_t now, bool all, struct loglimit_site *out)
{
	struct loglimit_site *s;

	for (s = l->site; s < l->site + LOGLIMIT_SITES; s++)
		if (s->more && (all || now - s->since >= LOGLIMIT_MS)) {
			*out = *s;
			*s = (struct loglimit_site){0};
			return true;
		}
	return false;
}
