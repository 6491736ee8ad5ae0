/*
 * What takes longer than a turn of the loop may: it is done in a thread of
 * libuv's pool, and its result applied on the loop.
 *
 * Thread rule: run() is called in another thread. It reads and writes nothing but
 * what arg owns and files of the manager's own that nobody else writes: no module, no
 * store, no log. Meanwhile nobody else touches arg. done() is called on the loop, always,
 * also while the manager stops, and owns arg again.
 */
#ifndef MORPH_MANAGERD_POOL_H
#define MORPH_MANAGERD_POOL_H

#include <uv.h>

typedef void pool_fn(void *arg);

/* Threads are made when the first work is there, so not before the manager has
 * confined itself. loop NULL: both are called at once. */
void pool_run(uv_loop_t *loop, pool_fn *run, pool_fn *done, void *arg);

#endif
