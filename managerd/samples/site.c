#include "managerd/samples/observe.h"

/* Whether a return address has its callers' above it, up to other code, or to where nothing is
 * known: what an earlier call left has not. */
static bool is_called(
    const struct observer *o, const struct wire_caller *c, const struct wire_site *s)
{
	const struct wire_site *next = s, *end = c->site + c->nsite;
	uint32_t word;

	while (observe_next_word(&o[s->module], s->offset, s->word, &word) && word < c->looked) {
		while (next < end && next->word < word)
			next++;
		if (next == end || next->word != word)
			return false;
		if (next->module == WIRE_OTHER_CODE)
			return true;
		if (!observe_may_call(&o[next->module], next->offset, &o[s->module], s->offset))
			return false;
		if (!o[next->module].uops)
			return true;
		s = next;
	}
	return true;
}

const struct wire_site *observe_site(const struct observer *o, const struct wire_caller *c)
{
	const struct wire_site *s;

	for (s = c->site; s < c->site + c->nsite; s++)
		if (s->module != WIRE_OTHER_CODE && o[s->module].uops &&
		    observe_calls_out(&o[s->module], s->offset) && is_called(o, c, s))
			return s;
	return NULL;
}
