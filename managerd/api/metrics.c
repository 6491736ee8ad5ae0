#include "managerd/api/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void metrics_count(struct metrics_http *h, unsigned code)
{
	size_t i;

	for (i = 0; i < h->by_code.n && h->by_code.v[i].code != code; i++)
		;
	if (i == h->by_code.n)
		vec_push(&h->by_code, (struct metrics_code){code, 0});
	h->by_code.v[i].n++;
}

static void head(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void counter(struct buf *out, const char *name, const char *help, uint64_t v)
{
	head(out, name, "counter", help);
	buf_printf(out, "%s %" PRIu64 "\n", name, v);
}

/* A label's value: backslash, quote and newline are escaped. */
static void label_value(struct buf *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '\n') {
			buf_str(out, "\\n");
			continue;
		}
		if (*s == '\\' || *s == '"')
			buf_char(out, '\\');
		buf_char(out, *s);
	}
}

static void samples(struct buf *out, const struct accounting *a)
{
	const struct {
		const char *where;
		uint64_t n;
	} row[] = {{"mapped", a->mapped}, {"outside", accounting_outside(a)}, {"stale", a->stale},
	    {"dropped", a->dropped}};
	size_t i;

	counter(out, "morph_samples_taken_total", "Samples the monitors took.", a->taken);
	head(out, "morph_samples_total", "counter", "Samples by where they went; sum = taken.");
	for (i = 0; i < sizeof row / sizeof *row; i++)
		buf_printf(
		    out, "morph_samples_total{where=\"%s\"} %" PRIu64 "\n", row[i].where, row[i].n);
	counter(out, "morph_batches_total", "Batches merged.", a->batches);
}

static void registers(struct buf *out, const struct observe_count *c, size_t wanted)
{
	head(out, "morph_registers_wanted_builds", "gauge", "Builds whose registers are wanted.");
	buf_printf(out, "morph_registers_wanted_builds %zu\n", wanted);
	counter(
	    out, "morph_register_samples_total", "Samples that came with registers.", c->samples);
	counter(out, "morph_register_samples_unsent_total",
	    "Samples of wanted builds whose registers did not come.", c->unsent);
	counter(out, "morph_register_samples_evaluated_total",
	    "Samples whose instruction the replay table knows.", c->placed);
	counter(out, "morph_branch_outcomes_total", "Branch outcomes resolved.", c->outcomes);
	counter(out, "morph_callers_total", "Samples whose call site was found.", c->callers);
	counter(out, "morph_charged_samples_total",
	    "Samples of other code that known code had called.", c->charged);
}

static const struct {
	const char *name, *type, *help;
} per_module[] = {
    {"morph_module_profile_samples", "gauge", "Samples in the aged profile."},
    {"morph_module_mapped_total", "counter", "Samples that fell into known blocks."},
    {"morph_module_predicted_gain_ratio", "gauge", "Gain of the best layout by the model."},
    {"morph_module_measured_gain_ratio", "gauge", "Gain of the last layout in use."},
};

static void modules(struct buf *out, const struct metrics_module *module, size_t n)
{
	size_t i, k;

	for (k = 0; k < sizeof per_module / sizeof *per_module; k++) {
		head(out, per_module[k].name, per_module[k].type, per_module[k].help);
		for (i = 0; i < n; i++) {
			const struct store_module *m = module[i].m;
			const double value[] = {module[i].samples, (double)m->mapped,
			    m->predicted ? m->estimate.gain : NAN, module[i].measured};

			if (isnan(value[k]))
				continue;
			buf_printf(
			    out, "%s{module=\"%016" PRIx64 "\",path=\"", per_module[k].name, m->id);
			label_value(out, m->path);
			buf_printf(out, "\"} %.12g\n", value[k]);
		}
	}
}

/* How far predictions are off, over the modules whose gain was measured. */
static void promises(struct buf *out, const struct metrics_module *module, size_t n)
{
	double off, square = 0, known = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		off = module[i].promised - module[i].measured;
		if (isnan(off))
			continue;
		square += off * off;
		known++;
	}
	if (!known)
		return;
	head(out, "morph_prediction_error_ratio", "gauge",
	    "Root mean square of predicted minus measured gain.");
	buf_printf(out, "morph_prediction_error_ratio %.12g\n", sqrt(square / known));
}

void metrics_print(struct buf *out, const struct manager_status *s, const size_t *state,
    size_t nstate, const struct metrics_http *h, const struct metrics_module *module, size_t n)
{
	size_t i;

	head(out, "morph_build_info", "gauge", "Always 1; the label says which version runs.");
	buf_printf(out, "morph_build_info{version=\"%s\"} 1\n", MORPH_VERSION);
	head(out, "morph_start_time_seconds", "gauge", "When the manager started, in Unix time.");
	buf_printf(out, "morph_start_time_seconds %.3f\n", (double)s->started_ms / 1e3);
	samples(out, &s->samples);
	registers(out, &s->observed, s->wanted);
	head(out, "morph_modules", "gauge", "Known modules by state.");
	for (i = 0; i < nstate; i++)
		buf_printf(out, "morph_modules{state=\"%s\"} %zu\n",
		    module_state_name((enum module_state)i), state[i]);
	counter(out, "morph_swaps_total", "New layouts put in place.", s->swaps);
	counter(out, "morph_rollbacks_total", "Layouts taken back.", s->rollbacks);
	counter(out, "morph_edits_failed_total", "Edits that came to nothing.", s->failures);
	head(out, "morph_http_requests_total", "counter", "Requests answered, by status code.");
	for (i = 0; i < h->by_code.n; i++)
		buf_printf(out, "morph_http_requests_total{code=\"%u\"} %" PRIu64 "\n",
		    h->by_code.v[i].code, h->by_code.v[i].n);
	promises(out, module, n);
	modules(out, module, n);
}
