/*
 * What the files of tasks share: task.c (rows, ends), find.c (a module and
 * what belongs to it), artifacts.c (those that we keep), fetch.c (from servers), job.c (the editor
 * and what it made),
 * service.c (a service's commands), swapping.c, notify.c (the operator's command), sweep.c (folders
 * of jobs).
 */
#ifndef MORPH_PARENT_TASK_PARTS_H
#define MORPH_PARENT_TASK_PARTS_H

#include "managerd/inspect/inspect.h"
#include "managerd/parent/task.h"

/* ---- task.c ---- */

/* A new one; NULL and why where there are too many. */
struct task *task_new(struct parent *p, enum task_kind kind, const char *path, struct err *e);
/* Does it run, or is it held for what may come of it? Else it goes with the next sweep. */
bool task_needed(const struct parent *p, const struct task *t);
/* Starts morph-inspect as the module's owner; then follows. On failure the task
 * ends. second: -1 = none. */
void task_inspect(struct parent *p, struct task *t, const char *operation, int file, int second,
    task_stage_fn *then);
/* Its answer, checked as far as the head goes; -1 and why when there is none, or it
 * refuses. */
int task_answer(struct task *t, struct inspect_head *h, struct err *e);
/* It goes to the manager at the task's end. */
void task_keep_answer(struct task *t);
/* Runs fn(arg, …) in a copy of this process. On failure the task ends. */
void task_work(struct parent *p, struct task *t, child_work_fn *fn, void *arg, task_stage_fn *then);
/* A minimal environment, with --user the person's own or, of an editor, little of
 * it; for strings_free(). */
char **task_env(const struct parent *p, const struct task *t, bool editor);
/* A word in braces, and what it becomes in an argument of a command of the policy. */
struct replacement {
	const char *word, *is;
};
/* argv of it; `of` ends with one without a word. For strings_free(). */
char **task_argv(char *const *command, const struct replacement *of);
/* Strings and their array, which ends with NULL. */
void strings_free(char **v);

/* The ends: an event for the manager. */
void task_inspected(struct parent *p, struct task *t, enum priv_inspect status, const char *why);
void task_ended(struct parent *p, struct task *t, bool later, const char *why);
void task_swapped(struct parent *p, struct task *t, enum swap_status status, const char *why);
/* Whichever fits the task. */
void task_failed(struct parent *p, struct task *t, const char *why);

/* ---- find.c: opens path, finds the artifact; then one of these ---- */

void task_find_begin(struct parent *p, struct task *t);
/* Whom processes of an opened module run as. */
int task_find_owner(const struct parent *p, struct task *t, struct err *e);

/* ---- artifacts.c: folders of ours, each by build-id; to free ---- */

/* STATE/artifacts: those that were fetched. */
char *artifacts_folder(const char *state);
/* STATE/lifted/UID: those that were lifted of programs of this user. Who has a program of a
 * build-id may not say what becomes of another user's that has the same. */
char *lifted_folder(const char *state, uid_t owner);
/* Has an artifact that came from elsewhere, and cannot be changed any more, inspected beside the
 * module, and published in the folder; that is the task's end. Takes fd over. */
void task_keep_artifact(struct parent *p, struct task *t, int fd);

/* ---- fetch.c, job.c, service.c, swapping.c, sweep.c ---- */

/* Bounds for whatever runs as a module's owner. */
struct launch task_launch(const struct parent *p, struct task *t);
uint64_t task_service(struct parent *p, const struct priv_job *j, struct err *e);

void task_fetch_start(struct parent *p, struct task *t);
void task_job_start(struct parent *p, struct task *t);
void task_rollback_start(struct parent *p, struct task *t);
/* Does its process change a module right now? */
bool task_is_swapping(const struct task *t);
/* As many as may run at once. */
void task_sweeps_begin(struct parent *p);
/* Folders of the owner's jobs that are being emptied, or wait for it. */
unsigned task_sweeps_of(const struct parent *p, uid_t owner);

#endif
