/*
 * speedscope's JSON (file-format-schema.json): a "sampled" profile for each event and thread, with
 * its samples in the order of time, as far as that is known, and their periods as weights.
 */
#include "morphctl/report/out/formats.h"
#include "morphctl/report/out/stacks.h"
#include "morphctl/report/out/text.h"

#include <string.h>

static const char schema[] = "https://www.speedscope.app/file-format-schema.json";

struct speedscope {
	const struct recording *r;
	uint32_t *frame; /* by level_symbol(): its number + 1 */
	uint32_t nframe;
	struct buf frames, samples, weights, name;
	struct levels levels;
};

static void put_frame(struct speedscope *s, const struct level *l)
{
	static const struct recording_function unknown = {0};
	const struct recording_function *f =
	    l->function == RECORDING_NONE ? &unknown : &s->r->function.v[l->function];

	buf_str(&s->frames, s->nframe ? ",\n{\"name\":" : "{\"name\":");
	text_json(&s->frames, level_name(l, s->r, &s->name));
	if (f->source) {
		buf_str(&s->frames, ",\"file\":");
		text_json(&s->frames, f->source);
	}
	if (f->line)
		buf_printf(&s->frames, ",\"line\":%u", f->line);
	buf_char(&s->frames, '}');
}

static void put_stack(struct speedscope *s, uint32_t stack)
{
	uint32_t *frame;
	size_t i;

	levels_of_stack(&s->levels, s->r, stack);
	buf_str(&s->samples, s->samples.n ? ",\n[" : "[");
	for (i = 0; i < s->levels.v.n; i++) {
		frame = &s->frame[level_symbol(&s->levels.v.v[i], s->r)];
		if (!*frame) {
			put_frame(s, &s->levels.v.v[i]);
			*frame = ++s->nframe;
		}
		buf_printf(&s->samples, "%s%u", i ? "," : "", *frame - 1);
	}
	buf_char(&s->samples, ']');
}

static void name_profile(struct speedscope *s, const struct recording_sample *sample)
{
	const struct recording_event *e = &s->r->event.v[sample->event];
	const struct recording_task *t;

	s->name.n = 0;
	if (sample->task == RECORDING_NONE) {
		buf_str(&s->name, e->name);
		return;
	}
	t = &s->r->task.v[sample->task];
	buf_printf(&s->name, "%s %u", *t->comm ? t->comm : "pid", t->pid);
	if (t->tid)
		buf_printf(&s->name, "/%u", t->tid);
	if (s->r->event.n > 1)
		buf_printf(&s->name, " %s", e->name);
}

/* The samples [i, end), of one event and thread. */
static void put_profile(struct speedscope *s, struct buf *out, const struct recording_sample *i,
    const struct recording_sample *end)
{
	const struct recording_sample *first = i;
	uint64_t sum = 0, weight = 0;
	bool period = false, ns = strcmp(s->r->event.v[i->event].unit, "ns") == 0;

	for (; i < end; i++)
		period |= i->period != 0;
	s->samples.n = s->weights.n = 0;
	for (i = first; i < end; i++, sum += weight) {
		weight = period ? i->period : i->n;
		put_stack(s, i->stack);
		if (s->weights.n)
			buf_char(&s->weights, ',');
		buf_decimal(&s->weights, weight);
	}
	name_profile(s, first);
	buf_str(out, "{\"type\":\"sampled\",\"name\":");
	text_json(out, buf_cstr(&s->name));
	buf_printf(out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%llu,\n\"samples\":[",
	    period && ns ? "nanoseconds" : "none", (unsigned long long)sum);
	buf_add(out, s->samples.p, s->samples.n);
	buf_str(out, "],\n\"weights\":[");
	buf_add(out, s->weights.p, s->weights.n);
	buf_str(out, "]}");
}

int write_speedscope(
    const struct recording *r, const struct out_options *o, struct buf *out, struct err *e)
{
	struct speedscope s = {
	    .r = r, .frame = xcalloc(r->function.n + r->file.n + 1, sizeof *s.frame)};
	struct recording sorted;
	size_t i, end;

	samples_in_time(&sorted, r);
	buf_printf(out, "{\"$schema\":\"%s\",\"exporter\":\"Morph " MORPH_VERSION "\"", schema);
	if (o->title) {
		buf_str(out, ",\"name\":");
		text_json(out, o->title);
	}
	buf_str(out, ",\n\"profiles\":[");
	for (i = 0; i < sorted.sample.n; i = end) {
		end = samples_of_task(&sorted, i);
		if (i)
			buf_str(out, ",\n");
		put_profile(&s, out, sorted.sample.v + i, sorted.sample.v + end);
	}
	buf_str(out, "],\n\"shared\":{\"frames\":[");
	buf_add(out, s.frames.p, s.frames.n);
	buf_str(out, "]}}\n");
	recording_free(&sorted);
	vec_free(&s.levels.v);
	buf_free(&s.frames);
	buf_free(&s.samples);
	buf_free(&s.weights);
	buf_free(&s.name);
	free(s.frame);
	return 0;
}
