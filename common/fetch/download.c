#include "common/fetch/download.h"
#include "common/callfilter.h"
#include "common/landlock.h"
#include "common/limit.h"
#include "common/publish.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CONNECT_S = 10, TIME_S = 300, NOBODY = 65534, DNS = 53 };
/* Sanitizers reserve terabytes. */
#ifdef __SANITIZE_ADDRESS__
static const rlim_t MEMORY = RLIM_INFINITY;
#else
static const rlim_t MEMORY = 1 << 30;
#endif
enum { EXIT_HAVE, EXIT_NONE, EXIT_WHY }; /* of the child */

/* ---- the child ---- */

/* What sockets, threads of a resolver and reading take. */
static const int ALLOWED[] = {SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(write),
    SCMP_SYS(writev), SCMP_SYS(close), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(stat),
    SCMP_SYS(lstat), SCMP_SYS(statx), SCMP_SYS(lseek), SCMP_SYS(ftruncate), SCMP_SYS(access),
    SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(readlink), SCMP_SYS(readlinkat),
    SCMP_SYS(getdents64), SCMP_SYS(getcwd), SCMP_SYS(mmap), SCMP_SYS(mprotect), SCMP_SYS(munmap),
    SCMP_SYS(mremap), SCMP_SYS(brk), SCMP_SYS(madvise), SCMP_SYS(futex), SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack), SCMP_SYS(poll),
    SCMP_SYS(ppoll), SCMP_SYS(select), SCMP_SYS(pselect6), SCMP_SYS(epoll_create1),
    SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(pipe2),
    SCMP_SYS(eventfd2), SCMP_SYS(socketpair), SCMP_SYS(connect), SCMP_SYS(bind),
    SCMP_SYS(getsockname), SCMP_SYS(getpeername), SCMP_SYS(getsockopt), SCMP_SYS(setsockopt),
    SCMP_SYS(sendto), SCMP_SYS(sendmsg), SCMP_SYS(sendmmsg), SCMP_SYS(recvfrom), SCMP_SYS(recvmsg),
    SCMP_SYS(recvmmsg), SCMP_SYS(shutdown), SCMP_SYS(fcntl), SCMP_SYS(dup), SCMP_SYS(getpid),
    SCMP_SYS(gettid), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid), SCMP_SYS(getegid),
    SCMP_SYS(uname), SCMP_SYS(sysinfo), SCMP_SYS(getrandom), SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres), SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep), SCMP_SYS(gettimeofday),
    SCMP_SYS(time), SCMP_SYS(alarm), SCMP_SYS(setitimer), SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity), SCMP_SYS(set_robust_list), SCMP_SYS(rseq),
    SCMP_SYS(restart_syscall), SCMP_SYS(exit), SCMP_SYS(exit_group)};

static int filter(struct err *e)
{
	struct callfilter f = callfilter_begin(SCMP_ACT_ERRNO(EPERM));

	callfilter_list(&f, SCMP_ACT_ALLOW, ALLOWED, sizeof ALLOWED / sizeof *ALLOWED);
	callfilter_rule(&f, SCMP_ACT_ALLOW, SCMP_SYS(openat),
	    CALLFILTER_IF(CALLFILTER_WITHOUT(2, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)));
	callfilter_rule(&f, SCMP_ACT_ALLOW, SCMP_SYS(open),
	    CALLFILTER_IF(CALLFILTER_WITHOUT(1, O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)));
	callfilter_rule(
	    &f, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), CALLFILTER_IF(SCMP_A1(SCMP_CMP_EQ, FIONREAD)));
	callfilter_rule(
	    &f, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), CALLFILTER_IF(SCMP_A1(SCMP_CMP_EQ, FIONBIO)));
	/* No raw and no netlink sockets but for asking which addresses there are. */
	callfilter_rule(&f, SCMP_ACT_ALLOW, SCMP_SYS(socket),
	    CALLFILTER_IF(SCMP_A1(SCMP_CMP_MASKED_EQ, 0xf, SOCK_STREAM)));
	callfilter_rule(&f, SCMP_ACT_ALLOW, SCMP_SYS(socket),
	    CALLFILTER_IF(SCMP_A1(SCMP_CMP_MASKED_EQ, 0xf, SOCK_DGRAM)));
	callfilter_rule(
	    &f, SCMP_ACT_ALLOW, SCMP_SYS(socket), CALLFILTER_IF(SCMP_A0(SCMP_CMP_EQ, AF_NETLINK)));
	/* Threads; without clone3() the C library takes this. */
	callfilter_rule(&f, SCMP_ACT_ALLOW, SCMP_SYS(clone),
	    CALLFILTER_IF(SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD)));
	callfilter_rule(&f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), NULL, 0);
	return callfilter_load(&f, e);
}

static int close_files(unsigned port, struct err *e)
{
	static const char *const read[] = {"/etc", "/usr", "/lib", "/lib64", "/run/resolvconf",
	    "/run/systemd/resolve", "/run/NetworkManager", "/mnt/wsl"};
	struct landlock l;
	size_t i;

	if (landlock_lacks())
		return 0;
	if (landlock_open(&l, e))
		return -1;
	for (i = 0; i < sizeof read / sizeof *read; i++)
		if (landlock_allow(&l, read[i], LANDLOCK_READ, e))
			return -1;
	if (landlock_allow_connect(&l, port, e) || landlock_allow_connect(&l, DNS, e))
		return -1;
	return landlock_enter(l.fd) ? err_sys(e, "landlock") : 0;
}

static int confine(unsigned port, size_t max, struct err *e)
{
	alarm(TIME_S + CONNECT_S);
	if (limit_lower(RLIMIT_CORE, 0) || limit_lower(RLIMIT_FSIZE, max) ||
	    limit_lower(RLIMIT_AS, MEMORY) || limit_lower(RLIMIT_CPU, TIME_S))
		return err_sys(e, "limits");
	if (!geteuid() && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			      setresuid(NOBODY, NOBODY, NOBODY)))
		return err_sys(e, "to be nobody");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_sys(e, "no_new_privs");
	return close_files(port, e) || filter(e) ? -1 : 0;
}

struct body {
	int fd;
	size_t left;
};

static size_t take(char *p, size_t size, size_t n, void *arg)
{
	struct body *b = arg;

	if (size * n > b->left || file_write_all(b->fd, p, size * n))
		return 0;
	b->left -= size * n;
	return size * n;
}

static CURL *prepare(const char *url, struct body *b, char why[CURL_ERROR_SIZE])
{
	CURL *c = curl_easy_init();

	if (!c)
		return NULL;
	curl_easy_setopt(c, CURLOPT_URL, url);
	curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	curl_easy_setopt(c, CURLOPT_PROXY, "");
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
	curl_easy_setopt(c, CURLOPT_TIMEOUT, (long)TIME_S);
	curl_easy_setopt(c, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)b->left);
	curl_easy_setopt(c, CURLOPT_USERAGENT, "morph/" MORPH_VERSION);
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, why);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, b);
	return c;
}

/* The exit status; why not goes into the file. */
static int fetch(const char *url, unsigned port, size_t max, int fd)
{
	struct body b = {fd, max};
	char why[CURL_ERROR_SIZE] = "";
	CURL *c = prepare(url, &b, why);
	long code = 0;
	CURLcode r;
	struct err e;

	if (!c || confine(port, max, &e)) {
		dprintf(fd, "%s", c ? e.text : "libcurl does not start");
		return EXIT_WHY;
	}
	r = curl_easy_perform(c);
	curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &code);
	if (!r && code == 200)
		return EXIT_HAVE;
	if (!r && (code == 404 || code == 410))
		return EXIT_NONE;
	if (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET))
		return EXIT_WHY;
	if (r)
		dprintf(fd, "%s", *why ? why : curl_easy_strerror(r));
	else
		dprintf(fd, "the server answers %ld", code);
	return EXIT_WHY;
}

/* ---- and who waits for it ---- */

/* The port that it will connect to; 0 = no URL of ours. */
static unsigned port_of(const char *url)
{
	CURLU *u = curl_url();
	unsigned port = 0;
	char *text;

	if (u && !curl_url_set(u, CURLUPART_URL, url, 0) &&
	    !curl_url_get(u, CURLUPART_PORT, &text, CURLU_DEFAULT_PORT)) {
		port = (unsigned)strtoul(text, NULL, 10);
		curl_free(text);
	}
	curl_url_cleanup(u);
	return port;
}

static int read_answer(
    const char *url, int fd, int status, size_t max, struct buf *out, struct err *e)
{
	char *path = xasprintf("/dev/fd/%d", fd), why[256] = "";
	int r = 1;

	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NONE)
		r = 0;
	else if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_HAVE) {
		if (WIFEXITED(status) && pread(fd, why, sizeof why - 1, 0) < 0)
			why[0] = '\0';
		r = err_set(e, "%s: %s", url, *why ? why : "not fetched in its bounds");
	} else if (file_read(path, max, out, e)) {
		r = -1;
	}
	free(path);
	return r;
}

int download(const char *url, size_t max, struct buf *out, struct err *e)
{
	unsigned port = port_of(url);
	int fd, status, r;
	pid_t child;

	if (!port)
		return err_set(e, "%s: not a URL", url);
	fd = memfd_create("download", MFD_CLOEXEC);
	if (fd < 0)
		return err_sys(e, "memfd_create");
	child = fork();
	if (child == 0)
		_exit(fetch(url, port, max, fd));
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	r = child < 0 ? err_sys(e, "fork") : read_answer(url, fd, status, max, out, e);
	close(fd);
	return r;
}
