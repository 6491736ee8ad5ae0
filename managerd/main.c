/*
 * morphd: the manager. See docs/man/morphd.8.
 */
#include "common/log.h"
#include "common/publish.h"
#include "managerd/api.h"
#include "managerd/conf.h"
#include "managerd/cycle.h"
#include "managerd/priv.h"

#include <errno.h>
#include <getopt.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

enum { EXIT_CANNOT = 1, EXIT_USAGE = 2 };

static const char help[] =
    "usage: morphd [--user] [-n] [-c POLICY] [--state DIR] [--socket DIR] [-v]\n"
    "\n"
    "Gathers what morph-monitor samples, and when the machine is idle lays programs\n"
    "out anew for the way they are used.\n"
    "\n"
    "      --user         for this user's own programs only\n"
    "  -n, --check        check and print the policy, and exit\n"
    "  -c, --config FILE  policy (default: /etc/morph/morph.yaml, with --user\n"
    "                     ~/.config/morph/morph.yaml, where it is there)\n"
    "      --state DIR    what the manager keeps (default: /var/lib/morph, with --user\n"
    "                     ~/.local/state/morph)\n"
    "      --socket DIR   its sockets (default: /run/morph, with --user\n"
    "                     $XDG_RUNTIME_DIR/morph or run in the state folder)\n"
    "  -v, --verbose      say more on standard error\n"
    "  -h, --help         -V, --version\n"
    "\n"
    "Exit status: 0 stopped by a signal or checked, 1 cannot, 2 usage.\n";

enum { O_USER = 256, O_STATE, O_SOCKET };

static const struct option options[] = {{"user", no_argument, NULL, O_USER},
    {"check", no_argument, NULL, 'n'}, {"config", required_argument, NULL, 'c'},
    {"state", required_argument, NULL, O_STATE}, {"socket", required_argument, NULL, O_SOCKET},
    {"verbose", no_argument, NULL, 'v'}, {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'}, {NULL, 0, NULL, 0}};

struct settings {
	bool user, check, verbose;
	char *policy, *state, *run, *editor; /* policy NULL = defaults */
};

static const char *env(const char *name)
{
	const char *v = getenv(name);

	return v && *v ? v : NULL;
}

static char *absolute(const char *path)
{
	char *cwd, *full;

	if (*path == '/')
		return xstrdup(path);
	cwd = getcwd(NULL, 0);
	if (!cwd)
		die(EXIT_CANNOT, "%s: the working directory is gone", path);
	full = xasprintf("%s/%s", cwd, path);
	free(cwd);
	return full;
}

/* A folder below the home directory, or below what the variable names. */
static char *home_folder(const char *variable, const char *below)
{
	const struct passwd *pw;
	const char *home;

	if (env(variable))
		return xasprintf("%s/morph", env(variable));
	home = env("HOME");
	pw = home ? NULL : getpwuid(geteuid());
	if (!home && !pw)
		die(EXIT_CANNOT, "HOME is not set, and uid %u has no home; name --state",
		    geteuid());
	return xasprintf("%s/%s/morph", home ? home : pw->pw_dir, below);
}

static char *default_policy(bool user)
{
	char *folder = user ? home_folder("XDG_CONFIG_HOME", ".config") : xstrdup("/etc/morph");
	char *path = xasprintf("%s/morph.yaml", folder);

	free(folder);
	if (access(path, F_OK) == 0)
		return path;
	free(path);
	return NULL;
}

static char *beside_us(const char *program)
{
	char *self = realpath("/proc/self/exe", NULL), *dir, *path;

	if (!self)
		die(EXIT_CANNOT, "/proc/self/exe: %s", strerror(errno));
	dir = path_dir(self);
	path = xasprintf("%s/%s", dir, program);
	free(dir);
	free(self);
	return path;
}

static void settle(struct settings *s, const char *policy, const char *state, const char *run)
{
	state = state ? state : env("MORPH_STATE");
	run = run ? run : env("MORPH_RUN");
	s->policy = policy ? absolute(policy) : default_policy(s->user);
	s->state = state     ? absolute(state)
		   : s->user ? home_folder("XDG_STATE_HOME", ".local/state")
			     : xstrdup("/var/lib/morph");
	s->run = run                                ? absolute(run)
		 : !s->user                         ? xstrdup("/run/morph")
		 : env("XDG_RUNTIME_DIR") && !state ? xasprintf("%s/morph", env("XDG_RUNTIME_DIR"))
						    : xasprintf("%s/run", s->state);
	s->editor = beside_us("morph-edit");
}

static void read_options(struct settings *s, int argc, char **argv)
{
	const char *policy = NULL, *state = NULL, *run = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "nc:vhV", options, NULL)) != -1) {
		switch (c) {
		case O_USER:
			s->user = true;
			break;
		case 'n':
			s->check = true;
			break;
		case 'c':
			policy = optarg;
			break;
		case O_STATE:
			state = optarg;
			break;
		case O_SOCKET:
			run = optarg;
			break;
		case 'v':
			s->verbose = true;
			break;
		case 'h':
			fputs(help, stdout);
			exit(0);
		case 'V':
			puts("morphd " MORPH_VERSION);
			exit(0);
		default:
			exit(EXIT_USAGE);
		}
	}
	if (optind < argc)
		die(EXIT_USAGE, "%s: morphd takes no arguments; see morphd --help", argv[optind]);
	settle(s, policy, state, run);
}

static struct priv *start_priv(const struct settings *s, const struct conf *c, struct err *e)
{
	char *const **verify = conf_verify_all(c);
	struct priv_options o = {.state = s->state,
	    .user = s->user,
	    .run = s->run,
	    .editor = s->editor,
	    .verify = (char *const *const *)verify};
	const struct passwd *pw;
	struct priv *p;

	if (!s->user) {
		pw = getpwnam("morph");
		if (!pw)
			die(EXIT_CANNOT,
			    "there is no user morph; make it with systemd-sysusers, or:"
			    " useradd --system --home-dir /var/lib/morph morph");
		o.uid = pw->pw_uid;
		o.gid = pw->pw_gid;
	}
	p = priv_start(&o, e);
	free(verify);
	return p;
}

static int64_t monitor_uid(bool user)
{
	const struct passwd *pw = user ? NULL : getpwnam("morph-monitor");

	return pw ? (int64_t)pw->pw_uid : -1;
}

static void check_who(const struct settings *s)
{
	if (s->user && geteuid() == 0)
		die(EXIT_USAGE,
		    "--user works for one user's programs, and this is root; run it as the"
		    " user who owns the programs, or without --user");
	if (!s->user && geteuid() != 0)
		die(EXIT_USAGE, "the system's manager is started by root; for your own programs:"
				" morphd --user");
}

struct daemon {
	uv_loop_t loop;
	uv_signal_t on_term, on_int;
	struct manager *manager;
	struct api *api;
};

static void stop(uv_signal_t *h, int sig)
{
	struct daemon *d = h->data;

	log_info("stopping: %s", strsignal(sig));
	uv_close((uv_handle_t *)&d->on_term, NULL);
	uv_close((uv_handle_t *)&d->on_int, NULL);
	api_close(d->api);
	manager_stop(d->manager);
}

static int serve(const struct settings *s, const struct manager_options *o)
{
	struct daemon d = {0};
	char *socket = xasprintf("%s/api.sock", s->run);
	struct err e;

	uv_loop_init(&d.loop);
	d.manager = manager_start(&d.loop, o, &e);
	if (!d.manager)
		die(EXIT_CANNOT, "%s", e.text);
	d.api = api_open(&d.loop, d.manager, socket, s->user ? 0600 : 0666, &e);
	if (!d.api)
		die(EXIT_CANNOT, "%s", e.text);
	uv_signal_init(&d.loop, &d.on_term);
	uv_signal_init(&d.loop, &d.on_int);
	d.on_term.data = d.on_int.data = &d;
	uv_signal_start(&d.on_term, stop, SIGTERM);
	uv_signal_start(&d.on_int, stop, SIGINT);
	log_info("%s manager, state in %s, sockets in %s", s->user ? "user's" : "system's",
	    s->state, s->run);
	uv_run(&d.loop, UV_RUN_DEFAULT);
	manager_free(d.manager);
	uv_loop_close(&d.loop);
	free(socket);
	return 0;
}

static int check(const struct conf *c)
{
	conf_print(c, stdout);
	return fflush(stdout) ? EXIT_CANNOT : 0;
}

static int manage(const struct settings *s, const struct conf *c)
{
	struct manager_options o = {.conf = c,
	    .state_dir = s->state,
	    .run_dir = s->run,
	    .user = s->user,
	    .monitor_uid = monitor_uid(s->user)};
	struct err e;
	int rc;

	check_who(s);
	signal(SIGPIPE, SIG_IGN);
	umask(022);
	o.priv = start_priv(s, c, &e);
	if (!o.priv || (s->user && dir_make(s->run, 0700, &e)))
		die(EXIT_CANNOT, "%s", e.text);
	prctl(PR_SET_DUMPABLE, 0); /* a core file could hold registers of samples */
	rc = serve(s, &o);
	priv_stop(o.priv);
	return rc;
}

int main(int argc, char **argv)
{
	struct settings s = {0};
	struct conf c;
	struct err e;
	int rc;

	log_init("morphd", LOG_LVL_INFO);
	read_options(&s, argc, argv);
	if (s.verbose)
		log_init("morphd", LOG_LVL_DEBUG);
	if (conf_read(s.policy, &c, &e))
		die(EXIT_CANNOT, "%s", e.text);
	rc = s.check ? check(&c) : manage(&s, &c);
	conf_free(&c);
	free(s.policy);
	free(s.state);
	free(s.run);
	free(s.editor);
	return rc;
}
