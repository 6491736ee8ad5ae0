/*
 * The privileged parent, by what a manager may ask of it: this process is the
 * manager, a child serves, in user mode and (as root) in system mode, where jobs run
 * as the module's owner. The editor is a script that does what the artifact
 * says; the inspector is this program, which knows tinyelf.h, artifacts of the form
 * "MORPH", a byte (of the original's build-id), and that word, and lists, but "bad".
 */
#include "common/log.h"
#include "managerd/inspect/inspect.h"
#include "managerd/parent/start.h"
#include "managerd/parent/swap/builds.h"
#include "managerd/parent/swap/swap.h"
#include "managerd/priv/priv.h"
#include "managerd/priv/verbs.h"
#include "tests/unit/tinyelf.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sched.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

enum { OLD = 11, NEW = 22, OTHER = 33, OWNER = 1, NOBODY = 65534, SIZE = 5000 };

static const char script[] =
    "#!/bin/sh\n"
    "out= samples= original= cache= lift= at=\n"
    "while [ $# -gt 0 ]; do case $1 in --artifact) art=$2;; --lift) lift=$2;; -o) out=$2;; "
    "--samples) samples=$2;;\n"
    "	--addresses) at=\" at $(cat $2)\";; --original) original=$2;; --cache) cache=$2;; --order) "
    "echo order $(cat $2);; esac; shift; "
    "done\n"
    "if [ \"$lift\" ]; then\n"
    "	[ ! -e ${0%/*}/packed ] || { echo it is packed >&2; exit 1; }\n"
    "	[ ! -e ${0%/*}/other ] || { printf 'MORPH!other' >$out; exit; }\n"
    "	{ printf MORPH; tail -c 1 $lift; printf \"by $(id -u) groups $(id -G)$at\"; } >$out; exit\n"
    "fi\n"
    "what=$(tail -c +7 $art)\n"
    "echo \"uid $(id -u) groups $(id -G) samples $(cat ${samples:-/dev/null})\"\n"
    "[ -z \"$original\" ] || cmp -s $original ${0%/*}/old && echo original\n"
    /* As the real one, where it makes a file. */
    "[ -z \"$out\" ] || { c=${cache:-$HOME/.cache}; mkdir -p $c; echo $what >>$c/x; }\n"
    "echo environment $(env | sed 's/=.*//' | grep -vx 'PWD\\|OLDPWD\\|SHLVL\\|_' | sort)\n"
    "case $what in\n"
    "fail) exit 3;;\n"
    "none) exit 0;;\n"
    "link) ln -s /etc/passwd $out; exit 0;;\n"
    "fifo) mkfifo $out; exit 0;;\n"
    "sleep) exec sleep 61;;\n"
    "left) setsid sleep 64 >/dev/null 2>&1 & exec sleep 61;;\n"
    "full) for i in 1 2 3 4 5 6 7 8; do head -c 300000 /dev/zero >$out.$i; done; exec sleep 61;;\n"
    "many) for i in 1 2 3; do (exec setsid sleep 63 >/dev/null 2>&1 &); done;;\n"
    "esac\n"
    "[ -z \"$out\" ] || cp ${0%/*}/build $out\n";

static char dir[] = "/tmp/morph-parent-XXXXXX";
static const char *self; /* as it was called */
static char *state, *run, *folder, *module, *artifact, *editor, *inspector;
static bool sys; /* system mode */
static pid_t server;
static int verbs = -1, alive[2];
static struct priv *priv;

/* ---- the inspector ---- */

static int inspect_id(int fd, struct inspect_head *h)
{
	uint8_t id[TINY_ID], tail[4];
	struct stat st;
	char magic[4];

	if (fstat(fd, &st) || pread(fd, magic, 4, 0) != 4 || memcmp(magic, "\177ELF", 4) ||
	    pread(fd, id, sizeof id, 192) != sizeof id || pread(fd, tail, 4, st.st_size - 4) != 4)
		return -1;
	h->id.n = h->origin.n = TINY_ID;
	memcpy(h->id.b, id, TINY_ID);
	memset(h->origin.b, memcmp(tail, "ORG", 3) ? id[0] : tail[3], TINY_ID);
	return 0;
}

static int inspect_artifact(struct inspect_head *h)
{
	char text[64] = "";

	if (pread(INSPECT_FILE, text, sizeof text - 1, 0) < 6 || memcmp(text, "MORPH", 5))
		return -1;
	if (inspect_id(INSPECT_SECOND, h) || h->origin.b[0] != (uint8_t)text[5])
		return -1;
	h->artifact = h->origin;
	if (!strcmp(text + 6, "hang"))
		sleep(100);
	if (!strcmp(text + 6, "crash"))
		abort();
	if (!strcmp(text + 6, "bounds"))
		h->table_n = 1000;
	if (!strcmp(text + 6, "hold")) { /* as somebody who traces it could */
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, INSPECT_ANSWER, 0);
		if (!fork()) {
			setsid();
			sleep(5);
			_exit(0);
		}
	}
	return 0;
}

static int inspect_list(struct inspect_head *h)
{
	char text[64] = "";

	if (pread(INSPECT_FILE, text, sizeof text - 1, 0) < 1 || !strcmp(text, "bad"))
		return -1;
	h->list = (uint64_t)*text;
	return 0;
}

static int inspect(const char *operation)
{
	static const char blobs[] = "TABLEMAP";
	struct inspect_head h = {
	    .table_at = sizeof h, .table_n = 5, .map_at = sizeof h + 5, .map_n = 3};
	bool art = !strcmp(operation, INSPECT_ARTIFACT) || !strcmp(operation, INSPECT_PAIR);
	bool list = !strcmp(operation, INSPECT_LIST);
	int file = strcmp(operation, INSPECT_OUTPUT) != 0 ? INSPECT_FILE : INSPECT_SECOND;

	memcpy(h.magic, INSPECT_MAGIC, sizeof h.magic);
	/* What it is given cannot be written. */
	if (pwrite(file, "x", 1, 0) >= 0)
		return 1;
	if (!strcmp(operation, INSPECT_TABLE))
		h.id = tiny_id(1);
	else if (art    ? inspect_artifact(&h)
		 : list ? inspect_list(&h)
			: inspect_id(
			      !strcmp(operation, INSPECT_OUTPUT) ? INSPECT_SECOND : INSPECT_FILE,
			      &h)) {
		h.refused = 1;
		snprintf(h.text, sizeof h.text, "not what it should be");
	}
	return pwrite(INSPECT_ANSWER, blobs, 8, sizeof h) != 8 ||
	       pwrite(INSPECT_ANSWER, &h, sizeof h, 0) != sizeof h;
}

/* ---- the world ---- */

static void put(const char *path, const char *text, size_t n, mode_t mode)
{
	ck_assert_int_eq(publish_bytes(path, text, n, mode, NULL), 0);
	if (sys)
		ck_assert_int_eq(chown(path, OWNER, OWNER), 0);
}

static void put_artifact(int build, const char *what)
{
	char *text = xasprintf("MORPH%c%s", build, what);

	put(artifact, text, strlen(text), 0644);
	free(text);
}

static void put_build(const char *path, int build, int origin)
{
	char tail[4] = {'O', 'R', 'G', (char)origin};
	struct buf b = {0};

	tiny_bytes(&b, (uint8_t)build, false, SIZE);
	buf_add(&b, tail, sizeof tail);
	put(path, b.p, b.n, 0755);
	buf_free(&b);
}

static char *in_dir(const char *name)
{
	return xasprintf("%s/%s", dir, name);
}

static void copy_self(const char *to)
{
	struct buf b = {0};

	ck_assert_int_eq(file_read("/proc/self/exe", 0, &b, NULL), 0);
	ck_assert_int_eq(publish_bytes(to, b.p, b.n, 0755, NULL), 0);
	buf_free(&b);
}

static void world(bool system)
{
	char *path;

	sys = system;
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chmod(dir, 0755), 0);
	state = in_dir("state");
	run = in_dir("run");
	folder = in_dir("bin");
	module = in_dir("bin/prog");
	artifact = in_dir("bin/prog.morph");
	editor = in_dir("editor");
	inspector = in_dir("inspector");
	ck_assert_int_eq(mkdir(folder, 0755), 0);
	if (sys)
		ck_assert_int_eq(chown(folder, OWNER, OWNER), 0);
	put_build(module, OLD, OLD);
	put_artifact(OLD, "good");
	path = in_dir("old");
	put_build(path, OLD, OLD);
	free(path);
	path = in_dir("build");
	put_build(path, NEW, OLD);
	free(path);
	ck_assert_int_eq(publish_bytes(editor, script, sizeof script - 1, 0755, NULL), 0);
	copy_self(inspector);
}

static void mark(const char *name, bool there)
{
	char *path = in_dir(name);

	if (there)
		ck_assert_int_eq(publish_bytes(path, "", 0, 0644, NULL), 0);
	else
		unlink(path);
	free(path);
}

/* A manager that is there as long as the test is. */
static pid_t start_other(int v, int e)
{
	pid_t pid;
	char c;

	signal(SIGTERM, SIG_DFL); /* before it is there: check's would end the test as well */
	pid = fork();
	if (pid)
		return pid;
	close(v);
	close(e);
	_exit(read(alive[0], &c, 1) != 0);
}

/* What the next server differs in. */
static struct {
	unsigned inspect_s;
	const char *groups; /* a folder for control groups, which is none */
	const char *server; /* of artifacts, by what the fetcher does */
	const char *policy; /* its file, of which the server hears when it reads it again */
	int legacy;
} with = {.inspect_s = 30, .legacy = LEGACY_OBSERVE};

/* As in the service. */
static void drop_trace(void)
{
	cap_value_t trace = CAP_SYS_PTRACE;
	cap_t caps = cap_get_proc();

	if (cap_set_flag(caps, CAP_EFFECTIVE, 1, &trace, CAP_CLEAR) ||
	    cap_set_flag(caps, CAP_PERMITTED, 1, &trace, CAP_CLEAR) || cap_set_proc(caps))
		_exit(1);
	cap_free(caps);
}

static _Noreturn void serve(int v, int e, bool verify, const char *fault)
{
	char *refuse = in_dir("refuse"), *stray = in_dir("stray"), *by_id = in_dir("by-id");
	char *wait = in_dir("wait"), *home = in_dir("home");
	char *command =
	    xasprintf("[ ! -e %s ] || exit 1; [ ! -e %s ] || setsid -f sleep 62 >/dev/null 2>&1;"
		      " [ ! -e %s ] || sleep 65; cmp {new} {old}; [ $? = 1 ]",
		refuse, stray, wait);
	char *argv[] = {"sh", "-c", command, NULL};
	/* Most of its time is its child's. */
	char *benchmark[] = {"sh", "-c",
	    "case $0 in */out) n=300000;; *) n=1;; esac\n"
	    "sh -c 'while [ $0 -gt \"${i:=0}\" ]; do i=$((i + 1)); done' $n\n"
	    "echo ${0##*/}; [ ! -e $1 ]",
	    "{build}", refuse, NULL};
	char *counter[] = {"sh", "-c",
	    "[ ! -e $1 ] || { setsid -f sleep 62; exec sleep 64; }\necho \"$0 $(id -u)\"",
	    "{module}", wait, NULL};
	char *told = in_dir("told");
	char *notify[] = {"sh", "-c",
	    "[ ! -e $1 ] || sleep 63\n"
	    "shift; { id -u; for a; do echo \"[$a]\"; done; echo .; } >>$0",
	    told, wait, "{module}", "{event}: {text}", "-{text}-{module}", NULL};
	struct parent p = {.user = !sys,
	    .verbs = v,
	    .events = e,
	    .editor = editor,
	    .inspector = inspector,
	    .for_root = {sys, sys ? NOBODY : geteuid(), sys ? NOBODY : getegid()},
	    .service = {NOBODY - 1, NOBODY - 2},
	    .policy = {.path = with.policy ? with.policy : "/no/such/policy", .text = -1},
	    .inspect_s = with.inspect_s};
	struct start s = {.user = !sys, .state = state, .run = run, .uid = NOBODY, .gid = NOBODY};
	struct conf c;
	struct err err = {""};
	int lock;

	log_init("parent", LOG_LVL_ERROR);
	drop_trace();
	if (with.groups)
		p.groups.dir = open(with.groups, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (fault)
		setenv("MORPH_FAULT", fault, 1);
	setenv("MORPH_ARTIFACTS", by_id, 1);
	setenv("HOME", home, 1);
	conf_defaults(&c);
	c.edit.disk = 1 << 20;
	c.legacy = with.legacy;
	if (verify)
		c.verify = argv;
	c.measure.command = verify ? benchmark : NULL;
	c.measure.counter = c.measure.restart = verify ? counter : NULL;
	c.notify = verify ? notify : NULL;
	p.for_notice = (struct folder_user){sys, NOBODY, NOBODY};
	c.notify = verify ? notify : NULL;
	if (with.server)
		vec_push(&c.fetch.servers, xstrdup(with.server));
	c.fetch.per_day = 2;
	p.fetcher = in_dir("fetcher");
	p.for_fetch = (struct folder_user){sys, NOBODY - 3, NOBODY - 3};
	p.conf = &c;
	if (start_state(&p, &s, &lock, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		_exit(1);
	}
	_exit(parent_serve(&p, start_other(v, e)));
}

static void start_with(bool verify, const char *fault)
{
	int v[2], e[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, v), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, e), 0);
	ck_assert_int_eq(pipe2(alive, O_CLOEXEC), 0);
	server = fork();
	if (!server) {
		close(alive[1]);
		close(v[1]);
		close(e[1]);
		serve(v[0], e[0], verify, fault);
	}
	close(v[0]);
	close(e[0]);
	close(alive[0]);
	verbs = v[1];
	priv = priv_connect(v[1], e[1]);
}

static int stop(void)
{
	int status;

	priv_close(priv);
	close(alive[1]);
	ck_assert_int_eq(waitpid(server, &status, 0), server);
	return status;
}

static void teardown(void)
{
	char **name[] = {&state, &run, &folder, &module, &artifact, &editor, &inspector};
	size_t i;

	dir_remove(dir, NULL);
	for (i = 0; i < sizeof name / sizeof *name; i++) {
		free(*name[i]);
		*name[i] = NULL;
	}
}

/* ---- what it is asked ---- */

struct seen {
	bool done, later, observed;
	int status;
	double cpu_s;
	char why[1024], refused[1024];
	struct build_id id, origin;
	uid_t uid;
	size_t ntable, nmap;
	struct priv_stamp stamp;
	uint64_t list;
};

static void see_inspection(const struct priv_inspected *r, void *arg)
{
	struct seen *s = arg;

	*s = (struct seen){.done = true,
	    .status = r->status,
	    .observed = r->observed,
	    .id = r->id,
	    .origin = r->origin,
	    .uid = r->uid,
	    .ntable = r->ntable,
	    .nmap = r->nmap,
	    .stamp = r->stamp,
	    .list = r->list};
	snprintf(s->why, sizeof s->why, "%s", r->why);
	snprintf(s->refused, sizeof s->refused, "%s", r->refused);
	if (r->ntable)
		ck_assert(!memcmp(r->table, "TABLE", 5));
}

static void see_end(const struct priv_ended *r, void *arg)
{
	struct seen *s = arg;

	*s = (struct seen){.done = true,
	    .later = r->later,
	    .status = r->status,
	    .cpu_s = r->cpu_s,
	    .id = r->id,
	    .origin = r->origin,
	    .nmap = r->blob->n};
	snprintf(s->why, sizeof s->why, "%s", r->why);
}

static void see_swap(const struct priv_swapped *r, void *arg)
{
	struct seen *s = arg;

	*s = (struct seen){.done = true, .status = r->status, .id = r->to, .origin = r->from};
	snprintf(s->why, sizeof s->why, "%s", r->why);
}

static void see_fetched(const char *why, void *arg)
{
	struct seen *s = arg;

	s->done = true;
	snprintf(s->why, sizeof s->why, "%s", why);
}

static void await(struct seen *s)
{
	struct pollfd p = {.fd = priv_events(priv), .events = POLLIN};
	time_t begin = time(NULL);

	while (!s->done) {
		ck_assert_msg(time(NULL) - begin < 40, "nothing ended");
		if (poll(&p, 1, 1000) > 0)
			priv_dispatch(priv);
	}
}

static struct seen inspect_file(const char *path, bool shallow)
{
	static const struct build_id none[2];
	struct seen s = {0};
	struct err e = {""};

	ck_assert_msg(priv_inspect(priv, path, none, PRIV_JUDGE | (shallow ? PRIV_SHALLOW : 0),
			  see_inspection, &s, &e),
	    "%s", e.text);
	await(&s);
	return s;
}

static void check_inspection(enum priv_inspect status, const char *why)
{
	struct seen s = inspect_file(module, false);

	ck_assert_msg((int)s.status == (int)status && strstr(s.why, why), "status %d: %s, not: %s",
	    s.status, s.why, why);
}

static int memory(const char *text)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	ck_assert_int_eq(write(fd, text, strlen(text)), (int)strlen(text));
	return fd;
}

static int output = -1; /* of the last job */
static const char *lines = "lines";

static uint64_t begin_job(
    enum priv_job_kind kind, uint64_t edit, int from, struct seen *s, struct err *e)
{
	bool samples = priv_takes_samples(kind);
	struct priv_job j = {.kind = kind,
	    .module = kind >= PRIV_VERIFY && kind < PRIV_COUNT ? "" : module,
	    .edit = edit,
	    .id = tiny_id((uint8_t)from),
	    .origin = tiny_id(OLD),
	    .samples = -1};
	uint64_t task;

	*s = (struct seen){0};
	if (output >= 0)
		close(output);
	j.out = j.err = output = memory("");
	j.samples = samples ? memory(lines) : -1;
	task = priv_job(priv, &j, see_end, s, e);
	if (samples)
		close(j.samples);
	return task;
}

static uint64_t job(enum priv_job_kind kind, uint64_t edit, int from, struct seen *s)
{
	struct err e = {""};
	uint64_t task = begin_job(kind, edit, from, s, &e);

	ck_assert_msg(task != 0, "%s", e.text);
	await(s);
	return task;
}

static void said(const char *what)
{
	char text[2048] = "";

	ck_assert_int_ge(pread(output, text, sizeof text - 1, 0), 0);
	ck_assert_msg(strstr(text, what), "not said: %s, but: %s", what, text);
}

static uint64_t build_from(int from)
{
	struct build_id new = tiny_id(NEW);
	struct seen s;
	uint64_t task = job(PRIV_BUILD, 0, from, &s);

	ck_assert_msg(!*s.why && !s.status, "%s, status %#x", s.why, s.status);
	ck_assert(build_id_equal(&s.id, &new));
	ck_assert_uint_eq(s.nmap, 5);
	return task;
}

static void refused(uint64_t r, const struct err *e, const char *why)
{
	ck_assert_uint_eq(r, 0);
	ck_assert_msg(
	    strstr(e->text, "refused") && strstr(e->text, why), "%s: not: %s", e->text, why);
}

static void swap_refused(uint64_t edit, const char *why)
{
	struct err e = {""};
	struct seen s;

	refused(priv_swap(priv, edit, see_swap, &s, &e), &e, why);
	ck_assert_int_eq(tiny_run(module), OLD);
}

static struct seen swap(uint64_t edit)
{
	struct err e = {""};
	struct seen s = {0};

	ck_assert_msg(priv_swap(priv, edit, see_swap, &s, &e) != 0, "%s", e.text);
	await(&s);
	return s;
}

static struct seen rollback(int to)
{
	struct build_id id = tiny_id((uint8_t)to);
	struct err e = {""};
	struct seen s = {0};

	ck_assert_msg(priv_rollback(priv, module, &id, see_swap, &s, &e) != 0, "%s", e.text);
	await(&s);
	return s;
}

static unsigned entries(const char *below)
{
	char *path = xasprintf("%s/%s", state, below);
	DIR *d = opendir(path);
	struct dirent *de;
	unsigned n = 0;

	while (d && (de = readdir(d)))
		n += *de->d_name != '.';
	if (d)
		closedir(d);
	free(path);
	return n;
}

static unsigned processes(const char *command)
{
	char *line = xasprintf("pgrep -fxc '%s'", command), text[16] = "";
	FILE *f = popen(line, "r");

	ck_assert_ptr_nonnull(fgets(text, sizeof text, f));
	pclose(f);
	free(line);
	return (unsigned)atoi(text);
}

static void soon(bool (*fn)(void), const char *what)
{
	int i;

	for (i = 0; i < 100 && !fn(); i++)
		usleep(100000);
	ck_assert_msg(fn(), "%s", what);
}

#define BOTH_MODES() \
	if (_i && geteuid()) \
		return; \
	world(_i)

/* ---- looking ---- */

START_TEST(module_with_its_artifact)
{
	struct build_id old = tiny_id(OLD);
	struct priv_stamp stamp;
	struct seen s;

	BOTH_MODES();
	start_with(false, NULL);
	s = inspect_file(module, false);
	ck_assert_int_eq(s.status, PRIV_FOLLOWED);
	ck_assert_str_eq(s.refused, "");
	ck_assert(build_id_equal(&s.id, &old) && build_id_equal(&s.origin, &old));
	ck_assert_uint_eq(s.uid, sys ? OWNER : geteuid());
	ck_assert_uint_eq(s.ntable, 5);
	ck_assert_uint_eq(s.nmap, 3);
	ck_assert_int_eq(priv_stamp(priv, module, &stamp), 0);
	ck_assert(priv_stamp_equal(&stamp, &s.stamp));
	ck_assert_int_eq(chmod(module, 04755), 0);
	s = inspect_file(module, true);
	ck_assert_int_eq(s.status, PRIV_FOLLOWED);
	ck_assert_ptr_nonnull(strstr(s.refused, "is setuid"));
	ck_assert_int_eq(unlink(artifact), 0);
	s = inspect_file(module, true);
	ck_assert_int_eq(s.status, PRIV_NO_ARTIFACT);
	ck_assert_uint_eq(s.id.n, 0);
	s = inspect_file(module, false);
	ck_assert_int_eq(s.status, PRIV_NO_ARTIFACT);
	ck_assert(build_id_equal(&s.id, &old));
	ck_assert_int_eq(unlink(module), 0);
	check_inspection(PRIV_GONE, "No such file");
	ck_assert_int_eq(priv_stamp(priv, module, &stamp), -1);
	stop();
}
END_TEST

/* A link by build-id to the artifact, as the hooks make it. */
static void link_by_id(void)
{
	struct build_id id = tiny_id(OLD);
	char *folder = in_dir("by-id"), *path = build_id_path(folder, strlen(folder), &id), *slash;

	slash = strrchr(path, '/');
	*slash = '\0';
	ck_assert_int_eq(dir_make(path, 0755, NULL), 0);
	*slash = '/';
	ck_assert_int_eq(symlink(artifact, path), 0);
	free(path);
	free(folder);
}

START_TEST(what_is_not_followed)
{
	char *real, *other;
	struct seen s;
	unsigned i;

	BOTH_MODES();
	real = in_dir("bin/real");
	other = in_dir("other");
	start_with(false, NULL);
	put_artifact(OTHER, "");
	check_inspection(PRIV_NO_ARTIFACT, "not what it should be");
	put_artifact(OLD, "crash");
	check_inspection(PRIV_NO_ARTIFACT, "made to harm");
	put_artifact(OLD, "bounds");
	check_inspection(PRIV_NO_ARTIFACT, "made to harm");
	put_artifact(OLD, "hold");
	/* Unless the stray that holds it is killed before its parent is reaped. */
	for (i = 0; i < 10 && (s = inspect_file(module, false)).status == PRIV_FOLLOWED; i++)
		;
	ck_assert_msg(strstr(s.why, "somebody interferes"), "status %d: %s", s.status, s.why);
	put_artifact(OLD, "good");
	ck_assert_int_eq(chmod(artifact, 0666), 0);
	check_inspection(PRIV_NO_ARTIFACT, "is writable by others");
	link_by_id();
	s = inspect_file(module, false);
	ck_assert_msg(!strncmp(s.why, artifact, strlen(artifact)), "%s", s.why);
	ck_assert_int_eq(unlink(artifact), 0);
	ck_assert_int_eq(mkfifo(artifact, 0644), 0);
	check_inspection(PRIV_NO_ARTIFACT, "is not a regular file");
	ck_assert_int_eq(unlink(artifact), 0);
	ck_assert_int_eq(symlink("/dev/tty", artifact), 0);
	check_inspection(PRIV_NO_ARTIFACT, "is not a regular file");
	ck_assert_int_eq(unlink(artifact), 0);
	put_artifact(OLD, "good");
	if (!geteuid()) {
		ck_assert_int_eq(chown(artifact, 2, 2), 0);
		check_inspection(PRIV_NO_ARTIFACT, "belongs to uid 2");
		ck_assert_int_eq(rename(artifact, other), 0);
		ck_assert_int_eq(symlink(other, artifact), 0);
		check_inspection(PRIV_NO_ARTIFACT, "belongs to uid 2");
		ck_assert_int_eq(unlink(artifact), 0);
		put_artifact(OLD, "good");
	}
	ck_assert_int_eq(chmod(folder, 0777), 0);
	check_inspection(PRIV_NO_ARTIFACT, "writable by others");
	ck_assert_int_eq(chmod(folder, 0755), 0);
	ck_assert_int_eq(rename(module, real), 0);
	ck_assert_int_eq(symlink(real, module), 0);
	check_inspection(PRIV_GONE, "is a symbolic link");
	ck_assert_int_eq(unlink(module), 0);
	put(module, "#!/bin/sh\n", 10, 0755);
	check_inspection(PRIV_GONE, "not what it should be");
	stop();
	free(real);
	free(other);
}
END_TEST

/* Who is confined gets no job, and with it no process that is not. */
START_TEST(modules_of_our_own_users)
{
	uid_t whose[] = {NOBODY, NOBODY - 1, NOBODY - 2};
	size_t i;

	if (geteuid())
		return;
	world(true);
	start_with(false, NULL);
	for (i = 0; i < sizeof whose / sizeof *whose; i++) {
		ck_assert_int_eq(chown(folder, whose[i], whose[i]), 0);
		ck_assert_int_eq(chown(module, whose[i], whose[i]), 0);
		ck_assert_int_eq(chown(artifact, whose[i], whose[i]), 0);
		check_inspection(PRIV_NO_ARTIFACT, "a user of Morph's own");
	}
	stop();
}
END_TEST

/* Nobody waits for who holds a lease or an inspector up. */
START_TEST(held_up)
{
	struct seen s = {0}, quick;
	static const struct build_id none[2];
	time_t begin = time(NULL);
	struct err e;
	int fd;

	BOTH_MODES();
	start_with(false, NULL);
	signal(SIGIO, SIG_IGN);
	fd = open(artifact, O_RDWR);
	ck_assert_int_eq(fcntl(fd, F_SETLEASE, F_WRLCK), 0);
	check_inspection(PRIV_NO_ARTIFACT, "temporarily unavailable");
	close(fd);
	put_artifact(OLD, "hang");
	ck_assert_uint_ne(priv_inspect(priv, module, none, false, see_inspection, &s, &e), 0);
	quick = inspect_file("/bin/sh", true); /* meanwhile */
	ck_assert(quick.done && !s.done);
	ck_assert_int_lt(time(NULL) - begin, 10);
	stop();
}
END_TEST

START_TEST(inspector_has_a_deadline)
{
	world(false);
	with.inspect_s = 2;
	start_with(false, NULL);
	put_artifact(OLD, "hang");
	check_inspection(PRIV_LATER, "took too long");
	stop();
}
END_TEST

/* ---- building and swapping ---- */

/* Its module is root's in system mode, unless it is of: OWNER. */
static void begin_fetching(bool system, const char *server, uid_t of)
{
	static const char fetcher[] =
	    "#!/bin/sh\n"
	    "[ $# = 3 ] && [ ${#1} = 40 ] && [ -z \"$2\" ] || exit 2\n"
	    "case $3 in\n"
	    "have) printf 'MORPH\\013%s' \"uid $(id -u) groups $(id -G)\";;\n"
	    "other) printf 'MORPH\\041other';;\n"
	    "none) printf 'no server\\nhas it'; exit 1;;\n"
	    "killed) printf 'MORPH\\013'; kill -9 $$;;\n"
	    "esac\n";
	char *path;

	world(system);
	unlink(artifact);
	path = in_dir("fetcher");
	ck_assert_int_eq(publish_bytes(path, fetcher, sizeof fetcher - 1, 0755, NULL), 0);
	free(path);
	if (sys && !of) {
		ck_assert_int_eq(chown(module, 0, 0), 0);
		ck_assert_int_eq(chown(folder, 0, 0), 0);
	}
	with.server = server;
	start_with(false, NULL);
}

static void check_fetch(const char *why)
{
	struct seen s = {0};
	struct err e = {""};

	if (priv_fetch(priv, module, see_fetched, &s, &e))
		await(&s);
	else
		snprintf(s.why, sizeof s.why, "%s", e.text);
	ck_assert_msg(*why ? strstr(s.why, why) != NULL : !*s.why, "'%s', not '%s'", s.why, why);
}

/* By a user of its own, and what came is put where only we write. */
START_TEST(artifact_from_a_server)
{
	struct buf text = {0};
	char want[64], *path;
	struct stat st;

	if (_i && geteuid())
		return;
	begin_fetching(_i, "have", 0);
	check_inspection(PRIV_NO_ARTIFACT, "no artifact for build-id");
	check_fetch("");
	check_inspection(PRIV_FOLLOWED, "");
	path = xasprintf("%s/artifacts/0b/0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b.morph", state);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_uid, geteuid());
	ck_assert_uint_eq(st.st_mode & 0777, 0644);
	ck_assert_int_eq(file_read(path, 0, &text, NULL), 0);
	snprintf(want, sizeof want, "MORPH\vuid %d groups %d", NOBODY - 3, NOBODY - 3);
	if (sys)
		ck_assert_str_eq(buf_cstr(&text), want);
	buf_free(&text);
	free(path);
	check_fetch("");
	check_fetch("used up (fetch.per_day: 2)");
	stop();
}
END_TEST

START_TEST(no_artifact_from_a_server)
{
	static const struct {
		const char *server, *why;
		uid_t of;
	} bad[] = {{NULL, "the policy names no server"}, {"none", "no server has it"},
	    {"other", "what a server sent: not what it should be"}, {"killed", "was killed"},
	    {"empty", "what a server sent"}, {"have", "only programs of root", OWNER}};
	bool system = _i >= (int)(sizeof bad / sizeof *bad);
	size_t i = (size_t)_i % (sizeof bad / sizeof *bad);

	if ((system || bad[i].of) && (geteuid() || !system))
		return;
	begin_fetching(system, bad[i].server, bad[i].of);
	check_fetch(bad[i].why);
	check_inspection(PRIV_NO_ARTIFACT, "no artifact for build-id");
	stop();
}
END_TEST

/* ---- lifting ---- */

static void reload(const char *text, const char *why)
{
	const char *path;
	struct err e = {""};
	int r;

	ck_assert_int_eq(publish_bytes(with.policy, text, strlen(text), 0644, &e), 0);
	r = priv_reload(priv, &path, &e);
	ck_assert_msg(!r == !*why && strstr(e.text, why), "%s, not: %s", e.text, why);
	if (!r)
		ck_assert_str_eq(path, with.policy);
}

static void check_lift_as(
    enum priv_job_kind kind, int from, bool later, int status, const char *why)
{
	struct seen s;

	job(kind, 0, from, &s);
	ck_assert_msg(
	    s.later == later && s.status == status && (*why ? strstr(s.why, why) != NULL : !*s.why),
	    "%s, later %d, status %#x", s.why, s.later, s.status);
}

static void check_lift(int from, bool later, int status, const char *why)
{
	check_lift_as(PRIV_LIFT, from, later, status, why);
}

static void check_lifted(const char *owner_and_what, mode_t mode)
{
	unsigned owner = sys ? OWNER : geteuid();
	char *path =
	    xasprintf("%s/lifted/%u/0b/0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b.morph", state, owner);
	struct buf text = {0};
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_uid, owner);
	ck_assert_uint_eq(st.st_mode & 0777, mode);
	ck_assert_int_eq(file_read(path, 0, &text, NULL), 0);
	if (sys)
		ck_assert_str_eq(buf_cstr(&text), owner_and_what);
	buf_free(&text);
	free(path);
}

/* As its owner, to where another owner's program of the same build-id does not find it; it serves
 * where there is no other artifact, as long as the policy says so. */
START_TEST(lifted)
{
	char *other = NULL;
	uint64_t edit;
	struct seen s;

	BOTH_MODES();
	with.legacy = LEGACY_OPTIMIZE;
	with.policy = in_dir("policy");
	start_with(false, NULL);
	unlink(artifact);
	ck_assert_int_eq(chmod(module, 0700), 0);
	s = inspect_file(module, false);
	ck_assert_int_eq((int)s.status, PRIV_NO_ARTIFACT);
	ck_assert_str_eq(s.refused, "");
	check_lift(NEW, true, 0, "it was replaced");
	check_lift(OLD, false, 0, "");
	check_lifted("MORPH\vby 1 groups 1 at lines", 0600);
	check_inspection(PRIV_FOLLOWED, "");
	lines = "others";
	check_lift(OLD, false, 0, ""); /* and was there already */
	check_lifted("MORPH\vby 1 groups 1 at lines", 0600);
	check_lift_as(PRIV_LIFT_AGAIN, OLD, false, 0, "");
	check_lifted("MORPH\vby 1 groups 1 at others", 0600);
	check_inspection(PRIV_FOLLOWED, "");
	if (sys) {
		other = in_dir("other-prog");
		put_build(other, OLD, OLD);
		ck_assert_int_eq(chown(other, 0, 0), 0);
		s = inspect_file(other, false);
		ck_assert_int_eq((int)s.status, PRIV_NO_ARTIFACT);
	}
	edit = build_from(OLD);
	put_artifact(OLD, "better");
	s = inspect_file(module, true);
	ck_assert_int_eq((int)s.status, PRIV_FOLLOWED);
	unlink(artifact);
	reload("legacy: observe", "");
	swap_refused(edit, "the policy was read again");
	priv_drop(priv, edit);
	s = inspect_file(module, false);
	ck_assert_int_eq((int)s.status, PRIV_FOLLOWED);
	ck_assert_msg(strstr(s.refused, "was lifted; policy says observe"), "%s", s.refused);
	job(PRIV_BUILD, 0, OLD, &s);
	ck_assert_msg(strstr(s.why, "was lifted; policy says observe"), "%s", s.why);
	stop();
	free(other);
}
END_TEST

/* A layout whose artifact is gone: of its original, which is kept. */
START_TEST(lifted_from_a_kept_original)
{
	char *path;

	BOTH_MODES();
	with.legacy = LEGACY_OPTIMIZE;
	start_with(false, NULL);
	ck_assert_int_eq(swap(build_from(OLD)).status, SWAP_OK);
	unlink(artifact);
	lines = ""; /* all of it */
	check_lift(NEW, false, 0, "");
	check_lifted("MORPH\vby 1 groups 1", 0644);
	check_inspection(PRIV_FOLLOWED, "");
	path = xasprintf("%s/lifted", state);
	ck_assert_int_eq(dir_empty(path, NULL), 0);
	free(path);
	path = xasprintf("%s/builds", state);
	ck_assert_int_eq(dir_empty(path, NULL), 0);
	check_lift(NEW, false, 0, "its original is not kept");
	stop();
	free(path);
}
END_TEST

START_TEST(not_lifted)
{
	static const struct {
		int legacy;
		const char *mark, *refused, *why;
		bool later, observed;
		int status;
	} bad[] = {{LEGACY_OBSERVE, NULL, "would be lifted; policy says observe",
		       "would be lifted; policy says observe", true, true, 0},
	    {LEGACY_OFF, NULL, "(legacy: off)", "(legacy: off)", true, false, 0},
	    {LEGACY_OPTIMIZE, "packed", "", "", false, false, 256},
	    {LEGACY_OPTIMIZE, "other", "", "what was lifted: not what it should be", false, false,
		0}};
	size_t i = (size_t)_i / 2;
	struct seen s;

	world(_i % 2);
	if (sys && geteuid())
		return;
	with.legacy = bad[i].legacy;
	start_with(false, NULL);
	unlink(artifact);
	if (bad[i].mark)
		mark(bad[i].mark, true);
	s = inspect_file(module, false);
	ck_assert_int_eq((int)s.status, PRIV_NO_ARTIFACT);
	ck_assert(s.observed == bad[i].observed);
	ck_assert_msg(*bad[i].refused ? strstr(s.refused, bad[i].refused) != NULL : !*s.refused,
	    "%s", s.refused);
	check_lift(OLD, bad[i].later, bad[i].status, bad[i].why);
	if (bad[i].status)
		said("it is packed");
	check_inspection(PRIV_NO_ARTIFACT, "no artifact for build-id");
	stop();
}
END_TEST

START_TEST(policy_read_again)
{
	struct err e = {""};
	uint64_t edit;
	struct seen s;

	BOTH_MODES();
	with.policy = in_dir("policy");
	start_with(false, NULL);
	edit = build_from(OLD);
	reload("modules: [{path: '/**', action: observe}]", "");
	swap_refused(edit, "the policy was read again");
	priv_drop(priv, edit);
	s = inspect_file(module, false);
	ck_assert_msg(
	    strstr(s.refused, "policy:1: the policy only lets it be observed"), "%s", s.refused);
	reload("modules: [{path: '/**', action: optimise}]", "policy:1:33");
	s = inspect_file(module, false);
	ck_assert_ptr_nonnull(strstr(s.refused, "observed"));
	reload("edit: {disk: 1M}", "");
	s = inspect_file(module, false);
	ck_assert_str_eq(s.refused, "");
	ck_assert_int_eq(swap(build_from(OLD)).status, SWAP_OK);
	refused(priv_fetch(priv, module, see_fetched, &s, &e), &e, "names no server");
	stop();
}
END_TEST

/* The list of functions keeps the module from being laid out, for a reason. */
static void list_refused(const char *list, const char *why)
{
	struct seen s = inspect_file(module, false);

	ck_assert_int_eq(s.status, PRIV_FOLLOWED);
	ck_assert_uint_eq(s.list, 0);
	ck_assert_msg(!strncmp(s.refused, "order: ", 7) && strstr(s.refused, list) &&
			  strstr(s.refused, why) && strstr(s.refused, "morphctl reload"),
	    "%s, not: %s", s.refused, why);
	job(PRIV_SCORE, 0, OLD, &s);
	ck_assert_msg(strstr(s.why, why) && !s.later, "%s, not: %s", s.why, why);
	job(PRIV_BUILD, 0, OLD, &s);
	ck_assert_msg(strstr(s.why, why) && !s.later, "%s, not: %s", s.why, why);
}

static void list_goes_in(uint64_t hash, const char *text)
{
	struct seen s = inspect_file(module, false);

	ck_assert_str_eq(s.refused, "");
	ck_assert_uint_eq(s.list, hash);
	priv_drop(priv, build_from(OLD));
	said(text);
	job(PRIV_SCORE, 0, OLD, &s);
	ck_assert_str_eq(s.why, "");
	said(text);
}

START_TEST(list_of_functions)
{
	char *list, *other, *policy;
	struct seen s;

	BOTH_MODES();
	list = in_dir("list");
	other = in_dir("lists");
	with.policy = in_dir("policy");
	start_with(false, NULL);
	ck_assert_uint_eq(inspect_file(module, false).list, 0);
	policy = xasprintf("modules: [{path: '/**', order: '%s'}]", list);
	reload(policy, "");
	list_refused(list, "No such file");
	put(list, "f g", 3, 0644);
	list_goes_in('f', "order f g\n");
	job(PRIV_TABLE, 0, OLD, &s);
	ck_assert_str_eq(s.why, "");
	put(list, "bad", 3, 0644);
	list_refused(list, "not what it should be");
	put(list, "", 0, 0644);
	list_refused(list, "is empty");
	put(list, "f g", 3, 0666);
	ck_assert_int_eq(chmod(list, 0666), 0);
	list_refused(list, "is writable by others");
	ck_assert_int_eq(rename(list, other), 0);
	ck_assert_int_eq(symlink(other, list), 0);
	list_refused(list, "is a symbolic link");
	ck_assert_int_eq(unlink(list), 0);
	ck_assert_int_eq(mkfifo(list, 0644), 0);
	list_refused(list, "is not a regular file");
	if (sys) {
		put(list, "h", 1, 0644);
		ck_assert_int_eq(chown(list, 2, 2), 0);
		list_refused(list, "belongs to uid 2");
		ck_assert_int_eq(chown(list, 0, 0), 0);
		list_goes_in('h', "order h\n");
		ck_assert_int_eq(chmod(list, 0600), 0);
		list_refused(list, "may not be read by all");
	}
	reload("edit: {disk: 1M}", "");
	ck_assert_uint_eq(inspect_file(module, false).list, 0);
	priv_drop(priv, build_from(OLD));
	stop();
	free(policy);
	free(list);
	free(other);
}
END_TEST

START_TEST(build_verify_swap_done)
{
	struct build_id old = tiny_id(OLD), new = tiny_id(NEW);
	const struct swap_kept *kept;
	struct arena a = {0};
	uint64_t edit;
	struct seen s;
	struct err e;

	BOTH_MODES();
	start_with(true, NULL);
	edit = build_from(OLD);
	said(sys ? "uid 1 groups 1 samples lines\noriginal\n" : "samples lines\noriginal\n");
	swap_refused(edit, "not verified");
	mark("refuse", true);
	job(PRIV_VERIFY, edit, OLD, &s);
	ck_assert_int_eq(s.status, 256);
	swap_refused(edit, "not verified");
	mark("refuse", false);
	job(PRIV_VERIFY, edit, OLD, &s);
	ck_assert_msg(!*s.why && !s.status, "%s, status %#x", s.why, s.status);
	s = swap(edit);
	ck_assert_msg(s.status == SWAP_OK, "%s", s.why);
	ck_assert(build_id_equal(&s.id, &new) && build_id_equal(&s.origin, &old));
	ck_assert_int_eq(tiny_run(module), NEW);
	s = swap(edit);
	ck_assert_int_ne(s.status, SWAP_OK);
	ck_assert_int_eq(priv_swap_done(priv, module, &e), 0);
	s = swap(edit);
	ck_assert_int_eq(s.status, SWAP_CHANGED);
	ck_assert_uint_eq(priv_kept(priv, module, &a, &kept), 1);
	ck_assert(build_id_equal(&kept[0].id, &old));
	priv_drop(priv, edit);
	/* Again, from the layout: the original is the kept one. */
	edit = build_from(NEW);
	said("original");
	priv_drop(priv, edit);
	s = rollback(OLD);
	ck_assert_msg(s.status == SWAP_OK, "%s", s.why);
	ck_assert_int_eq(priv_swap_done(priv, module, &e), 0);
	ck_assert_int_eq(tiny_run(module), OLD);
	s = rollback(OTHER);
	ck_assert_int_ne(s.status, SWAP_OK);
	ck_assert_int_eq(tiny_run(module), OLD);
	stop();
	arena_free(&a);
}
END_TEST

/* Both jobs that keep objects do it in the module's cache. */
START_TEST(nothing_in_the_home)
{
	char *home, *cache, key[CONTENT_HEX];
	struct buf text = {0};
	struct seen s;

	BOTH_MODES();
	home = in_dir("home");
	cache = xasprintf(
	    "%s/cache/%u/%s/x", state, sys ? OWNER : (unsigned)geteuid(), swap_key(module, key));
	start_with(false, NULL);
	job(PRIV_SCORE, 0, OLD, &s);
	job(PRIV_TABLE, 0, OLD, &s);
	ck_assert_msg(!*s.why && !s.status, "%s", s.why);
	build_from(OLD);
	ck_assert(access(home, F_OK) < 0);
	ck_assert_int_eq(file_read(cache, 0, &text, NULL), 0);
	ck_assert_str_eq(buf_cstr(&text), "good\ngood\n");
	stop();
	buf_free(&text);
	free(cache);
	free(home);
}
END_TEST

static bool no_jobs(void)
{
	return !entries("jobs");
}

START_TEST(swaps_that_are_refused)
{
	struct build_id none = {0};
	struct seen s, t;
	struct err e;
	uint64_t edit, other;

	BOTH_MODES();
	start_with(false, NULL);
	swap_refused(0, "no edit");
	swap_refused(12345, "no edit");
	other = job(PRIV_SCORE, 0, OLD, &s);
	ck_assert_int_eq(s.status, 0);
	swap_refused(other, "no edit");
	job(PRIV_TABLE, 0, OLD, &s);
	ck_assert_msg(!*s.why && !s.status && s.nmap == 5, "%s", s.why);
	put_artifact(OLD, "sleep");
	edit = begin_job(PRIV_BUILD, 0, OLD, &s, &e);
	swap_refused(edit, "no edit that ended well");
	refused(begin_job(PRIV_VERIFY, edit, OLD, &t, &e), &e, "no edit that ended well");
	priv_drop(priv, edit);
	put_artifact(OLD, "fail");
	edit = job(PRIV_BUILD, 0, OLD, &s);
	ck_assert_int_eq(s.status, 3 << 8);
	swap_refused(edit, "no edit that ended well");
	put_artifact(OLD, "good");
	edit = build_from(OLD);
	refused(begin_job(PRIV_VERIFY, edit, OLD, &t, &e), &e, "no verify command");
	ck_assert_int_eq(priv_hold(priv, module, true, &e), 0);
	ck_assert(priv_held(priv, module));
	swap_refused(edit, "was rolled back");
	ck_assert_int_eq(priv_hold(priv, module, false, &e), 0);
	ck_assert(!priv_held(priv, module));
	refused(priv_rollback(priv, module, &none, see_swap, &s, &e), &e, "of its verb's form");
	priv_drop(priv, edit);
	swap_refused(edit, "no edit");
	soon(no_jobs, "job folders stay");
	stop();
}
END_TEST

START_TEST(outputs_that_are_refused)
{
	static const char *const what[] = {"none", "link", "fifo"};
	char *path;
	struct seen s;
	size_t i;

	BOTH_MODES();
	start_with(false, NULL);
	for (i = 0; i < sizeof what / sizeof *what; i++) {
		put_artifact(OLD, what[i]);
		swap_refused(job(PRIV_BUILD, 0, OLD, &s), "no edit");
		ck_assert_msg(*s.why, "%s", what[i]);
	}
	put_artifact(OLD, "good");
	path = in_dir("build");
	put_build(path, NEW, OTHER);
	swap_refused(job(PRIV_BUILD, 0, OLD, &s), "no edit");
	ck_assert_ptr_nonnull(strstr(s.why, "does not come from this program"));
	put_build(path, OLD, OLD);
	swap_refused(job(PRIV_BUILD, 0, OLD, &s), "no edit");
	ck_assert_ptr_nonnull(strstr(s.why, "no build-id of its own"));
	put(path, "#!/bin/sh\n", 10, 0755);
	swap_refused(job(PRIV_BUILD, 0, OLD, &s), "no edit");
	put_build(path, NEW, OLD);
	job(PRIV_BUILD, 0, OTHER, &s);
	ck_assert_ptr_nonnull(strstr(s.why, "replaced by a rebuild"));
	stop();
	free(path);
}
END_TEST

/* Of the only job. */
static char *job_folder(void)
{
	char *jobs = in_dir("state/jobs"), *path = NULL;
	DIR *d = opendir(jobs);
	struct dirent *de;

	while ((de = readdir(d)))
		if (*de->d_name != '.')
			path = xasprintf("%s/%s", jobs, de->d_name);
	closedir(d);
	free(jobs);
	ck_assert_ptr_nonnull(path);
	return path;
}

/* What was inspected goes in, whatever the job's folder holds by then. */
START_TEST(output_replaced_after_the_edit)
{
	char *path, *out;
	uint64_t edit;
	struct seen s;

	BOTH_MODES();
	start_with(false, NULL);
	edit = build_from(OLD);
	path = job_folder();
	out = xasprintf("%s/out", path);
	put_build(out, OTHER, OLD);
	s = swap(edit);
	ck_assert_msg(s.status == SWAP_OK, "%s", s.why);
	ck_assert_int_eq(tiny_run(module), NEW);
	stop();
	free(out);
	free(path);
}
END_TEST

START_TEST(module_replaced_after_the_edit)
{
	uint64_t edit;
	struct seen s;

	BOTH_MODES();
	start_with(false, NULL);
	edit = build_from(OLD);
	put_build(module, OTHER, OTHER);
	s = swap(edit);
	ck_assert_int_eq(s.status, SWAP_CHANGED);
	ck_assert_int_eq(tiny_run(module), OTHER);
	/* And what its owner built since is not taken back. */
	s = rollback(OLD);
	ck_assert_int_ne(s.status, SWAP_OK);
	ck_assert_int_eq(tiny_run(module), OTHER);
	stop();
}
END_TEST

START_TEST(rebuild_is_not_rolled_back)
{
	struct seen s;
	struct err e;

	BOTH_MODES();
	start_with(false, NULL);
	s = swap(build_from(OLD));
	ck_assert_int_eq(s.status, SWAP_OK);
	ck_assert_int_eq(priv_swap_done(priv, module, &e), 0);
	put_build(module, OTHER, OTHER);
	s = rollback(OLD);
	ck_assert_msg(s.status == SWAP_CHANGED, "status %d: %s", s.status, s.why);
	ck_assert_int_eq(tiny_run(module), OTHER);
	stop();
}
END_TEST

/* ---- bounds ---- */

START_TEST(environment_of_an_editor)
{
	static const char *const linkers[] = {"LD_RUN_PATH", "LD_LIBRARY_PATH", "LDEMULATION",
	    "GNUTARGET", "GCC_EXEC_PREFIX", "COLLECT_NO_DEMANGLE"};
	uint64_t edit;
	size_t i;

	BOTH_MODES();
	for (i = 0; i < sizeof linkers / sizeof *linkers; i++)
		setenv(linkers[i], "/x", 1);
	unsetenv("XDG_CACHE_HOME");
	setenv("LANG", "C", 1);
	start_with(true, NULL);
	edit = build_from(OLD);
	said("environment HOME LANG MORPH_JOB PATH TMPDIR\n");
	priv_drop(priv, edit);
	stop();
}
END_TEST

/* The editor of the job that runs: its script becomes a sleep. */
static pid_t running(void)
{
	char text[16] = "";
	FILE *f;
	int i;

	for (i = 0; i < 100 && !processes("sleep 61"); i++)
		usleep(50000);
	f = popen("pgrep -fx 'sleep 61'", "r");
	ck_assert_ptr_nonnull(fgets(text, sizeof text, f));
	pclose(f);
	return atoi(text);
}

START_TEST(signals)
{
	struct seen s;
	struct err e = {""};
	uint64_t task;
	pid_t pid;

	BOTH_MODES();
	start_with(false, NULL);
	put_artifact(OLD, "sleep");
	task = begin_job(PRIV_BUILD, 0, OLD, &s, &e);
	pid = running();
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(getsid(pid), pid);
	refused((uint64_t)(priv_signal(priv, task, SIGUSR1, &e) + 1), &e, "signal");
	refused((uint64_t)(priv_signal(priv, task + 1, SIGKILL, &e) + 1), &e, "no such task");
	/* Stopped by us it stays … */
	ck_assert_int_eq(priv_signal(priv, task, SIGSTOP, &e), 0);
	usleep(2200000); /* it is looked after once a second */
	priv_dispatch(priv);
	ck_assert(!s.done);
	ck_assert_int_eq(priv_signal(priv, task, SIGCONT, &e), 0);
	/* … by somebody else it is ended. */
	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	await(&s);
	ck_assert(s.later);
	ck_assert_ptr_nonnull(strstr(s.why, "somebody stopped"));
	ck_assert(priv_job_cpu(priv, task) < 0);
	task = begin_job(PRIV_BUILD, 0, OLD, &s, &e);
	ck_assert_int_gt(running(), 0);
	ck_assert_int_eq(priv_signal(priv, task, SIGTERM, &e), 0);
	await(&s);
	ck_assert_int_eq(s.status, SIGTERM);
	stop();
}
END_TEST

START_TEST(too_much_disk)
{
	struct seen s;

	BOTH_MODES();
	start_with(false, NULL);
	put_artifact(OLD, "full");
	job(PRIV_BUILD, 0, OLD, &s);
	ck_assert(s.later);
	ck_assert_ptr_nonnull(strstr(s.why, "edit.disk"));
	stop();
}
END_TEST

static bool no_strays(void)
{
	return !processes("sleep 62") && !processes("sleep 63");
}

/* Both builds, by the time that they and their children take; it is no verification. */
START_TEST(builds_are_measured)
{
	struct seen old, new;
	uint64_t edit;
	struct err e;

	BOTH_MODES();
	start_with(true, NULL);
	edit = build_from(OLD);
	job(PRIV_MEASURE_OLD, edit, OLD, &old);
	ck_assert_msg(!*old.why && !old.status, "%s, status %#x", old.why, old.status);
	said("prog\n");
	job(PRIV_MEASURE_NEW, edit, OLD, &new);
	ck_assert_msg(!*new.why && !new.status, "%s, status %#x", new.why, new.status);
	said("out\n");
	ck_assert_msg(
	    new.cpu_s > 2 * old.cpu_s &&new.cpu_s < 60, "%g and %g s", old.cpu_s, new.cpu_s);
	swap_refused(edit, "not verified");
	mark("refuse", true);
	job(PRIV_MEASURE_NEW, edit, OLD, &new);
	ck_assert_int_eq(new.status, 256);
	refused(begin_job(PRIV_JOBS, edit, OLD, &new, &e), &e, "form");
	stop();
}
END_TEST

/* As their owner, over no build; one at a time, and no restart soon after another. */
START_TEST(services_are_counted)
{
	char *expected;
	struct seen s;
	struct err e;

	BOTH_MODES();
	start_with(true, NULL);
	expected = xasprintf("%s %u\n", module, sys ? OWNER : (unsigned)geteuid());
	job(PRIV_COUNT, 0, OLD, &s);
	ck_assert_msg(!*s.why && !s.status, "%s, status %#x", s.why, s.status);
	said(expected);
	job(PRIV_RESTART, 0, OLD, &s);
	ck_assert_msg(!*s.why && !s.status, "%s, status %#x", s.why, s.status);
	said(expected);
	refused(begin_job(PRIV_RESTART, 0, OLD, &s, &e), &e, "it was restarted");
	mark("wait", true);
	ck_assert_uint_ne(begin_job(PRIV_COUNT, 0, OLD, &s, &e), 0);
	refused(begin_job(PRIV_COUNT, 0, OLD, &(struct seen){0}, &e), &e, "a command about its");
	await(&s); /* it hangs, and left a process behind */
	ck_assert_str_eq(s.why, "it took too long");
	soon(no_strays, "what it left is gone");
	stop();
	start_with(false, NULL);
	refused(begin_job(PRIV_COUNT, 0, OLD, &s, &e), &e, "no counter command");
	refused(begin_job(PRIV_RESTART, 0, OLD, &s, &e), &e, "no restart command");
	stop();
	free(expected);
}
END_TEST

static bool was_told(void)
{
	char *path = in_dir("told");
	struct buf b = {0};
	bool whole = !file_read(path, 0, &b, NULL) && strstr(buf_cstr(&b), "\n.\n");

	buf_free(&b);
	free(path);
	return whole;
}

/* The operator, as the manager's user; words of others are no more than words. */
START_TEST(the_operator_hears)
{
	static const char text[] = "$(touch /nowhere); {module} `id` 'x' \"y\"";
	char *path, *expected, *longest = xasprintf("%0300d", 0);
	struct buf b = {0};
	struct err e;
	unsigned i;

	BOTH_MODES();
	path = in_dir("told");
	start_with(true, NULL);
	ck_assert_int_eq(publish_bytes(path, "", 0, 0666, NULL), 0);
	ck_assert_int_eq(chmod(path, 0666), 0);
	ck_assert_msg(!priv_notify(priv, module, PRIV_SLOWER, text, &e), "%s", e.text);
	soon(was_told, "the command ran");
	ck_assert_int_eq(file_read(path, 0, &b, NULL), 0);
	expected = xasprintf("%u\n[%s]\n[slower: %s]\n[-%s-%s]\n.\n",
	    sys ? NOBODY : (unsigned)geteuid(), module, text, text, module);
	ck_assert_str_eq(buf_cstr(&b), expected);
	refused(!priv_notify(priv, module, PRIV_EVENTS, text, &e), &e, "form");
	refused(!priv_notify(priv, module, PRIV_SLOWER, "two\nlines", &e), &e, "one line");
	refused(!priv_notify(priv, module, PRIV_SLOWER, longest, &e), &e, "one line");
	mark("wait", true);
	for (i = 0; !priv_notify(priv, module, PRIV_CRASHES, text, &e) && i < 10;)
		i++;
	ck_assert(3 <= i && i <= 4); /* the first one may still be there */
	refused(0, &e, "notify commands run");
	stop();
	start_with(false, NULL);
	refused(!priv_notify(priv, module, PRIV_SLOWER, text, &e), &e, "no notify command");
	stop();
	free(expected);
	free(longest);
	free(path);
	buf_free(&b);
}
END_TEST

START_TEST(strays)
{
	struct seen s;
	uint64_t edit;

	BOTH_MODES();
	start_with(true, NULL);
	put_artifact(OLD, "many");
	edit = build_from(OLD);
	mark("stray", true);
	job(PRIV_VERIFY, edit, OLD, &s);
	ck_assert_int_eq(s.status, 0);
	soon(no_strays, "daemons outlive their job");
	stop();
}
END_TEST

static unsigned descriptors(pid_t pid)
{
	char *path = xasprintf("/proc/%d/fd", (int)pid);
	DIR *d = opendir(path);
	unsigned n = 0;

	while (d && readdir(d))
		n++;
	closedir(d);
	free(path);
	return n;
}

/* What an earlier morphd left when it was killed, jobs of other users too. */
static bool none_left(void)
{
	return !processes("sleep 64");
}

START_TEST(left_by_an_earlier_one)
{
	struct seen s;
	struct err e = {""};
	int i;

	BOTH_MODES();
	start_with(false, NULL);
	put_artifact(OLD, "left");
	ck_assert(begin_job(PRIV_BUILD, 0, OLD, &s, &e) != 0);
	for (i = 0; i < 100 && !processes("sleep 64"); i++)
		usleep(50000);
	ck_assert_int_eq(kill(server, SIGKILL), 0);
	stop();
	ck_assert_uint_eq(processes("sleep 64"), 1);
	start_with(false, NULL);
	soon(none_left, "a job of an earlier one runs on");
	soon(no_jobs, "job folders stay");
	stop();
}
END_TEST

static unsigned children(pid_t pid)
{
	char *path = xasprintf("/proc/%d/task/%d/children", (int)pid, (int)pid);
	struct buf text = {0};
	unsigned n = 0;
	size_t i;

	file_read(path, 0, &text, NULL);
	for (i = 0; i < text.n; i++)
		n += text.p[i] == ' ';
	buf_free(&text);
	free(path);
	return n;
}

static void leave_folder(int i)
{
	char *path = xasprintf("%s/jobs/%016d", state, i), *file = xasprintf("%s/f", path);

	ck_assert_int_eq(dir_make(path, 0755, NULL), 0);
	close(open(file, O_WRONLY | O_CREAT, 0644));
	if (sys)
		ck_assert_int_eq(chown(path, OWNER, OWNER), 0);
	free(file);
	free(path);
}

/* They are all emptied, and not all at once. */
START_TEST(many_folders_left)
{
	enum { MANY = 100, AT_ONCE = 8 };
	unsigned n, most = 0;
	int i;

	BOTH_MODES();
	for (i = 0; i < MANY; i++)
		leave_folder(i);
	start_with(false, NULL);
	for (i = 0; i < 20000 && !no_jobs(); i++) {
		n = children(server);
		most = n > most ? n : most;
		usleep(1000);
	}
	ck_assert(no_jobs());
	ck_assert_uint_le(most, AT_ONCE + 1); /* the manager */
	check_inspection(PRIV_FOLLOWED, "");
	stop();
}
END_TEST

/* A job that cannot be started leaves no group: none can be entered here. */
START_TEST(group_of_a_failed_start)
{
	struct seen s;
	char *groups;
	unsigned before, i;

	BOTH_MODES();
	groups = in_dir("groups");
	ck_assert_int_eq(mkdir(groups, 0755), 0);
	with.groups = groups;
	start_with(false, NULL);
	job(PRIV_BUILD, 0, OLD, &s);
	ck_assert_ptr_nonnull(strstr(s.why, "control group"));
	soon(no_jobs, "job folders stay");
	before = descriptors(server);
	for (i = 0; i < 5; i++)
		job(PRIV_BUILD, 0, OLD, &s);
	soon(no_jobs, "job folders stay");
	ck_assert_uint_le(descriptors(server), before);
	ck_assert_int_eq(rmdir(groups), 0);
	stop();
	free(groups);
}
END_TEST

/* Who may mount over the folder of their job keeps nobody waiting but that job. */
START_TEST(folder_mounted_over)
{
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char *path, *how;
	uint64_t edit, task;
	struct seen s;
	struct err e = {""};

	if (geteuid() || fuse < 0 || unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return;
	world(true);
	start_with(true, NULL);
	edit = build_from(OLD);
	path = job_folder();
	how = xasprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d", fuse, OWNER, OWNER);
	if (!mount("test", path, "fuse", MS_NOSUID | MS_NODEV, how)) {
		/* Nobody reads what is asked of it. */
		task = begin_job(PRIV_VERIFY, edit, OLD, &s, &e);
		ck_assert_msg(task != 0, "%s", e.text);
		check_inspection(PRIV_FOLLOWED, "");
		priv_drop(priv, task);
		close(fuse);
		umount2(path, MNT_DETACH);
	}
	priv_drop(priv, edit);
	stop();
	free(how);
	free(path);
}
END_TEST

START_TEST(two_jobs_a_user)
{
	struct seen s[3];
	struct err e = {""};
	uint64_t task[3];

	BOTH_MODES();
	start_with(false, NULL);
	put_artifact(OLD, "sleep");
	task[0] = begin_job(PRIV_BUILD, 0, OLD, &s[0], &e);
	task[1] = begin_job(PRIV_BUILD, 0, OLD, &s[1], &e);
	task[2] = begin_job(PRIV_BUILD, 0, OLD, &s[2], &e);
	ck_assert(task[0] && task[1] && !task[2]);
	ck_assert_ptr_nonnull(strstr(e.text, "under way"));
	priv_drop(priv, task[0]);
	priv_drop(priv, task[1]);
	soon(no_jobs, "job folders stay");
	stop();
}
END_TEST

/* An edit takes a place until it is dropped, and what was begun with it is over. */
START_TEST(two_edits_kept_of_a_user)
{
	struct seen s, other;
	struct err e = {""};
	uint64_t edit[2], verify;
	int i;

	BOTH_MODES();
	start_with(true, NULL);
	edit[0] = build_from(OLD);
	edit[1] = build_from(OLD);
	ck_assert_uint_eq(begin_job(PRIV_BUILD, 0, OLD, &s, &e), 0);
	ck_assert_ptr_nonnull(
	    strstr(e.text, "2 jobs of its owner's modules are under way or kept"));
	ck_assert_uint_eq(begin_job(PRIV_TABLE, 0, OLD, &s, &e), 0);
	/* One command of each at a time. */
	mark("wait", true);
	for (i = 0; i < 2; i++) {
		verify = begin_job(PRIV_VERIFY, edit[i], OLD, &s, &e);
		ck_assert_msg(verify != 0, "%s", e.text);
		refused(
		    begin_job(PRIV_VERIFY, edit[i], OLD, &other, &e), &e, "over this edit runs");
		ck_assert_int_eq(priv_signal(priv, verify, SIGKILL, &e), 0);
		await(&s);
	}
	mark("wait", false);
	job(PRIV_VERIFY, edit[0], OLD, &s);
	ck_assert_msg(!*s.why && !s.status, "%s, status %#x", s.why, s.status);
	priv_drop(priv, edit[0]);
	edit[0] = build_from(OLD);
	stop();
}
END_TEST

/* ---- requests of any form ---- */

static int ask_raw(struct buf *b, const int *fd, unsigned nfd)
{
	static struct frame f;
	uint32_t status;
	struct err e;

	if (frame_send(verbs, b, fd, nfd, &e) < 0 || frame_receive(verbs, &f, &e) <= 0)
		return -1000;
	buf_free(b);
	memcpy(&status, f.bytes + 4, sizeof status);
	frame_close_fds(&f);
	return (int)status;
}

START_TEST(malformed_requests)
{
	static const char *const paths[] = {
	    "", "prog", "./x", "/", "//x", "/a/../b", "/a/", "/a/."};
	int null = open("/dev/null", O_RDWR), three[3] = {null, null, null};
	struct priv_stamp stamp;
	struct seen s;
	struct err e;
	struct buf b;
	size_t i, verb;

	BOTH_MODES();
	start_with(false, NULL);
	for (verb = 0; verb < FRAME_VERBS + 5; verb++) {
		b = (struct buf){0};
		frame_u32(&b, (uint32_t)verb);
		/* Of one verb this is the whole form. */
		ck_assert_int_eq(ask_raw(&b, NULL, 0), verb == FRAME_RELOAD ? 0 : -1);
		b = (struct buf){0};
		frame_u32(&b, (uint32_t)verb);
		for (i = 0; i < 30; i++)
			frame_u64(&b, UINT64_MAX);
		ck_assert_int_eq(ask_raw(&b, NULL, 0), -1);
		b = (struct buf){0};
		frame_u32(&b, (uint32_t)verb);
		frame_u64(&b, 1);
		ck_assert_int_eq(ask_raw(&b, three, 3), -1);
	}
	for (i = 0; i < sizeof paths / sizeof *paths; i++) {
		ck_assert_int_eq(priv_stamp(priv, paths[i], &stamp), -1);
		ck_assert_int_eq(priv_swap_done(priv, paths[i], &e), -1);
		ck_assert_int_eq(priv_hold(priv, paths[i], true, &e), -1);
		ck_assert_uint_eq(
		    priv_rollback(priv, paths[i], &(struct build_id){.n = 1}, see_swap, &s, &e), 0);
		ck_assert_uint_eq(priv_inspect(priv, paths[i], (struct build_id[2]){{0}}, false,
				      see_inspection, &s, &e),
		    0);
	}
	ck_assert_uint_eq(entries("holds"), 0);
	check_inspection(PRIV_FOLLOWED, "");
	ck_assert_int_eq(stop(), 0);
	close(null);
}
END_TEST

static void send_too_many(int fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE((FRAME_FDS + 1) * sizeof fd)];
	} control = {.bytes = {0}};
	struct iovec io = {"\1\0\0\0", 4};
	struct msghdr m = {.msg_iov = &io,
	    .msg_iovlen = 1,
	    .msg_control = control.bytes,
	    .msg_controllen = sizeof control.bytes};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	size_t i;

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN((FRAME_FDS + 1) * sizeof fd);
	for (i = 0; i <= FRAME_FDS; i++)
		memcpy(CMSG_DATA(c) + i * sizeof fd, &fd, sizeof fd);
	ck_assert_int_eq(sendmsg(verbs, &m, 0), 4);
}

START_TEST(descriptors_that_nobody_wants)
{
	int null = open("/dev/null", O_RDWR), status;
	struct frame *f = xmalloc(sizeof *f);
	unsigned before, i;
	int pair[2];
	struct err e;
	struct buf b;

	world(false);
	/* Of a frame with more than there may be none stays open. */
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	verbs = pair[1];
	send_too_many(null);
	before = descriptors(getpid());
	ck_assert_int_eq(frame_receive(pair[0], f, &e), -1);
	ck_assert_uint_eq(descriptors(getpid()), before);
	start_with(false, NULL);
	check_inspection(PRIV_FOLLOWED, "");
	before = descriptors(server);
	for (i = 0; i < 100; i++) {
		b = (struct buf){0};
		frame_u32(&b, FRAME_STAMP);
		ck_assert_int_eq(ask_raw(&b, &null, 1), -1);
	}
	check_inspection(PRIV_FOLLOWED, "");
	/* What the last inspection held goes after its end was reported. */
	for (i = 0; i < 100 && descriptors(server) > before; i++)
		usleep(20000);
	ck_assert_uint_le(descriptors(server), before);
	send_too_many(null); /* who does that is no manager */
	ck_assert_int_eq(waitpid(server, &status, 0), server);
	close(null);
	free(f);
}
END_TEST

/* Who reads nothing cannot fill the parent, and too many requests are refused. */
START_TEST(deaf_manager)
{
	static const struct build_id none[2];
	enum { MANY = 5000 };
	struct seen *s = xcalloc(MANY, sizeof *s);
	unsigned i, n = 0, done;
	struct err e = {""};
	time_t begin;

	BOTH_MODES();
	start_with(false, NULL);
	for (i = 0; i < MANY; i++)
		n += priv_inspect(priv, "/nonexistent/x", none, false, see_inspection, &s[i], &e) !=
		     0;
	ck_assert_uint_ge(n, 100);
	ck_assert_uint_lt(n, MANY);
	ck_assert_ptr_nonnull(strstr(e.text, "refused: 128 tasks"));
	/* Once it hears again, it hears of all, and is served again. */
	begin = time(NULL);
	for (done = 0; done < n && time(NULL) - begin < 40; usleep(10000)) {
		priv_dispatch(priv);
		for (i = done = 0; i < MANY; i++)
			done += s[i].done;
	}
	ck_assert_uint_eq(done, n);
	check_inspection(PRIV_FOLLOWED, "");
	stop();
	free(s);
}
END_TEST

START_TEST(manager_that_reads_no_answers)
{
	struct buf b = {0};
	time_t begin = time(NULL);
	int i, status;

	world(false);
	start_with(false, NULL);
	frame_u32(&b, FRAME_CPU);
	frame_u64(&b, 1);
	for (i = 0; i < 100000 && send(verbs, b.p, b.n, MSG_NOSIGNAL) > 0; i++)
		;
	ck_assert_int_eq(waitpid(server, &status, 0), server);
	ck_assert_int_lt(time(NULL) - begin, 30);
	buf_free(&b);
}
END_TEST

/* Whoever else holds its end of the sockets. */
START_TEST(manager_that_died)
{
	int status;

	world(false);
	start_with(false, NULL);
	check_inspection(PRIV_FOLLOWED, "");
	close(alive[1]);
	ck_assert_int_eq(waitpid(server, &status, 0), server);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* ---- SIGKILL ---- */

/* As a manager of its own, since it dies with the parent. */
static void swap_under(const char *fault)
{
	struct seen s = {0};
	struct err e;
	pid_t pid = fork();
	int status;

	if (!pid) {
		/* Its words about that are not the test's. */
		dup2(open("/dev/null", O_WRONLY), 2);
		start_with(false, fault);
		if (priv_swap(priv, build_from(OLD), see_swap, &s, &e))
			await(&s);
		priv_swap_done(priv, module, &e);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status), "%s: the parent lives", fault);
}

static void see_outcome(const struct swap_outcome *o, void *arg)
{
	ck_assert_str_eq(o->module, module);
	*(int *)arg = (int)o->end;
}

START_TEST(killed_at_every_step)
{
	int step, end, now;
	char fault[24];
	struct err e;

	for (step = 1; step <= SWAP_STEPS; step++) {
		strcpy(dir + strlen(dir) - 6, "XXXXXX");
		BOTH_MODES();
		snprintf(fault, sizeof fault, "swap:%d", step);
		swap_under(fault);
		now = tiny_run(module);
		ck_assert_int_eq(now, step >= SWAP_STEP_RENAMED ? NEW : OLD);
		start_with(false, NULL);
		end = 0;
		ck_assert_int_eq(priv_recovered(priv, see_outcome, &end, &e), 0);
		ck_assert_int_eq(end, step == SWAP_STEP_DONE ? 0
				      : now == NEW           ? SWAP_FINISHED
							     : SWAP_UNDONE);
		ck_assert_int_eq(priv_swap_done(priv, module, &e), 0);
		end = 0;
		ck_assert_int_eq(priv_recovered(priv, see_outcome, &end, &e), 0);
		ck_assert_int_eq(end, 0);
		if (now == OLD)
			ck_assert_int_eq(swap(build_from(OLD)).status, SWAP_OK);
		check_inspection(PRIV_FOLLOWED, "");
		stop();
		teardown();
	}
}
END_TEST

int main(int argc, char **argv)
{
	self = argv[0];
	/* Without a search for leaks, which takes longer than all else of a test. */
	if (argc == 2)
		_exit(inspect(argv[1]));
	return UNIT_RUN("parent", 120, NULL, teardown, UNIT_LOOP(module_with_its_artifact, 2),
	    UNIT_LOOP(what_is_not_followed, 2), UNIT_LOOP(held_up, 2),
	    UNIT_LOOP(artifact_from_a_server, 2), UNIT_LOOP(no_artifact_from_a_server, 12),
	    UNIT_LOOP(lifted, 2), UNIT_LOOP(lifted_from_a_kept_original, 2),
	    UNIT_LOOP(not_lifted, 8), UNIT_LOOP(policy_read_again, 2),
	    UNIT_LOOP(list_of_functions, 2), UNIT_LOOP(build_verify_swap_done, 2),
	    UNIT_LOOP(swaps_that_are_refused, 2), UNIT_LOOP(outputs_that_are_refused, 2),
	    UNIT_LOOP(output_replaced_after_the_edit, 2),
	    UNIT_LOOP(module_replaced_after_the_edit, 2), UNIT_LOOP(rebuild_is_not_rolled_back, 2),
	    UNIT_LOOP(signals, 2), UNIT_LOOP(too_much_disk, 2), UNIT_LOOP(builds_are_measured, 2),
	    UNIT_LOOP(services_are_counted, 2), UNIT_LOOP(the_operator_hears, 2),
	    UNIT_LOOP(strays, 2), UNIT_LOOP(two_jobs_a_user, 2),
	    UNIT_LOOP(two_edits_kept_of_a_user, 2), UNIT_LOOP(nothing_in_the_home, 2),
	    UNIT_LOOP(environment_of_an_editor, 2), UNIT_LOOP(left_by_an_earlier_one, 2),
	    UNIT_LOOP(many_folders_left, 2), UNIT_LOOP(group_of_a_failed_start, 2),
	    UNIT_LOOP(malformed_requests, 2), UNIT_LOOP(deaf_manager, 2),
	    UNIT_LOOP(killed_at_every_step, 2), inspector_has_a_deadline,
	    descriptors_that_nobody_wants, manager_that_reads_no_answers, manager_that_died,
	    modules_of_our_own_users, folder_mounted_over);
}
