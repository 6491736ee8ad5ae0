#include "editor-driver/os/parallel.h"

#include <pthread.h>
#include <stdint.h>

enum { THREADS_MAX = 64 };

struct work {
	pthread_mutex_t lock;
	int (*fn)(void *, size_t, struct err *);
	void *arg;
	size_t next, n, failed; /* failed = SIZE_MAX: none */
	struct err *e;
};

static void *worker(void *arg)
{
	struct work *w = arg;
	struct err e = {{0}};
	size_t i;
	int rc;

	for (;;) {
		pthread_mutex_lock(&w->lock);
		i = w->failed == SIZE_MAX ? w->next++ : w->n;
		pthread_mutex_unlock(&w->lock);
		if (i >= w->n)
			return NULL;
		rc = w->fn(w->arg, i, &e);
		if (!rc)
			continue;
		pthread_mutex_lock(&w->lock);
		if (i < w->failed) {
			w->failed = i;
			if (w->e)
				*w->e = e;
		}
		pthread_mutex_unlock(&w->lock);
	}
}

int parallel_for(unsigned jobs, size_t n, int (*fn)(void *arg, size_t i, struct err *e), void *arg,
    struct err *e)
{
	struct work w = {PTHREAD_MUTEX_INITIALIZER, fn, arg, 0, n, SIZE_MAX, e};
	pthread_t thread[THREADS_MAX];
	size_t i, started = 0;

	while (started + 1 < jobs && started + 1 < n && started < THREADS_MAX) {
		if (pthread_create(&thread[started], NULL, worker, &w))
			break;
		started++;
	}
	worker(&w);
	for (i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	return w.failed == SIZE_MAX ? 0 : -1;
}
