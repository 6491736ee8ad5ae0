/*
 * morphd: the privileged parent of the manager. See docs/man/morphd.8.
 */
#include "common/log.h"
#include "common/places.h"
#include "common/publish.h"
#include "managerd/inspect/inspect.h"
#include "managerd/parent/start.h"

#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_CANNOT = 1, EXIT_USAGE = 2 };

static const char help[] =
    "usage: morphd [--user] [-n | --restore] [-c POLICY] [--state DIR] [--socket DIR] [-v]\n"
    "\n"
    "Gathers what morph-monitor samples, and when the machine is idle changes the\n"
    "layout of programs for the way they are used.\n"
    "\n"
    "      --user         for this user's own programs only\n"
    "  -n, --check        check and print the policy, and exit\n"
    "      --restore      put the original of every program back, and exit\n"
    "  -c, --config FILE  policy (default: /etc/morph/morph.yaml, with --user\n"
    "                     ~/.config/morph/morph.yaml, where it is there)\n"
    "      --state DIR    what the manager keeps (default: /var/lib/morph, with --user\n"
    "                     ~/.local/state/morph)\n"
    "      --socket DIR   its sockets (default: /run/morph, with --user\n"
    "                     $XDG_RUNTIME_DIR/morph or run in the state folder)\n"
    "  -v, --verbose      say more on standard error\n"
    "  -h, --help         -V, --version\n"
    "\n"
    "Exit status: 0 stopped by a signal, checked or restored, 1 cannot, 2 usage.\n";

enum { O_USER = 256, O_RESTORE, O_STATE, O_SOCKET };

static const struct option options[] = {{"user", no_argument, NULL, O_USER},
    {"check", no_argument, NULL, 'n'}, {"restore", no_argument, NULL, O_RESTORE},
    {"config", required_argument, NULL, 'c'}, {"state", required_argument, NULL, O_STATE},
    {"socket", required_argument, NULL, O_SOCKET}, {"verbose", no_argument, NULL, 'v'},
    {"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'}, {NULL, 0, NULL, 0}};

struct settings {
	bool user, check, restore, verbose, policy_given;
	char *policy, *state, *run;
	char *editor, *inspector, *manager;
};

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

static char *user_folder(enum user_place d)
{
	const struct passwd *pw = env_value("HOME") ? NULL : getpwuid(geteuid());
	char *folder;

	if (pw)
		setenv("HOME", pw->pw_dir, 1);
	folder = places_user(d);
	if (!folder)
		die(EXIT_CANNOT,
		    "neither the XDG folders nor HOME are absolute paths; name --state");
	return folder;
}

static char *default_policy(bool user)
{
	char *folder = user ? user_folder(PLACE_CONFIG) : xstrdup("/etc/morph");
	char *path = xasprintf("%s/morph.yaml", folder);

	free(folder);
	return path;
}

/* A program of ours, by its place relative to this one's folder. */
static char *ours(const char *program)
{
	char *path = places_own(program);

	if (!path)
		die(EXIT_CANNOT, "%s, from the folder of morphd: %s; it is not installed whole",
		    program, strerror(errno));
	return path;
}

static void settle(struct settings *s, const char *policy, const char *state, const char *run)
{
	state = state ? state : env_value("MORPH_STATE");
	run = run ? run : env_value("MORPH_RUN");
	s->policy_given = policy;
	s->policy = policy ? absolute(policy) : default_policy(s->user);
	s->state = state     ? absolute(state)
		   : s->user ? user_folder(PLACE_STATE)
			     : xstrdup("/var/lib/morph");
	s->run = run        ? absolute(run)
		 : !s->user ? xstrdup("/run/morph")
		 : !state   ? places_run()
			    : xasprintf("%s/run", s->state);
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
		case O_RESTORE:
			s->restore = true;
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
	if (s->check && s->restore)
		die(EXIT_USAGE, "--check and --restore are two things to do");
	settle(s, policy, state, run);
}

static const struct passwd *our_user(const char *name, const char *home)
{
	struct err e;
	const struct passwd *pw = policy_user(name, home, &e);

	if (!pw)
		die(EXIT_CANNOT, "%s", e.text);
	return pw;
}

/* One user for each domain: the manager, jobs of root's modules, the monitor. */
static void find_users(struct start *s, struct parent *p)
{
	const struct passwd *pw = our_user("morph", "/var/lib/morph");

	s->uid = pw->pw_uid;
	s->gid = pw->pw_gid;
	pw = our_user("morph-edit", "/nonexistent");
	p->for_root = (struct folder_user){true, pw->pw_uid, pw->pw_gid};
	if (pw->pw_uid == s->uid)
		die(EXIT_CANNOT, "the users morph and morph-edit must not be the same");
	pw = getpwnam("morph-monitor");
	s->monitor_gid = pw ? pw->pw_gid : 0;
	p->service[0] = s->uid;
	p->for_notice = (struct folder_user){true, s->uid, s->gid};
	p->service[1] = pw ? pw->pw_uid : s->uid;
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

static int check(const struct conf *c)
{
	conf_print(c, stdout);
	return fflush(stdout) ? EXIT_CANNOT : 0;
}

/* Whatever is wrong with the policy. */
static int restore(const struct settings *s)
{
	struct err e;

	check_who(s);
	umask(022);
	if (start_restore(s->state, &e) < 0)
		die(EXIT_CANNOT, "%s", e.text);
	return 0;
}

static void remove_sockets(const char *run)
{
	static const char *const name[] = {"api.sock", "monitor.sock"};
	size_t i;

	for (i = 0; i < sizeof name / sizeof *name; i++) {
		char *path = xasprintf("%s/%s", run, name[i]);

		unlink(path);
		free(path);
	}
}

static int manage(struct settings *o, const struct policy *policy, struct conf *c)
{
	struct parent p = {.user = o->user,
	    .conf = c,
	    .policy = *policy,
	    .verbs = -1,
	    .events = -1,
	    .inspect_s = INSPECT_CPU_S + 10};
	struct start s = {.user = o->user, .verbose = o->verbose, .state = o->state, .run = o->run};
	struct err e;
	pid_t manager;
	int lock, status;

	check_who(o);
	signal(SIGPIPE, SIG_IGN);
	umask(022);
	if (!o->user)
		find_users(&s, &p);
	p.for_root.uid = o->user ? geteuid() : p.for_root.uid;
	p.editor = o->editor = ours("morph-edit");
	p.inspector = o->inspector = ours("../libexec/morph/morph-inspect");
	s.manager = o->manager = ours("../libexec/morph/morph-manager");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_DUMPABLE, 0);
	cgroups_open(&p.groups);
	if (policy_needs(&p, c, &e) || start_state(&p, &s, &lock, &e) < 0)
		die(EXIT_CANNOT, "%s", e.text);
	manager = start_manager(&p, &s, &e);
	if (manager < 0)
		die(EXIT_CANNOT, "%s", e.text);
	status = parent_serve(&p, manager);
	remove_sockets(o->run);
	vec_free(&p.recovered);
	vec_free(&p.queue);
	free(p.state);
	free(p.fetcher);
	close(lock);
	return status;
}

int main(int argc, char **argv)
{
	struct settings s = {0};
	struct policy policy = {.text = -1};
	struct buf text = {0};
	struct conf c;
	struct err e;
	int rc;

	log_init("morphd", LOG_LVL_INFO);
	read_options(&s, argc, argv);
	if (s.verbose)
		log_init("morphd", LOG_LVL_DEBUG);
	if (s.restore)
		return restore(&s);
	policy.path = s.policy;
	policy.given = s.policy_given;
	if (conf_read(policy_path(&policy), &text, &c, &e) ||
	    policy_publish(&policy, text.p, text.n, &e))
		die(EXIT_CANNOT, "%s", e.text);
	rc = s.check ? check(&c) : manage(&s, &policy, &c);
	close(policy.text);
	conf_free(&c);
	buf_free(&text);
	free(s.policy);
	free(s.state);
	free(s.run);
	free(s.editor);
	free(s.inspector);
	free(s.manager);
	return rc;
}
