/*
 * cov >= 410
 * Bytes from a client through libmicrohttpd, the routes and a real store. The
 * first byte says where the stream is cut into two writes. An answer begins
 * like HTTP and nothing is left behind that the next client would see. */
#include "common/log.h"
#include "common/publish.h"
#include "managerd/parent/sockets.h"
#include "tests/unit/fakemanager.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

static char dir[] = "/tmp/morph-fuzz-http-XXXXXX";
static struct sockaddr_un at = {.sun_family = AF_UNIX};
static struct manager manager;
static uv_loop_t loop;

static void clean_up(void)
{
	dir_remove(dir, NULL);
}

static void start(void)
{
	struct err e;
	int fd;

	log_init("fuzz", LOG_LVL_ERROR - 1);
	if (!mkdtemp(dir))
		abort();
	atexit(clean_up);
	snprintf(at.sun_path, sizeof at.sun_path, "%s/api.sock", dir);
	fake_start(&manager, dir, getuid(), getuid() + 1);
	uv_loop_init(&loop);
	fd = socket_listen(at.sun_path, 0600, (gid_t)-1, &e);
	if (fd < 0 || !api_open(&loop, &manager, fd, &e))
		abort();
}

static void turn(int times)
{
	while (times-- > 0)
		uv_run(&loop, UV_RUN_NOWAIT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char answer[16] = "";
	size_t cut;
	int fd;

	if (!at.sun_path[0])
		start();
	if (n == 0)
		return 0;
	cut = data[0] < n - 1 ? data[0] : n - 1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (connect(fd, (struct sockaddr *)&at, sizeof at) < 0)
		abort();
	if (send(fd, data + 1, cut, MSG_NOSIGNAL) < 0)
		abort();
	turn(2);
	if (send(fd, data + 1 + cut, n - 1 - cut, MSG_NOSIGNAL) >= 0)
		shutdown(fd, SHUT_WR);
	turn(4);
	if (recv(fd, answer, sizeof answer - 1, 0) > 0 && strncmp(answer, "HTTP/1.", 7) != 0)
		abort();
	close(fd);
	while (manager.nchange > 0) {
		fake_end_change(&manager, manager.nchange, CHANGE_DONE);
		manager.nchange--;
	}
	turn(4);
	return 0;
}
