/*
 * A program in a simulation: its functions, how it is used now, and what layouts of it gain. Of a
 * modelled one that is arithmetic (managerd/simulate/model.h); of a recorded one morph-edit says
 * it, run over its artifact, and usage is all that the trace has of it. Answers are kept.
 */
#ifndef MORPH_MANAGERD_SUBJECT_H
#define MORPH_MANAGERD_SUBJECT_H

#include "common/elf/buildid.h"
#include "managerd/samples/profile.h"
#include "managerd/simulate/model.h"
#include "managerd/simulate/trace.h"

struct layout {
	struct build_id id;
	uint8_t *falls;        /* of a model; NULL = the compiler's */
	char *samples, *build; /* of a recorded program: files; NULL = the original */
	double gain;           /* in truth, over the original … */
	uint64_t usage;        /* … under this usage; 0 = not known */
};

struct subject_func {
	struct hash128 key;
	uint32_t first; /* slot of block 0 */
};

struct subject {
	const struct trace *trace;
	const struct trace_program *program;
	char *path;                  /* as the manager knows it */
	const char *folder, *editor; /* where a recorded one's files go; morph-edit */
	struct model model;
	uint32_t version; /* how often it was built again */
	struct build_id origin;
	VEC(struct subject_func) func;
	uint32_t nslot;
	double cpu;            /* processors that it takes now */
	double *usage;         /* weight of each slot now */
	double *now;           /* cpu of each workload of the trace */
	double **share;        /* usage of each, once it was needed */
	uint64_t usage_serial; /* grows with each change */
	char *whole;           /* recorded: the file of all samples … */
	double best;           /* … and what the layout of these gains; NAN = not asked yet */
	VEC(struct layout *) layout; /* of the present version; [0] is the original */
};

struct subject *subject_new(
    const struct trace *t, const struct trace_program *p, const char *folder, const char *editor);
void subject_free(struct subject *s);

/* The layout of this id, made where there is none yet. */
struct layout *subject_layout(struct subject *s, const struct build_id *id);
/* Whether there is a usage to judge layouts by; of a recorded one always. */
bool subject_runs(const struct subject *s);
void subject_run(struct subject *s, uint32_t workload, double cpu);
/* Another program is there now, of whose functions this share is changed. */
void subject_rebuild(struct subject *s, double changed);
/* An empty profile of its functions. */
void subject_profile(const struct subject *s, struct profile *p);

/* The best layout for a profile, as text; samples as of common/profiletext/profiletext.h. NULL with
 * an error. */
struct layout *subject_lay_out(struct subject *s, const struct buf *samples, struct err *e);
/* What the editor says of the present layout and the best one for these samples: its JSON, and the
 * layout where it is to be built. */
int subject_ask(struct subject *s, const struct layout *present, const struct buf *samples,
    struct layout **build, struct buf *json, struct err *e);
/* What a layout gains over the original, under the present usage; and what the best one would. */
double subject_gain(struct subject *s, struct layout *l);
double subject_best(struct subject *s);
/* The profile of the program before, text, for this one: functions by their names. */
void subject_carry(const struct subject *s, const struct buf *before, struct buf *out);

#endif
