/*
 * What the manager sees, as a trace for `morphctl simulate` (docs/FORMATS.md "Traces"), where the
 * policy's record.disk gives it room: which samples it mapped, how busy others kept the machine,
 * how long jobs took. In record.jsonl of its own folder; that of the run before is record.jsonl.1.
 * A line is one write(2); what cannot be written ends the recording, and is logged.
 */
#ifndef MORPH_MANAGERD_RECORDING_H
#define MORPH_MANAGERD_RECORDING_H

#include "managerd/cycle/core.h"
#include "managerd/decide/idle.h"

struct recording {
	int fd;        /* -1 = nothing is recorded */
	uint64_t left; /* bytes */
	int64_t began_ms, last_ms;
	struct htab program;         /* module and origin -> its number */
	struct idle_reading machine; /* as it was written last … */
	double busy;                 /* … with this share used by others; < 0: never */
	int64_t looked_ms;
	uint64_t looked_ns; /* uv_hrtime() then */
	struct buf line;    /* of samples, under way */
};

void recording_start(struct recording *r, const struct core *c);
void recording_stop(struct recording *r);
/* Samples of a batch in a module, of the origin's functions: begin, each block, end. */
void recording_begin(struct recording *r, const struct module *mod, const struct origin *o);
void recording_count(struct recording *r, const struct origin *o, const struct map_func *f,
    uint32_t block, uint64_t n);
void recording_end(struct recording *r, uint64_t outside);
/* Once a second or so. */
void recording_machine(struct recording *r, const struct idle *i);
/* A job for the module has ended; kind "edit" or "score". */
void recording_job(struct recording *r, const struct module *mod, const char *kind, double ran_s);

#endif
