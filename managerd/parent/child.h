/*
 * A process that the parent started for a task: a program, or a copy of the
 * parent that does what takes long (copying, hashing, swapping). What it has to say
 * goes into a memfd of ours, its answer, which is read only after it has ended.
 */
#ifndef MORPH_PARENT_CHILD_H
#define MORPH_PARENT_CHILD_H

#include "managerd/parent/swap/content.h"
#include "managerd/parent/launch.h"

struct child {
	pid_t pid;        /* 0 = none */
	int pidfd;        /* readable when it has ended */
	int report;       /* of a program: a pipe that says why it did not begin; -1 = none */
	int answer;       /* memfd, -1 = none; of the owner of the struct when it has ended */
	int64_t until_ms; /* CLOCK_MONOTONIC: killed then; 0 = no bound */
	uint64_t cpu_us;  /* of the last one that ended, and of those that it waited for */
};

/* What a copy says at its end. */
struct worked {
	uint32_t done; /* 0: it died before */
	int32_t status;
	uint64_t size;
	struct content content;
	struct err why;
};
typedef void child_work_fn(void *arg, struct worked *w);

int64_t child_now_ms(void);
/* wait_s 0 = no bound. answer: descriptor of the program that its answer is, 0 = none. */
int child_run(struct child *c, struct launch *l, unsigned answer, unsigned wait_s, struct err *e);
int child_work(struct child *c, child_work_fn *fn, void *arg, unsigned wait_s, struct err *e);
/* To the whole process group; nothing where there is none. */
void child_signal(const struct child *c, int sig);
/* Kills what is left of its group, reaps it, closes everything except the answer. Returns the
 * status as of waitpid(2), or -1 and why its program was not even begun. Call when it has
 * ended, or after SIGKILL. */
int child_reap(struct child *c, struct err *e);
/* Forgets a process that does not end. */
void child_leave(struct child *c);
/* 1 when it is stopped by a signal that we did not send, 0 otherwise. */
int child_stopped(const struct child *c);
/* Reads the answer of a copy and closes it. */
void child_worked(struct child *c, struct worked *w);
/* Closes the answer. */
void child_forget(struct child *c);

#endif
