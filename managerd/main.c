/*
 * morph-manager: the manager, started by morphd, its privileged parent
 * (managerd/priv/priv.h), with all it needs open. It opens nothing but what lies in
 * its own folder, and what the kernel says of the machine.
 */
#include "common/log.h"
#include "common/publish.h"
#include "managerd/api/api.h"
#include "managerd/conf/conf.h"
#include "managerd/os/confine.h"
#include "managerd/cycle/cycle.h"
#include "managerd/priv/priv.h"

#include <fcntl.h>
#include <getopt.h>
#include <malloc.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

enum { EXIT_CANNOT = 1, EXIT_USAGE = 2 };
enum { O_USER = 256, O_POLICY, O_STATE, O_HOME, O_RUN };

static const struct option options[] = {{"user", no_argument, NULL, O_USER},
    {"verbose", no_argument, NULL, 'v'}, {"policy", required_argument, NULL, O_POLICY},
    {"state", required_argument, NULL, O_STATE}, {"home", required_argument, NULL, O_HOME},
    {"run", required_argument, NULL, O_RUN}, {NULL, 0, NULL, 0}};

struct settings {
	bool user, verbose;
	const char *policy, *state, *home, *run; /* policy: its name, for messages */
};

static _Noreturn void not_for_people(void)
{
	die(EXIT_USAGE, "only morphd starts this program; see morphd --help");
}

static void read_options(struct settings *s, int argc, char **argv)
{
	const char **named[] = {&s->policy, &s->state, &s->home, &s->run}; /* from O_POLICY on */
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "v", options, NULL)) != -1) {
		switch (c) {
		case O_USER:
			s->user = true;
			break;
		case 'v':
			s->verbose = true;
			break;
		case O_POLICY:
		case O_STATE:
		case O_HOME:
		case O_RUN:
			*named[c - O_POLICY] = *optarg ? optarg : NULL;
			break;
		default:
			not_for_people();
		}
	}
	if (optind < argc || !s->state || !s->home || !s->run ||
	    fcntl(PRIV_FD_MONITOR, F_GETFD) < 0)
		not_for_people();
}

/* None of root's, or of the user's, counts here. */
static void clear_environment(const char *home)
{
	const char *journal = getenv("JOURNAL_STREAM");
	char *keep = journal ? xstrdup(journal) : NULL;

	clearenv();
	setenv("HOME", home, 1);
	setenv("PATH", "/usr/bin:/bin", 1);
	setenv("TMPDIR", home, 1);
	setenv("SQLITE_TMPDIR", home, 1);
	setenv("UV_THREADPOOL_SIZE", "1", 1); /* one after another: less memory, and in order */
	if (keep)
		setenv("JOURNAL_STREAM", keep, 1);
	free(keep);
}

static int64_t monitor_uid(bool user)
{
	const struct passwd *pw = user ? NULL : getpwnam("morph-monitor");

	return pw ? (int64_t)pw->pw_uid : -1;
}

struct daemon {
	uv_loop_t loop;
	uv_signal_t on_term, on_int, on_hup;
	struct manager *manager;
	struct api *api;
};

static void stop(uv_signal_t *h, int sig)
{
	struct daemon *d = h->data;

	log_info("stopping: %s", strsignal(sig));
	uv_close((uv_handle_t *)&d->on_term, NULL);
	uv_close((uv_handle_t *)&d->on_int, NULL);
	uv_close((uv_handle_t *)&d->on_hup, NULL);
	api_close(d->api);
	manager_stop(d->manager);
}

static void reload(uv_signal_t *h, int sig)
{
	struct daemon *d = h->data;
	struct err e;

	/* It is logged. */
	(void)manager_reload(d->manager, &e);
}

static void serve(const struct settings *s, const struct manager_options *o)
{
	struct daemon d = {0};
	struct err e;

	uv_loop_init(&d.loop);
	uv_loop_configure(&d.loop, UV_METRICS_IDLE_TIME);
	d.manager = manager_start(&d.loop, o, &e);
	if (!d.manager)
		die(EXIT_CANNOT, "%s", e.text);
	d.api = api_open(&d.loop, d.manager, PRIV_FD_API, &e);
	if (!d.api)
		die(EXIT_CANNOT, "%s", e.text);
	uv_signal_init(&d.loop, &d.on_term);
	uv_signal_init(&d.loop, &d.on_int);
	uv_signal_init(&d.loop, &d.on_hup);
	d.on_term.data = d.on_int.data = d.on_hup.data = &d;
	uv_signal_start(&d.on_term, stop, SIGTERM);
	uv_signal_start(&d.on_int, stop, SIGINT);
	uv_signal_start(&d.on_hup, reload, SIGHUP);
	if (confine(s->home, &e))
		log_warn("%s", e.text);
	log_info("%s manager, state in %s, sockets in %s", s->user ? "user's" : "system's",
	    s->state, s->run);
	uv_run(&d.loop, UV_RUN_DEFAULT);
	manager_free(d.manager);
	uv_loop_close(&d.loop);
}

int main(int argc, char **argv)
{
	struct settings s = {0};
	struct manager_options o;
	struct conf c;
	struct err e;

	log_init("morphd", LOG_LVL_INFO);
	read_options(&s, argc, argv);
	if (s.verbose)
		log_init("morphd", LOG_LVL_DEBUG);
	signal(SIGPIPE, SIG_IGN);
	/* What is large and goes is to be gone, however large it was the last time. */
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	mallopt(M_ARENA_MAX, 1); /* the pool's threads share what is free */
	umask(077);
	prctl(PR_SET_DUMPABLE, 0); /* a core file could hold registers of samples */
	clear_environment(s.home);
	if (conf_read_fd(PRIV_FD_POLICY, s.policy, &c, &e))
		die(EXIT_CANNOT, "%s", e.text);
	o = (struct manager_options){.conf = &c,
	    .priv = priv_connect(PRIV_FD_VERBS, PRIV_FD_EVENTS),
	    .state_dir = s.state,
	    .home = s.home,
	    .monitors = PRIV_FD_MONITOR,
	    .user = s.user,
	    .monitor_uid = monitor_uid(s.user)};
	serve(&s, &o);
	priv_close(o.priv);
	conf_free(&c);
	return 0;
}
