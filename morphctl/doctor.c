#include "morphctl/doctor.h"
#include "common/command/driver.h"
#include "common/elf/elf.h"
#include "common/elf/ifsec.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/publish.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 64 << 20, VALUE_MAX = 4096, DEPTH_MAX = 8, FILES_MAX = 20000, SHOWN = 8 };

struct doctor {
	const char *folder;
	bool cmake, ninja, make, libtool;
	bool compiles_only;  /* CMake's compiler is launched hooked, its linker is not */
	bool by_path;        /* hooked only while as and ld are found in PATH */
	bool wrong;          /* something gets no artifact */
	char *clang_by_path; /* the last one, NULL = none */
	bool silent;         /* prints nothing */
	struct htab said;    /* lines, each once */
	size_t annotated, plain, late, without, with; /* late: GCC's of LTO, compiled at the link */
	size_t files;                                 /* looked at */
	VEC(char *) change;
};

/* ---- what is said ---- */

/* Whatever a file holds: one line, and nothing that a terminal obeys. */
static void say(struct doctor *d, const char *what, const char *value, const char *verdict)
{
	size_t room = 4 * strlen(value) + 1;
	char *line, *shown;
	bool fresh;

	if (d->silent)
		return;
	shown = xmalloc(room);
	log_escape(shown, room, value);
	line = xasprintf("%-14s %s%s%s", what, shown, *verdict ? ": " : "", verdict);
	htab_put_str(&d->said, line, &fresh);
	if (fresh)
		puts(line);
	free(line);
	free(shown);
}

static void change(struct doctor *d, const char *text)
{
	size_t i;

	for (i = 0; i < d->change.n; i++)
		if (!strcmp(d->change.v[i], text))
			return;
	vec_push(&d->change, xstrdup(text));
}

/* ---- compilers ---- */

struct word {
	const char *p;
	size_t n;
};

/* The next of the words of a command at *p; quotes and escapes are taken off the ends only. */
static bool next_word(const char **p, struct word *w)
{
	*p += strspn(*p, " \t'\";");
	w->p = *p;
	w->n = strcspn(*p, " \t'\";");
	*p += w->n;
	return w->n > 0;
}

static bool has_folder(const char *path, const char *name)
{
	char *part = xasprintf("/%s/", name);
	bool has = strstr(path, part) != NULL;

	free(part);
	return has;
}

bool doctor_passed_by(const char *path)
{
	char *real = realpath(path, NULL);
	bool is = strstr(path_base(real ? real : path), "clang") != NULL;

	free(real);
	return is;
}

/* The verdict on a compiler as it is called, without what comes before it. */
static const char *verdict_on(struct doctor *d, const char *cc)
{
	const char *name = path_base(cc);

	if (!driver_name(name)) {
		d->by_path = true;
		return "not known as a gcc or clang for this machine: hooked only where it finds "
		       "as "
		       "and ld in PATH";
	}
	if (*cc != '/')
		return "hooked by hooks run";
	if (has_folder(cc, "morph/compilers") || has_folder(cc, "morph/masquerade"))
		return "hooked";
	if (doctor_passed_by(cc)) {
		d->wrong = true;
		free(d->clang_by_path);
		d->clang_by_path = xstrdup(cc);
		return "NOT hooked: clang called by its path assembles by itself";
	}
	d->by_path = true;
	return "called by its path: hooked by hooks run where it finds as and ld in PATH, as "
	       "Debian's GCC does";
}

static bool is_morph_cc(const char *word)
{
	return !strcmp(path_base(word), "morph-cc");
}

static bool sends_away(const char *word)
{
	const char *name = path_base(word);

	return !strcmp(name, "distcc") || !strcmp(name, "icecc");
}

/* A command that compiles, from its first word on: launchers and a compiler. */
static void judge_command(struct doctor *d, const char *what, const char *command)
{
	const char *p = command, *verdict = NULL;
	struct word w;
	char *word;
	bool done = false, morph = false;

	while (!done && next_word(&p, &w)) {
		word = xasprintf("%.*s", (int)(w.n < VALUE_MAX ? w.n : VALUE_MAX), w.p);
		morph |= is_morph_cc(word);
		if (sends_away(word)) {
			say(d, "launcher", word,
			    "objects made on other machines are NOT annotated");
			d->wrong = true;
		}
		done = driver_name(path_base(word)) || *word == '-';
		if (*word != '-' && !is_morph_cc(word))
			verdict = morph ? "hooked (morph-cc)" : verdict_on(d, word);
		free(word);
	}
	if (verdict)
		say(d, what, command, verdict);
}

/* ---- flags ---- */

#define LTO "link-time optimisation: no artifact by clang, nor by GCC for static programs"
#define ICF "no artifact: identical code is folded"

static const struct {
	const char *flag; /* one that ends in '=' or '-' begins a word */
	const char *why, *change;
	bool depends; /* on what is not looked at here */
} flags[] = {
    {"-flto", LTO, NULL, true},
    {"-flto=", LTO, NULL, true},
    {"-Wl,--icf=all", ICF, "link without --icf"},
    {"-Wl,--icf=safe", ICF, "link without --icf"},
    {"-masm=intel", "units are kept as objects: Intel syntax", "compile without -masm=intel"},
    {"-m32", "no artifact: 32-bit code", NULL},
    {"-mx32", "no artifact: 32-bit addresses", NULL},
    {"-Wa,-mbranches-within-32B-boundaries",
	"units are kept as objects: as pads jumps by where they lie",
	"compile without -mbranches-within-32B-boundaries"},
    {"-fno-ident", "units look hand-written and are kept as objects", "compile without -fno-ident"},
    {"-fintegrated-as", "clang assembles by itself", "compile without -fintegrated-as"},
    {"-integrated-as", "clang assembles by itself", "compile without -integrated-as"},
};

static void judge_flag(struct doctor *d, const struct word *w)
{
	size_t i, n;
	char *s;

	for (i = 0; i < sizeof flags / sizeof *flags; i++) {
		n = strlen(flags[i].flag);
		if (w->n < n || memcmp(w->p, flags[i].flag, n) != 0 ||
		    (w->n > n && !strchr("=x", flags[i].flag[n - 1])))
			continue;
		s = xasprintf("%.*s", (int)(w->n < VALUE_MAX ? w->n : VALUE_MAX), w->p);
		say(d, "flag", s, flags[i].why);
		if (flags[i].change)
			change(d, flags[i].change);
		d->wrong = d->wrong || !flags[i].depends;
		free(s);
	}
}

static void judge_flags(struct doctor *d, const char *line)
{
	struct word w;

	while (next_word(&line, &w))
		if (*w.p == '-')
			judge_flag(d, &w);
}

/* ---- files of build systems ---- */

/* Calls fn with each line of a file, NUL-terminated and without its end; false: not there. */
static bool each_line(
    struct doctor *d, const char *name, void (*fn)(struct doctor *, char *line, void *), void *arg)
{
	char *path = xasprintf("%s/%s", d->folder, name), *line, *end;
	struct buf text = {0};
	bool there = file_read(path, FILE_MAX, &text, NULL) == 0;

	for (line = there ? buf_cstr(&text) : NULL; line; line = end ? end + 1 : NULL) {
		if ((end = strchr(line, '\n')))
			*end = '\0';
		fn(d, line, arg);
	}
	buf_free(&text);
	free(path);
	return there;
}

static const char *const cmake_language[] = {"C", "CXX", "Fortran"};
enum { LANGUAGES = 3 };

struct cmake {
	char *compiler[LANGUAGES], *compile[LANGUAGES], *link[LANGUAGES]; /* values */
};

static void keep(char **slot, const char *value)
{
	free(*slot);
	*slot = xstrdup(value);
}

/* NAME:TYPE=VALUE */
static void cmake_line(struct doctor *d, char *line, void *arg)
{
	char *colon = strchr(line, ':'), *value = colon ? strchr(colon, '=') : NULL, name[64];
	struct cmake *c = arg;
	int i;

	if (!value++ || strncmp(line, "CMAKE_", 6))
		return;
	*colon = '\0';
	for (i = 0; i < LANGUAGES; i++) {
		snprintf(name, sizeof name, "CMAKE_%s_COMPILER", cmake_language[i]);
		if (!strcmp(line, name))
			keep(&c->compiler[i], value);
		snprintf(name, sizeof name, "CMAKE_%s_COMPILER_LAUNCHER", cmake_language[i]);
		if (!strcmp(line, name))
			keep(&c->compile[i], value);
		snprintf(name, sizeof name, "CMAKE_%s_LINKER_LAUNCHER", cmake_language[i]);
		if (!strcmp(line, name))
			keep(&c->link[i], value);
	}
	if (strstr(line, "FLAGS") && !strstr(line, "-ADVANCED"))
		judge_flags(d, value);
	if (!strcmp(line, "CMAKE_INTERPROCEDURAL_OPTIMIZATION") && !strcmp(value, "ON"))
		judge_flags(d, "-flto");
}

/* A list of CMake's, as words. */
static char *with_launcher(const char *launcher, const char *compiler)
{
	char *s = xasprintf("%s%s%s", launcher ? launcher : "", launcher ? " " : "", compiler), *p;

	for (p = s; (p = strchr(p, ';')); p++)
		*p = ' ';
	return s;
}

static void judge_cmake(struct doctor *d, const struct cmake *c)
{
	bool morph, ours;
	char *command;
	int i;

	for (i = 0; i < LANGUAGES; i++) {
		if (!c->compiler[i])
			continue;
		command = with_launcher(c->compile[i], c->compiler[i]);
		judge_command(d, cmake_language[i], command);
		ours = has_folder(c->compiler[i], "morph/compilers") ||
		       has_folder(c->compiler[i], "morph/masquerade");
		morph = c->compile[i] && strstr(c->compile[i], "morph-cc");
		if (morph && !ours && !(c->link[i] && strstr(c->link[i], "morph-cc"))) {
			d->compiles_only = d->wrong = true;
			say(d, "links", c->compiler[i],
			    "NOT hooked: CMAKE_*_LINKER_LAUNCHER is not morph-cc, so that nothing "
			    "gets an artifact outside of hooks run");
		}
		free(command);
	}
}

static void read_cmake(struct doctor *d)
{
	struct cmake c = {0};
	int i;

	d->cmake = each_line(d, "CMakeCache.txt", cmake_line, &c);
	judge_cmake(d, &c);
	for (i = 0; i < LANGUAGES; i++) {
		free(c.compiler[i]);
		free(c.compile[i]);
		free(c.link[i]);
	}
}

static bool names_compiler(const char *command)
{
	struct word w;
	char *word;
	bool names = false;
	int i;

	for (i = 0; i < 6 && !names && next_word(&command, &w) && *w.p != '-'; i++) {
		word = xasprintf("%.*s", (int)(w.n < VALUE_MAX ? w.n : VALUE_MAX), w.p);
		names = driver_name(path_base(word));
		free(word);
	}
	return names;
}

/* The words up to the first that is an option or a variable. */
static void cut_to_compiler(char *command)
{
	char *p = command;

	for (; *p; p++)
		if ((p == command || strchr(" \t", p[-1])) && (*p == '-' || *p == '$')) {
			while (p > command && strchr(" \t", p[-1]))
				p--;
			*p = '\0';
			return;
		}
}

static void ninja_line(struct doctor *d, char *line, void *arg)
{
	static const char command[] = "command = ";
	char *p = line + strspn(line, " ");

	if (p == line)
		return;
	judge_flags(d, p);
	if (d->cmake || strncmp(p, command, sizeof command - 1))
		return;
	p += sizeof command - 1;
	if (names_compiler(p)) {
		cut_to_compiler(p);
		judge_command(d, "command", p);
	}
}

/* NAME = VALUE, with =, :=, ::= and ?= */
static void make_line(struct doctor *d, char *line, void *arg)
{
	static const char *const name[] = {"CC", "CXX", "FC", "F77", "LD"};
	size_t n = strcspn(line, " \t:?+="), i;
	char *value = line + n + strspn(line + n, " \t:?+");
	bool *sets_cc = arg;

	if (*line == '#' || *line == '\t' || !n || *value != '=')
		return;
	value += 1 + strspn(value + 1, " \t");
	if (memmem(line, n, "FLAGS", 5) || memmem(line, n, "OPT", 3))
		judge_flags(d, value);
	for (i = 0; i < sizeof name / sizeof *name; i++) {
		if (strlen(name[i]) != n || memcmp(line, name[i], n) || !*value || *value == '$')
			continue;
		judge_flags(d, value);
		if (!i)
			*sets_cc = true;
		if (i < 4)
			judge_command(d, name[i], value);
		else
			say(d, "LD", value, "");
	}
}

static void read_make(struct doctor *d)
{
	static const char *const name[] = {"GNUmakefile", "makefile", "Makefile", "config.mk"};
	bool sets_cc = false;
	size_t i;

	for (i = 0; i < sizeof name / sizeof *name; i++)
		d->make |= each_line(d, name[i], make_line, &sets_cc);
	if (d->make && !sets_cc && !d->cmake && !d->ninja)
		judge_command(d, "CC", "cc");
}

/* ---- what is built already ---- */

static bool annotated(struct elf *f)
{
	struct elf_section s;

	return elf_file_section(f, IFSEC_NAME, &s, NULL) > 0;
}

static int of_lto(const struct elf_section *s, void *arg)
{
	static const char begin[] = ".gnu.lto_";

	return !strncmp(s->name, begin, sizeof begin - 1);
}

static size_t *kind_of_object(struct doctor *d, struct elf *f)
{
	if (annotated(f))
		return &d->annotated;
	return elf_file_sections(f, of_lto, NULL) > 0 ? &d->late : &d->plain;
}

static void look_at_program(struct doctor *d, const char *path)
{
	char *morph = xasprintf("%s.morph", path);

	if (access(morph, F_OK) == 0)
		d->with++;
	else if (++d->without <= SHOWN)
		say(d, "program", path, "has no artifact beside it");
	free(morph);
}

static void look_at_file(struct doctor *d, const char *path)
{
	struct elf *f = elf_file_open(path, -1, NULL);
	const char *base = path_base(path);
	enum elf_kind kind;

	if (!f)
		return;
	kind = elf_file_kind(f);
	if (kind == ELF_OBJECT && strlen(base) > 2 && !strcmp(base + strlen(base) - 2, ".o"))
		++*kind_of_object(d, f);
	else if (kind == ELF_EXEC || kind == ELF_PIE || kind == ELF_SHARED)
		look_at_program(d, path);
	elf_file_close(f);
}

static void look_below(struct doctor *d, const char *folder, int depth)
{
	DIR *dir = opendir(folder);
	struct dirent *x;
	struct stat st;
	char *path;

	while (dir && d->files < FILES_MAX && (x = readdir(dir))) {
		if (!strcmp(x->d_name, ".") || !strcmp(x->d_name, "..") ||
		    !strcmp(x->d_name, ".git") || !strncmp(x->d_name, "CompilerId", 10) ||
		    !strncmp(x->d_name, "CMakeDetermineCompilerABI", 25) ||
		    !strcmp(x->d_name, "meson-private"))
			continue;
		d->files++;
		path = xasprintf("%s/%s", folder, x->d_name);
		if (lstat(path, &st) < 0)
			;
		else if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
			look_below(d, path, depth + 1);
		else if (S_ISREG(st.st_mode))
			look_at_file(d, path);
		free(path);
	}
	if (dir)
		closedir(dir);
}

static void judge_built(struct doctor *d)
{
	look_below(d, d->folder, 0);
	if (d->plain + d->annotated) {
		printf("%-14s %zu came through the hooks, %zu did not\n", "objects", d->annotated,
		    d->plain);
		d->wrong |= d->plain > 0;
	}
	if (d->late)
		printf("%-14s %zu of link-time optimisation, which GCC compiles at the link\n",
		    "objects", d->late);
	if (d->with + d->without)
		printf("%-14s %zu with an artifact beside them, %zu without\n", "programs", d->with,
		    d->without);
	if (d->plain)
		change(d, d->cmake || d->ninja
			      ? "build from clean: ninja -t clean, or cmake --build "
				"FOLDER --clean-first, under morphctl hooks run"
			      : "build from clean: make clean; morphctl hooks run -- "
				"make");
}

/* ---- all of it ---- */

static void prescribe(struct doctor *d)
{
	if (d->clang_by_path && d->cmake)
		change(
		    d, "morphctl hooks cmake >morph.cmake; cmake -C morph.cmake -S SOURCE -B NEW");
	else if (d->clang_by_path)
		change(d, "name the compiler without a folder, and configure again under morphctl "
			  "hooks run");
	if (d->compiles_only)
		change(d, "cmake -DCMAKE_C_LINKER_LAUNCHER=morph-cc "
			  "-DCMAKE_CXX_LINKER_LAUNCHER=morph-cc FOLDER");
	if (d->libtool)
		change(
		    d, "morphctl hooks run -- make install: libtool may link libraries again then");
}

static void print_changes(struct doctor *d)
{
	size_t i;

	for (i = 0; i < d->change.n; i++)
		printf("%s  %s\n", i ? "" : "to change:\n", d->change.v[i]);
	if (!d->wrong)
		puts("nothing stands in the way: morphctl hooks run -- the build");
}

static void read_build(struct doctor *d)
{
	char *libtool = xasprintf("%s/libtool", d->folder);

	read_cmake(d);
	d->ninja = each_line(d, "build.ninja", ninja_line, NULL);
	read_make(d);
	d->libtool = access(libtool, F_OK) == 0;
	free(libtool);
}

static void free_doctor(struct doctor *d)
{
	size_t i;

	for (i = 0; i < d->change.n; i++)
		free(d->change.v[i]);
	vec_free(&d->change);
	htab_free(&d->said);
	free(d->clang_by_path);
}

int doctor(const char *folder)
{
	struct doctor d = {.folder = folder};

	read_build(&d);
	if (d.cmake || d.ninja || d.make) {
		judge_built(&d);
		prescribe(&d);
		print_changes(&d);
	} else {
		log_error(
		    "%s: neither CMakeCache.txt nor build.ninja nor a makefile there", folder);
		d.wrong = true;
	}
	free_doctor(&d);
	return d.wrong;
}

char *doctor_unhooked(const char *folder)
{
	struct doctor d = {.folder = folder, .silent = true};
	char *compiler;

	read_build(&d);
	compiler = d.clang_by_path;
	d.clang_by_path = NULL;
	free_doctor(&d);
	return compiler;
}
