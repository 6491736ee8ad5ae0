/*
 * cov >= 300
 * Requests to the privileged parent: any bytes, several frames one after another (u16
 * length before each). It starts nothing but /bin/false, in a state folder of its own;
 * each frame has one answer that repeats its verb.
 */
#include "common/log.h"
#include "common/publish.h"
#include "managerd/parent/task.h"
#include "managerd/priv/verbs.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char state[] = "/tmp/morph-frames-XXXXXX";
static struct conf conf;
static int policy_text;

static void forget_state(void)
{
	dir_remove(state, NULL);
}

static void prepare(void)
{
	static const char *const folder[] = {"jobs", "builds", "manager"};
	size_t i;

	log_init("frames", LOG_LVL_ERROR);
	conf_defaults(&conf);
	policy_text = memfd_create("policy", MFD_CLOEXEC);
	if (!mkdtemp(state))
		abort();
	atexit(forget_state);
	for (i = 0; i < sizeof folder / sizeof *folder; i++) {
		char *path = xasprintf("%s/%s", state, folder[i]);

		dir_make(path, 0700, NULL);
		free(path);
	}
}

static void handle(struct parent *p, const uint8_t *bytes, size_t n)
{
	static struct frame f;
	struct buf reply = {0};
	uint32_t verb = 0;

	f.n = n;
	memcpy(f.bytes, bytes, n);
	if (n && bytes[0] == FRAME_JOB)
		for (f.nfd = 0; f.nfd < bytes[n - 1] % (FRAME_FDS + 1u); f.nfd++)
			f.fd[f.nfd] = open("/dev/null", O_RDWR | O_CLOEXEC);
	memcpy(&verb, bytes, n < sizeof verb ? 0 : sizeof verb);
	parent_handle(p, &f, &reply);
	if (reply.n < 12 || memcmp(reply.p, &verb, sizeof verb) || f.nfd)
		abort();
	buf_free(&reply);
}

/* All that was begun, to its end. */
static void finish(struct parent *p)
{
	size_t i;

	for (i = 0; i < p->task.n; i++)
		if (p->task.v[i]->child.pid) {
			poll(&(struct pollfd){.fd = p->task.v[i]->child.pidfd, .events = POLLIN}, 1,
			    -1);
			task_step(p, p->task.v[i]);
		}
	tasks_end(p);
	for (i = 0; i < p->queue.n; i++) {
		buf_free(&p->queue.v[i].frame);
		if (p->queue.v[i].fd >= 0)
			close(p->queue.v[i].fd);
	}
	vec_free(&p->queue);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct parent parent = {.state = state,
	    .user = true,
	    .conf = &conf,
	    .policy = {.path = "/no/such/policy", .text = policy_text},
	    .inspect_s = 30,
	    .for_root = {false, getuid(), getgid()},
	    .editor = "/bin/false",
	    .inspector = "/bin/false",
	    .verbs = -1,
	    .events = 0};
	size_t take;

	if (!conf.keep_builds)
		prepare();
	while (n >= 2) {
		take = (size_t)(p[0] | p[1] << 8);
		p += 2;
		n -= 2;
		take = take < n ? take : n;
		if (take <= FRAME_MAX)
			handle(&parent, p, take);
		tasks_sweep(&parent);
		p += take;
		n -= take;
	}
	finish(&parent);
	return 0;
}
