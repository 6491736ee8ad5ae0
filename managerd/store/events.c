#include "managerd/store/events.h"
#include "common/log.h"
#include "common/number.h"

#include <math.h>
#include <stdio.h>

enum { TEXT_MAX = 512 };

static struct store_event event(
    const struct store_module *m, int64_t at_ms, enum event_kind kind, const char *text)
{
	return (struct store_event){.module = m->id,
	    .at_ms = at_ms,
	    .kind = kind,
	    .text = text,
	    .samples = NAN,
	    .gain = NAN,
	    .seconds = NAN};
}

/* What nobody asked for is news. */
static int put_news(
    struct store *s, const struct store_module *m, const struct store_event *v, struct err *e)
{
	log_info("%s: %s", m->path, v->text);
	return store_put_event(s, v, e);
}

int event_learned(struct store *s, const struct store_module *m, int64_t at_ms, size_t functions,
    uint32_t blocks, struct err *e)
{
	char text[TEXT_MAX];
	struct store_event v = event(m, at_ms, EVENT_LEARNED, text);

	snprintf(text, sizeof text, "learned: %zu functions, %u blocks", functions, blocks);
	v.to = m->current;
	return put_news(s, m, &v, e);
}

int event_replaced(struct store *s, const struct store_module *m, int64_t at_ms,
    const struct build_id *from, bool rebuilt, struct err *e)
{
	struct store_event v = event(m, at_ms, EVENT_REPLACED,
	    rebuilt ? "replaced by another program"
		    : "replaced by another build of the same program");

	v.from = *from;
	v.to = m->current;
	return put_news(s, m, &v, e);
}

int event_swapped(struct store *s, const struct store_module *m, int64_t at_ms,
    const struct build_id *from, const struct event_swap *swap, struct err *e)
{
	char text[TEXT_MAX], samples[NUMBER_TEXT];
	struct store_event v = event(m, at_ms, EVENT_SWAPPED, text);

	snprintf(text, sizeof text, "%u function%s laid out by %s samples in %.1f s", swap->edited,
	    swap->edited == 1 ? "" : "s", number_text(swap->samples, samples), swap->seconds);
	v.from = *from;
	v.to = m->current;
	v.change = swap->change;
	v.samples = swap->samples;
	v.seconds = swap->seconds;
	v.gain = m->predicted ? m->estimate.gain : NAN;
	v.size_before = swap->size_before;
	v.size_after = swap->size_after;
	return store_put_event(s, &v, e);
}

int event_rolled_back(struct store *s, const struct store_module *m, int64_t at_ms,
    const struct build_id *from, uint64_t change, const char *text, struct err *e)
{
	struct store_event v = event(m, at_ms, EVENT_ROLLED_BACK, text);

	v.from = *from;
	v.to = m->current;
	v.change = change;
	return store_put_event(s, &v, e);
}

int event_failed(struct store *s, const struct store_module *m, int64_t at_ms,
    const struct build_id *to, const struct event_swap *swap, const char *why, struct err *e)
{
	struct store_event v = event(m, at_ms, EVENT_FAILED, why);

	v.from = m->current;
	v.to = *to;
	v.samples = swap->samples;
	v.change = swap->change;
	return store_put_event(s, &v, e);
}

int event_measured(struct store *s, const struct store_module *m, int64_t at_ms,
    const struct build_id build[TRIAL_ARMS], const char *text, struct err *e)
{
	struct store_event v = event(m, at_ms, EVENT_MEASURED, text);

	v.from = build[TRIAL_OLD];
	v.to = build[TRIAL_NEW];
	return store_put_event(s, &v, e);
}

int event_recovered(struct store *s, const struct store_module *m, int64_t at_ms,
    const struct build_id *from, const struct build_id *to, const char *text, struct err *e)
{
	struct store_event v = event(m, at_ms, EVENT_RECOVERED, text);

	v.from = *from;
	v.to = *to;
	return store_put_event(s, &v, e);
}
