#include "managerd/os/pool.h"
#include "common/mem.h"

#include <stdlib.h>

struct item {
	uv_work_t work;
	pool_fn *run, *done;
	void *arg;
};

static void run_item(uv_work_t *w)
{
	struct item *x = w->data;

	x->run(x->arg);
}

static void item_done(uv_work_t *w, int status)
{
	struct item *x = w->data;

	x->done(x->arg);
	free(x);
}

void pool_run(uv_loop_t *loop, pool_fn *run, pool_fn *done, void *arg)
{
	struct item *x;

	if (!loop) {
		run(arg);
		done(arg);
		return;
	}
	x = xcalloc(1, sizeof *x);
	*x = (struct item){.run = run, .done = done, .arg = arg};
	x->work.data = x;
	uv_queue_work(loop, &x->work, run_item, item_done);
}
