/*
 * morph-web: what Morph knows and does, as a page for a browser. morphctl becomes it.
 *
 *	morph-web [--listen PATH] MANAGER
 *
 * MANAGER is the socket of the manager. Serves until Ctrl-C, or when nobody has asked for an hour.
 */
#include "common/log.h"
#include "common/places.h"
#include "common/publish.h"
#include "morphctl/web/serve.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <sodium.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BACKLOG = 64, IDLE_S = 3600, LOOK_S = 10 };

/* ---- sockets ---- */

/* A free port of 127.0.0.1. */
static int listen_port(unsigned *port, struct err *e)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && !bind(fd, (struct sockaddr *)&a, n) && !listen(fd, BACKLOG) &&
	    !getsockname(fd, (struct sockaddr *)&a, &n)) {
		*port = ntohs(a.sin_port);
		return fd;
	}
	err_sys(e, "127.0.0.1");
	fd_close(&fd);
	return -1;
}

/* Left there by one that was killed. */
static bool nobody_listens(const struct sockaddr_un *a)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool refused =
	    fd >= 0 && connect(fd, (const struct sockaddr *)a, sizeof *a) && errno == ECONNREFUSED;

	fd_close(&fd);
	return refused;
}

static int listen_path(const char *path, struct err *e)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	mode_t mask = umask(0177);
	int fd, r;

	if (strlen(path) >= sizeof a.sun_path)
		return err_set(e, "%s: path of a socket with more than %zu bytes", path,
		    sizeof a.sun_path - 1);
	strcpy(a.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	r = bind(fd, (struct sockaddr *)&a, sizeof a);
	if (r && errno == EADDRINUSE && nobody_listens(&a) && !unlink(path))
		r = bind(fd, (struct sockaddr *)&a, sizeof a);
	umask(mask);
	if (r == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	err_sys(e, "%s", path);
	fd_close(&fd);
	return -1;
}

/* ---- the person's browser ---- */

/* Runs on its own from here on. Its pid, or -1. */
static pid_t start_program(const char *name, const char *arg)
{
	char *argv[] = {(char *)name, (char *)arg, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t none, defaults;
	pid_t pid = -1;
	int fd;

	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_init(&how);
	posix_spawnattr_setflags(
	    &how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawnattr_setsigdefault(&how, &defaults);
	posix_spawn_file_actions_init(&files);
	for (fd = 0; fd <= 2; fd++)
		posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
	if (posix_spawnp(&pid, name, &files, &how, argv, environ))
		pid = -1;
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	return pid;
}

/*
 * Opens the link where there is a display. All users see the arguments of programs, so that the
 * browser is given a file of the person's own, which leads on. Returns its path, or NULL.
 */
static char *open_browser(const char *link, pid_t *opener)
{
	const char *run = env_value("XDG_RUNTIME_DIR");
	char *path, *text;

	if (!run || (!env_value("DISPLAY") && !env_value("WAYLAND_DISPLAY")))
		return NULL;
	path = xasprintf("%s/morph-web-%d.html", run, (int)getpid());
	text = xasprintf("<!doctype html><meta charset=\"utf-8\"><title>Morph</title>"
			 "<meta http-equiv=\"refresh\" content=\"0;url=%s\">\n",
	    link);
	unlink(path);
	if (file_write(path, O_EXCL, text, strlen(text), NULL) == 0)
		*opener = start_program("xdg-open", path);
	free(text);
	return path;
}

/* ---- serving ---- */

/* The end of what opens the browser is of no interest, but it has one. */
static void wait_for_end(const struct server *s, const sigset_t *ends, pid_t opener)
{
	const struct timespec look = {.tv_sec = LOOK_S};

	while (server_idle_s(s) < IDLE_S) {
		if (sigtimedwait(ends, NULL, &look) > 0)
			return;
		if (opener > 0 && waitpid(opener, NULL, WNOHANG))
			opener = -1;
	}
	log_info("nobody has asked for an hour");
}

static int serve_until_end(
    int fd, const struct web_files *files, struct session *session, const char *manager)
{
	struct server *s;
	sigset_t ends;
	char *page = NULL, *link;
	pid_t opener = -1;
	struct err e;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &ends, NULL);
	signal(SIGPIPE, SIG_IGN);
	s = server_start(fd, files, session, manager, &e);
	if (!s) {
		log_error("%s", e.text);
		return 1;
	}
	if (!session->open) {
		link = xasprintf("http://%s/?token=%s", session->host, session->token);
		printf("%s\n", link);
		fflush(stdout);
		page = open_browser(link, &opener);
		free(link);
	}
	wait_for_end(s, &ends, opener);
	server_stop(s);
	if (page)
		unlink(page);
	free(page);
	return 0;
}

static int run(const char *path, const char *manager)
{
	char *folder = places_own("../../share/morph/web");
	struct session session = {.open = path != NULL};
	struct web_files files;
	unsigned port = 0;
	struct err e;
	int fd, rc;

	if (!folder || files_load(&files, folder, &e)) {
		log_error("the page is not installed (make web)%s%s", folder ? ": " : "",
		    folder ? e.text : "");
		free(folder);
		return 1;
	}
	free(folder);
	fd = path ? listen_path(path, &e) : listen_port(&port, &e);
	if (fd < 0) {
		log_error("%s", e.text);
		files_free(&files);
		return 1;
	}
	if (!path)
		session_new(&session, port);
	rc = serve_until_end(fd, &files, &session, manager);
	if (path)
		unlink(path);
	files_free(&files);
	return rc;
}

int main(int argc, char **argv)
{
	static const struct option option[] = {{"listen", required_argument, NULL, 'l'}, {0}};
	const char *path = NULL;
	int c;

	log_init("morphctl", LOG_LVL_INFO);
	while ((c = getopt_long(argc, argv, "", option, NULL)) == 'l')
		path = optarg;
	if (c != -1 || argc - optind != 1) {
		fprintf(stderr, "usage: morph-web [--listen PATH] MANAGER\n");
		return 2;
	}
	if (sodium_init() < 0 || curl_global_init(CURL_GLOBAL_DEFAULT)) {
		log_error("libsodium or libcurl does not start");
		return 1;
	}
	return run(path, argv[optind]);
}
