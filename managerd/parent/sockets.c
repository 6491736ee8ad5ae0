#include "managerd/parent/sockets.h"
#include "common/publish.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 64, ANSWER_TRIES = 40, ANSWER_WAIT_US = 50000 };

/* The manager of a morphd that was just killed may answer until it has noticed. */
static bool somebody_answers(const struct sockaddr_un *a)
{
	bool answers = true;
	int i, fd;

	for (i = 0; answers && i < ANSWER_TRIES; i++) {
		if (i)
			usleep(ANSWER_WAIT_US);
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		answers =
		    connect(fd, (const struct sockaddr *)a, sizeof *a) == 0 || errno == EAGAIN;
		fd_close(&fd);
	}
	return answers;
}

int socket_listen(const char *path, mode_t mode, gid_t gid, struct err *e)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	mode_t mask;
	int fd, r;

	if (strlen(path) >= sizeof a.sun_path)
		return err_set(e, "%s: path of a socket with more than %zu bytes", path,
		    sizeof a.sun_path - 1);
	strcpy(a.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_sys(e, "socket");
	if (somebody_answers(&a)) {
		close(fd);
		return err_set(e, "%s: another manager answers there", path);
	}
	mask = umask(0177);
	r = unlink(path) && errno != ENOENT ? -1 : bind(fd, (struct sockaddr *)&a, sizeof a);
	umask(mask);
	if (!r && (chown(path, (uid_t)-1, gid) || chmod(path, mode) || listen(fd, BACKLOG)))
		r = -1;
	if (!r)
		return fd;
	err_sys(e, "%s", path);
	close(fd);
	return -1;
}
