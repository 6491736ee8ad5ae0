#include "morphctl/report/in/named.h"

struct named named_begin(
    struct recording *r, const struct in_options *o, const char *what, const char *event)
{
	return (struct named){r, recording_file(r, RECORDING_NAMED, o->module ?: what, NULL, 0),
	    recording_event(r, event, "count")};
}

uint32_t named_count(
    const struct named *x, const struct recording_frame *frame, uint32_t nframe, uint64_t n)
{
	uint32_t at = recording_location(x->r, x->file, NAMED_LINES + x->r->location.n);

	recording_resolve(x->r, at, frame, nframe);
	if (n)
		recording_sample(x->r, &(struct recording_sample){.event = x->event,
					   .task = RECORDING_NONE,
					   .stack = recording_stack(x->r, RECORDING_NONE, at),
					   .n = n,
					   .period = n});
	return at;
}
