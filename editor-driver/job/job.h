/*
 * The jobs of morph-edit: an edit, a replay table, a score, a report, counts
 * to a profile, a comparison, shapes, a profile carried over, branches, an annotated function, an
 * artifact of a program without one.
 */
#ifndef MORPH_JOB_H
#define MORPH_JOB_H

#include "common/editanswer/editanswer.h"
#include "editor-driver/link/cache.h"
#include "editor-driver/job/annotate.h"
#include "editor-driver/job/branches.h"
#include "editor-driver/job/compare.h"
#include "editor-driver/job/foreign.h"
#include "editor-driver/plan/plan.h"
#include "editor-driver/plan/score.h"
#include "editor-driver/job/tally.h"
#include "editor-driver/job/lift.h"
#include "editor-driver/job/replay.h"
#include "editor-driver/job/shapes.h"

struct options {
	const char *artifact;
	struct build_id program; /* which of those in it; n = 0: as artifact_open() */
	const char *original, *out, *cache, *keep, *layout, *carry; /* NULL: not given */
	const char *annotate, *module, *order;
	const char *lift, *addresses;
	const char *profile; /* file, or NULL */
	enum counts_form form;
	enum plan_mode mode;
	uint64_t seed;
	struct plan_omit omit;
	unsigned jobs;
	bool json, report, score, interval, replay_table, shapes, compare, branches, need_sandbox;
	struct unit_counting counting; /* of PLAN_COUNT */
	char **raw;                    /* files with raw counts to read, NULL at the end */
	struct compare_input compared[2];
	unsigned top; /* functions shown of a comparison */
};

/* The result of a job; lives as long as the job. */
struct result {
	struct editanswer answer; /* its scores, and figures of the profile: of cli/report.c */
	uint64_t weight;          /* of all functions */
	bool scored;
	struct score before, after;
	struct replay_result replay;
	struct branches_result branches;
	double compile_s;                          /* of job_replay */
	struct carried carried[SHAPE_RENAMED + 1]; /* of job_carry */
};

struct job {
	const struct options *o;
	const char *dir; /* to work in; of an edit */
	struct cache *cache;
	struct artifact *art;
	struct counts counts;  /* filled when there is a profile */
	struct funclist first; /* of o->order */
	struct plan plan;
	struct blockmap module; /* of o->module */
	struct built_code code; /* of it, or of the original */
	struct tally tally;     /* of job_read */
	struct result r;
	struct foreign foreign;       /* of job_report */
	struct annotation annotation; /* of job_annotate */
	struct lift_result lifted;    /* of job_lift */
	struct comparison comparison; /* of job_compare alone, which fills nothing else */
};

/* Each opens the artifact and runs its job. 0, or -1 and the error in e. Free the job in both
 * cases, after its result was printed. */
int job_edit(struct job *j, struct err *e);
int job_replay(struct job *j, struct err *e);
int job_branches(struct job *j, struct err *e);
int job_annotate(struct job *j, struct err *e);
int job_score(struct job *j, struct err *e);
int job_report(struct job *j, struct err *e);
/* Appends the profile that the files with raw counts give. */
int job_read(struct job *j, struct buf *profile, struct err *e);
/* Appends the artifact's shapes. */
int job_shapes(struct job *j, struct buf *shapes, struct err *e);
/* Appends the profile of another build as one of the artifact's. */
int job_carry(struct job *j, struct buf *profile, struct err *e);
int job_compare(struct job *j, struct err *e);
/* Writes the artifact of o->lift, which has none. */
int job_lift(struct job *j, struct err *e);
void job_free(struct job *j);

#endif
