/*
 * morph-report: profiles of Morph and of other tools as tables, and in other tools' formats.
 * morphctl becomes it; options and arguments are documented in morphctl(1).
 *
 *	morph-report report [OPTION]… INPUT [MODULE [FUNCTION]]
 *	morph-report annotate [OPTION]… INPUT MODULE FUNCTION
 *	morph-report export [OPTION]… FORMAT INPUT
 *	morph-report formats
 */
#include "common/log.h"
#include "common/publish.h"
#include "morphctl/report/child/child.h"
#include "morphctl/report/in/in.h"
#include "morphctl/report/out/out.h"
#include "morphctl/report/show/show.h"
#include "morphctl/report/symbols/symbols.h"

#include <getopt.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DONE, FAILED, USAGE };
enum { LIMIT = 30, LIMIT_CALLERS = 15 };

struct job {
	struct in_options in;
	struct out_options out;
	struct symbols_options symbols;
	struct breakdown_query query;
	struct show_options show;
	const char *event, *level, *output;
	bool callers;
	char **arg;
	int narg;
	struct recording r;
};

static int complain(const char *text)
{
	log_error("%s", text);
	return FAILED;
}

static int read_options(struct job *j, int argc, char **argv)
{
	enum { BY = 1, EVENT, CALLERS, LIMIT_ROWS, JSON, FROM, MODULE, OUTPUT, DEBUG };
	static const struct option option[] = {{"by", 1, NULL, BY}, {"event", 1, NULL, EVENT},
	    {"callers", 0, NULL, CALLERS}, {"limit", 1, NULL, LIMIT_ROWS}, {"json", 0, NULL, JSON},
	    {"from", 1, NULL, FROM}, {"module", 1, NULL, MODULE}, {"output", 1, NULL, OUTPUT},
	    {"debug", 1, NULL, DEBUG}, {0}};
	int c;

	while ((c = getopt_long(argc, argv, "", option, NULL)) != -1) {
		switch (c) {
		case BY:
			j->level = optarg;
			break;
		case EVENT:
			j->event = optarg;
			break;
		case CALLERS:
			j->callers = true;
			break;
		case LIMIT_ROWS:
			j->show.limit = strtoul(optarg, NULL, 10);
			break;
		case JSON:
			j->show.json = true;
			break;
		case FROM:
			j->in.format = optarg;
			break;
		case MODULE:
			j->in.module = j->out.module = optarg;
			break;
		case OUTPUT:
			j->output = optarg;
			break;
		case DEBUG:
			j->symbols.debug = optarg;
			break;
		default:
			return USAGE;
		}
	}
	j->arg = argv + optind;
	j->narg = argc - optind;
	return DONE;
}

/*
 * Root reads what a user wrote as that user, for good: what comes of it can do no more than the
 * user.
 */
static int read_input(struct job *j, const char *path)
{
	struct passwd *p;
	struct stat st;
	struct err e;

	if (!geteuid() && !stat(path, &st) && st.st_uid) {
		p = getpwuid(st.st_uid);
		if (child_become(st.st_uid, p ? p->pw_gid : st.st_gid, &e))
			return complain(e.text);
	}
	return in_read(&j->r, path, &j->in, &e) ? complain(e.text) : DONE;
}

/* ---- report ---- */

/* Without a level one below what is asked for. */
static int choose_level(struct job *j)
{
	static const char *const name[] = {"module", "function", "line", "address", "process"};
	size_t i;

	j->query.module = j->narg > 1 ? j->arg[1] : NULL;
	j->query.function = j->narg > 2 ? j->arg[2] : NULL;
	j->query.level = j->query.function ? BREAKDOWN_LINE
			 : j->query.module ? BREAKDOWN_FUNCTION
					   : BREAKDOWN_MODULE;
	for (i = 0; j->level && i < sizeof name / sizeof *name; i++) {
		if (strcmp(j->level, name[i]) == 0) {
			j->query.level = (enum breakdown_level)i;
			return DONE;
		}
	}
	if (j->level)
		log_error("--by %s: expected module, function, line, address or process", j->level);
	return j->level ? USAGE : DONE;
}

static int choose_event(struct job *j)
{
	uint32_t i;

	j->query.event = breakdown_event(&j->r);
	if (j->query.event == RECORDING_NONE)
		return complain("there are no samples");
	for (i = 0; j->event && i < j->r.event.n; i++) {
		if (strcmp(j->event, j->r.event.v[i].name) == 0) {
			j->query.event = i;
			return DONE;
		}
	}
	if (j->event)
		log_error("--event %s: there is none of this name", j->event);
	return j->event ? FAILED : DONE;
}

static bool has_chains(const struct recording *r)
{
	size_t i;

	for (i = 0; i < r->stack.n; i++)
		if (r->stack.v[i].caller != RECORDING_NONE)
			return true;
	return false;
}

static void show_callers(struct job *j)
{
	struct callgraph g = {0};

	if (has_chains(&j->r))
		callgraph_of_chains(&g, &j->r, j->query.event);
	else
		callgraph_of_calls(&g, &j->r, j->query.event);
	callgraph_end(&g);
	j->show.limit = j->show.limit ? j->show.limit : LIMIT_CALLERS;
	show_callgraph(stdout, &j->r, &g, j->r.event.v[j->query.event].unit, &j->show);
	callgraph_free(&g);
}

static int report(struct job *j)
{
	int rc;

	if (j->narg < 1 || j->narg > 3)
		return USAGE;
	rc = choose_level(j);
	if (rc)
		return rc;
	rc = read_input(j, j->arg[0]) ?: choose_event(j);
	if (rc)
		return rc;
	j->symbols.lines = j->query.level == BREAKDOWN_LINE;
	if (j->query.level != BREAKDOWN_MODULE || j->query.function || j->callers)
		symbols_resolve(&j->r, &j->symbols);
	j->show.whole = !isatty(STDOUT_FILENO);
	if (j->callers) {
		show_callers(j);
		return DONE;
	}
	j->show.limit = j->show.limit ? j->show.limit : LIMIT;
	show_breakdown(stdout, &j->r, &j->query, &j->show);
	return DONE;
}

/* ---- annotate ---- */

/* Its part that GCC moved away for being cold, too. */
static bool is_called(const struct recording_function *f, const char *name)
{
	size_t n = strlen(name);

	return strcmp(f->name, name) == 0 || strcmp(f->linkage, name) == 0 ||
	       (strncmp(f->linkage, name, n) == 0 && strcmp(f->linkage + n, ".cold") == 0);
}

/* Of the files of that name, which may be several builds, the one with most samples. */
static uint32_t choose_file(struct job *j, const char *module)
{
	struct breakdown b;
	uint32_t file = RECORDING_NONE;

	j->query.level = BREAKDOWN_MODULE;
	j->query.module = module;
	breakdown_make(&b, &j->r, &j->query);
	if (b.row.n)
		file = b.row.v[0].file;
	breakdown_free(&b);
	return file;
}

static int disassemble(struct job *j, uint32_t function, struct show_part *part)
{
	const struct recording_function *f = &j->r.function.v[function];
	struct symbols_insn *insn;
	struct err e;

	*part = (struct show_part){.function = function};
	if (symbols_disassemble(&j->r.file.v[f->file], f->start, f->start + f->size, &j->symbols,
		&j->r.mem, &insn, &part->n, &e))
		return complain(e.text);
	part->line = arena_array(&j->r.mem, part->n, sizeof *part->line);
	annotate_make(part->line, insn, part->n, &j->r, j->query.event, f->file);
	return DONE;
}

static int annotate(struct job *j)
{
	enum { PARTS = 16 };
	struct show_part part[PARTS];
	const struct recording_function *f;
	uint32_t file, i;
	size_t n = 0;
	int rc;

	if (j->narg != 3)
		return USAGE;
	rc = read_input(j, j->arg[0]) ?: choose_event(j);
	if (rc)
		return rc;
	file = choose_file(j, j->arg[1]);
	if (file == RECORDING_NONE)
		return complain(
		    arena_printf(&j->r.mem, "no samples are of a module %s", j->arg[1]));
	j->symbols.lines = true;
	symbols_resolve(&j->r, &j->symbols);
	for (i = 0; i < j->r.function.n && n < PARTS; i++) {
		f = &j->r.function.v[i];
		if (f->file != file || f->start == UINT64_MAX || !f->size ||
		    !is_called(f, j->arg[2]))
			continue;
		rc = disassemble(j, i, &part[n++]);
		if (rc)
			return rc;
	}
	if (!n)
		return complain(arena_printf(
		    &j->r.mem, "no samples are of a function %s in %s", j->arg[2], j->arg[1]));
	j->show.whole = !isatty(STDOUT_FILENO);
	show_annotated(stdout, &j->r, j->query.event, part, n, &j->show);
	return DONE;
}

/* ---- export ---- */

/* All of it, written to a descriptor. */
static int convert(struct job *j, int fd)
{
	struct buf out = {0};
	struct err e;
	int rc = read_input(j, j->arg[1]);

	if (rc)
		return rc;
	j->symbols.lines = true;
	if (out_needs_symbols(j->arg[0]))
		symbols_resolve(&j->r, &j->symbols);
	rc = out_write(&j->r, j->arg[0], &j->out, &out, &e);
	if (rc == 0 && file_write_all(fd, out.p, out.n))
		rc = err_sys(&e, "%s", j->output ? j->output : "standard output");
	buf_free(&out);
	return rc ? complain(e.text) : DONE;
}

/* Reading may have to become somebody else: a process of its own does it. */
static int export(struct job *j)
{
	struct publish p = {.fd = STDOUT_FILENO};
	int status = 0, rc;
	struct err e;
	pid_t pid;

	if (j->narg != 2)
		return USAGE;
	if (j->output && publish_open(&p, j->output, 0666, &e))
		return complain(e.text);
	pid = fork();
	if (!pid)
		_exit(convert(j, p.fd));
	rc = pid < 0 || waitpid(pid, &status, 0) < 0 ? FAILED : DONE;
	if (rc == DONE && status)
		rc = WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
	if (!j->output)
		return rc;
	if (rc)
		publish_abort(&p);
	else if (publish_commit(&p, &e))
		return complain(e.text);
	return rc;
}

/* ---- formats ---- */

static void list(const char *title, const char *(*name)(unsigned, const char **))
{
	const char *summary, *s;
	unsigned i;

	printf("%s:\n", title);
	for (i = 0; (s = name(i, &summary)); i++)
		printf("  %-15s %s\n", s, summary);
}

static int formats(struct job *j)
{
	list("Read (--input, --from)", in_format_name);
	list("Written (export FORMAT)", out_format_name);
	return DONE;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(struct job *);
	} verb[] = {
	    {"report", report}, {"annotate", annotate}, {"export", export}, {"formats", formats}};
	struct job j = {0};
	int rc = USAGE;
	size_t i;

	log_init("morphctl", LOG_LVL_INFO);
	for (i = 0; argc > 1 && i < sizeof verb / sizeof *verb; i++)
		if (strcmp(argv[1], verb[i].name) == 0)
			rc = read_options(&j, argc - 1, argv + 1) ?: verb[i].run(&j);
	recording_free(&j.r);
	if (fflush(stdout) || ferror(stdout))
		return complain("standard output: cannot write");
	return rc;
}
