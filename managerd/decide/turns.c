#include "managerd/decide/turns.h"

enum { USERS_MAX = 4096 }; /* beyond, everybody's turn starts over */

uint64_t turns_last(const struct turns *t, uint32_t uid)
{
	uint64_t *at = htab_get(&t->served, &uid, sizeof uid);

	return at ? *at : 0;
}

void turns_serve(struct turns *t, uint32_t uid)
{
	if (t->served.n >= USERS_MAX)
		htab_free(&t->served);
	*htab_put(&t->served, &uid, sizeof uid, NULL) = ++t->clock;
}

void turns_free(struct turns *t)
{
	htab_free(&t->served);
}
