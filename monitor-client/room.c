#include "monitor-client/room.h"

bool room_take(struct room *r, size_t max, uint32_t uid, size_t n)
{
	uint64_t *own = htab_put(&r->user, &uid, sizeof uid, NULL);
	size_t left = max - r->used;

	if (n > left || *own > left - n)
		return false;
	*own += n;
	r->used += n;
	return true;
}

void room_free(struct room *r)
{
	htab_free(&r->user);
	r->used = 0;
}
