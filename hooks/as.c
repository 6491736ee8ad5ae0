/*
 * The as hook: what the compiler driver runs as `as` under -B. Compiler output
 * gets a label at every block, the block map and, in excluded sections, its
 * own text; the real assembler then makes the object. Anything else, and
 * anything that goes wrong, goes to the real assembler as it came.
 */
#include "common/command/asopt.h"
#include "common/elf/elf.h"
#include "common/hash.h"
#include "common/hooklog.h"
#include "common/elf/ifsec.h"
#include "common/log.h"
#include "common/publish.h"
#include "editor/unit.h"
#include "hooks/ascmd.h"
#include "hooks/functions.h"
#include "hooks/paths.h"
#include "hooks/probe.h"
#include "hooks/sdt.h"
#include "hooks/clangtext.h"
#include "hooks/source.h"
#include "hooks/checksum.h"
#include "hooks/tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ANNOTATE_SECONDS = 120 };

struct job {
	char *real;  /* the real assembler */
	char **argv; /* as we were called */
	struct ascmd cmd;
	char *output;    /* absolute, NULL = not known */
	char *subject;   /* for the log: the output, of the driver's own files the source */
	struct buf text; /* ends in a NUL */
	struct buf unit; /* what is annotated: the same, or with its probes written out */
	int annotated, iform, said; /* files in memory */
};

/* Clang was asked for text only because of the hooks; without them it would
 * have assembled by itself, and takes what GNU as does not. */
static void run_clang(struct job *j, const char *clang)
{
	struct args arg = {0};
	size_t i;

	args_add(&arg, clang);
	args_add(&arg, "-fintegrated-as");
	args_add(&arg, "-c");
	for (i = 0; i < j->cmd.kept.n; i++)
		if (strcmp(j->cmd.kept.v[i], "--64"))
			args_take(&arg, xasprintf("-Wa,%s", j->cmd.kept.v[i]));
	for (i = 0; i < j->cmd.search.n; i++)
		args_add(&arg, j->cmd.search.v[i]);
	args_add(&arg, "-o");
	args_add(&arg, j->cmd.output);
	args_add(&arg, "-xassembler");
	args_add(&arg, j->cmd.input ? j->cmd.input : "-");
	tool_become(clang, args_end(&arg));
}

/* The source, absolute where it is there. */
static char *source_of(struct job *j)
{
	char *name, *path;

	if (!j->text.n && j->cmd.input)
		(void)file_read(j->cmd.input, 0, &j->text, NULL);
	name = source_in_text(j->text.p, j->text.n);
	path = name ? source_path(name) : NULL;
	free(name);
	return path;
}

/* What the log calls this object. */
static const char *subject(struct job *j)
{
	if (!j->subject && j->output && source_is_temporary(j->output))
		j->subject = source_of(j);
	return j->subject ? j->subject : j->output;
}

/* Where anything is doubtful. What standard input held is handed on. */
static _Noreturn void run_unmodified(struct job *j)
{
	const char *clang = getenv("MORPH_CLANG");
	bool by_clang = clang && *clang && j->cmd.output && !j->cmd.why;
	struct buf other = {0};
	int fd;

	if (by_clang && clangtext_make(&j->text, &other)) {
		j->text = other;
		j->cmd.input = NULL;
	}
	if (j->text.p && !j->cmd.input) {
		fd = tool_memory_file("as-input");
		if (fd < 0 || file_write_all(fd, j->text.p, j->text.n) < 0 ||
		    lseek(fd, 0, SEEK_SET) < 0 || dup2(fd, STDIN_FILENO) < 0)
			die(1, "standard input: %s", strerror(errno));
		close(fd);
	}
	if (by_clang)
		run_clang(j, clang);
	j->argv[0] = j->real;
	tool_become(j->real, j->argv);
}

static _Noreturn void give_up(struct job *j, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static _Noreturn void give_up(struct job *j, const char *fmt, ...)
{
	char why[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	hooklog("as", subject(j), "%s", why);
	run_unmodified(j);
}

static int read_stdin(struct buf *out)
{
	enum { STEP = 1 << 16 };
	ssize_t r;

	do {
		r = read(STDIN_FILENO, buf_grow(out, STEP), STEP);
		out->n -= STEP - (r > 0 ? (size_t)r : 0);
	} while (r > 0 || (r < 0 && errno == EINTR));
	return r < 0 ? -1 : 0;
}

static bool contains(const struct buf *text, const char *s)
{
	return text->n && memmem(text->p, text->n, s, strlen(s));
}

/* Whether a word occurs in the text elsewhere than in a string or comment. */
static bool directs(const struct buf *text, const char *word)
{
	const char *p = text->p, *end = text->p + text->n, *line;

	for (; (p = memmem(p, (size_t)(end - p), word, strlen(word))); p++) {
		line = memrchr(text->p, '\n', (size_t)(p - text->p));
		line = line ? line + 1 : text->p;
		line += strspn(line, " \t");
		if (*line != '#' && strncmp(line, ".string", 7) && strncmp(line, ".asci", 5))
			return true;
	}
	return false;
}

/* NULL, or what speaks against annotating this text before it is parsed. */
static const char *foreign_text(struct job *j)
{
	if (as_text_check(j->text.p, j->text.n, NULL) == 0)
		j->unit = j->text;
	else if (!sdt_expand(&j->text, &j->unit) || as_text_check(j->unit.p, j->unit.n, NULL))
		return "might take in another file (.incbin, .include, .macro, .irp)";
	/* as makes line numbers of its own only where the compiler made none. */
	if (j->cmd.debug && !contains(&j->text, "\t.loc ") && !contains(&j->text, ".debug_info"))
		return "line numbers made by as";
	return NULL;
}

static bool is_probe(const struct job *j)
{
	char *source = source_in_text(j->text.p, j->text.n);
	bool is = probe_output(j->output) || (source && probe_source(source));

	free(source);
	if (is)
		hooklog_first(HOOKLOG_PROBE);
	return is;
}

/* The compile stage of LTO: the code that is linked is made at the link. */
static bool is_lto(const struct job *j)
{
	return directs(&j->text, ".gnu.lto_");
}

/* In the shield. Fills both files in memory. */
static int annotate(void *arg)
{
	struct hash128 hash;
	struct job *j = arg;
	struct arena a = {0};
	struct buf out = {0}, section = {0}, funcs = {0};
	struct unit *u;
	struct err e;
	char *args;

	u = unit_parse_code(&a, j->unit.p, j->unit.n, &e);
	if (!u) {
		hooklog("as", subject(j), "not annotated: %s", e.text);
		return -1;
	}
	hash = hash_bytes(j->unit.p, j->unit.n);
	unit_emit(u, NULL, hash_short(&hash), &out);
	buf_printf(&out,
	    "\n\t.section " IFSEC_NAME ",\"e\",@progbits\n"
	    "\t.incbin \"/proc/self/fd/%d\"\n"
	    "\t.section " CHECKSUM_SECTION ",\"e\",@progbits\n\t.zero 16\n",
	    j->iform);
	args = args_join(&j->cmd.kept, '\n');
	functions_put(&funcs, u);
	ifsec_put(&section, args, &funcs, j->unit.p, j->unit.n);
	return file_write_all(j->annotated, out.p, out.n) < 0 ||
	       file_write_all(j->iform, section.p, section.n) < 0;
}

/* The command of the real assembler for the annotated text. */
static char **real_command(struct job *j)
{
	static struct args arg;
	size_t i;

	args_add(&arg, j->real);
	for (i = 0; i < j->cmd.kept.n; i++)
		args_add(&arg, j->cmd.kept.v[i]);
	for (i = 0; i < j->cmd.search.n; i++)
		args_add(&arg, j->cmd.search.v[i]);
	args_add(&arg, "-o");
	args_add(&arg, j->cmd.output);
	return args_end(&arg);
}

/* What as had to say, of line numbers that nobody knows. */
static const char *read_said(struct job *j, struct buf *out)
{
	enum { SAID_MAX = 400 };
	off_t n = lseek(j->said, 0, SEEK_END);

	if (n > 0 && pread(j->said, buf_grow(out, SAID_MAX), SAID_MAX, 0) > 0)
		out->n = n < SAID_MAX ? (size_t)n : SAID_MAX;
	else
		out->n = 0;
	return buf_cstr(out);
}

/* Makes the user's own messages: the unmodified command, object thrown away. */
static void repeat_messages(struct job *j, const struct args *arg)
{
	struct args a = {0};
	bool output = false;
	struct job again = *j;
	size_t i;

	for (i = 0; i < arg->n; i++) {
		if (output || !strncmp(arg->v[i], "-o", 2))
			args_add(&a, output ? "/dev/null" : arg->v[i][2] ? "-o/dev/null" : "-o");
		else
			args_add(&a, arg->v[i]);
		output = !output && !strcmp(arg->v[i], "-o");
	}
	again.argv = xcalloc(a.n + 2, sizeof *again.argv);
	again.cmd.output = "/dev/null";
	memcpy(again.argv + 1, args_end(&a), (a.n + 1) * sizeof *a.v);
	run_unmodified(&again);
}

static bool regular_or_absent(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 || S_ISREG(st.st_mode);
}

int main(int argc, char **argv)
{
	static struct job j;
	static struct args arg;
	static struct buf said;
	const char *why;
	struct err e;
	int r, status;

	tool_keep_memory();
	log_init("as", LOG_LVL_INFO);
	j.argv = argv;
	j.real = tool_find("as", "MORPH_REAL_AS", NULL);
	if (!j.real)
		die(127, "morph: no real as in PATH; set MORPH_REAL_AS");
	if (args_expand(&arg, argc, argv, &e) < 0)
		give_up(&j, "%s", e.text);
	ascmd_read(&j.cmd, &arg);
	j.output = j.cmd.output ? path_of_file(j.cmd.output) : NULL;
	if (j.cmd.why && (j.cmd.silent || (j.output && probe_output(j.output))))
		run_unmodified(&j);
	if (j.cmd.why)
		give_up(&j, "not annotated: as was given %s%s%s%s", j.cmd.why,
		    j.cmd.because ? " (" : "", j.cmd.because ? j.cmd.because : "",
		    j.cmd.because ? ")" : "");
	if (!regular_or_absent(j.output))
		run_unmodified(&j);
	if ((j.cmd.input ? file_read(j.cmd.input, 0, &j.text, &e) : read_stdin(&j.text)) < 0)
		give_up(&j, "not annotated: cannot read the input");
	buf_cstr(&j.text);
	if (is_probe(&j) || is_lto(&j))
		run_unmodified(&j);
	if ((why = foreign_text(&j)))
		give_up(&j, "not annotated: %s", why);
	if ((j.annotated = tool_memory_file("annotated")) < 0 ||
	    (j.iform = tool_memory_file("morph-if")) < 0 || (j.said = tool_memory_file("said")) < 0)
		give_up(&j, "not annotated: memfd_create: %s", strerror(errno));
	r = tool_shielded_then(
	    annotate, &j, ANNOTATE_SECONDS, j.real, real_command(&j), j.annotated, j.said, &status);
	if (r < 0)
		give_up(&j, "the annotator died");
	if (r > 0)
		run_unmodified(&j);
	read_said(&j, &said);
	if (status != 0)
		give_up(&j, "as refused the annotated text: %s", said.p);
	if (checksum_file(j.cmd.output, &e) < 0)
		hooklog("as", subject(&j), "no checksum: %s", e.text);
	else
		hooklog_object();
	if (said.n || j.cmd.verbose)
		repeat_messages(&j, &arg);
	return 0;
}
