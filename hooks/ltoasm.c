#include "hooks/ltoasm.h"
#include "common/command/ldopt.h"
#include "common/hash.h"
#include "common/places.h"
#include "common/publish.h"
#include "common/spawn.h"
#include "hooks/archive.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is being made. LLVM names its files after the output, NAME: up to LLVM 16, and in its
 * plugin, NAME, NAME1, NAME2, …; later NAME.lto.s, and of thin LTO, beside the bitcode,
 * NAME.lto.STEM.s or NAME.lto.ARCHIVE(MEMBER at OFFSET).s. */
struct work {
	struct ltoasm *l;
	const char *name;
	struct args trace;   /* the files that lld read, in order */
	struct args found;   /* texts of the first step */
	struct args text;    /* these in the order of a link */
	struct args object;  /* of each of text */
	struct htab archive; /* whose members were looked at */
	struct htab bitcode; /* "ARCHIVE(MEMBER)" of those that are */
	bool placed;
};

enum content { CONTENT_OTHER, CONTENT_BITCODE, CONTENT_MIXED };

static bool is_bitcode(const void *p, size_t n)
{
	return n >= 4 && (!memcmp(p, "BC\xc0\xde", 4) || !memcmp(p, "\xde\xc0\x17\x0b", 4));
}

static bool starts(const char *path, bool (*as)(const void *p, size_t n))
{
	char head[8];
	int fd = file_open(path, NULL);
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head);

	fd_close(&fd);
	return n > 0 && as(head, (size_t)n);
}

static bool member_is_bitcode(
    const char *path, const struct archive *ar, const struct archive_member *m, const char *bytes)
{
	char *dir, *file;
	bool is;

	if (!ar->thin)
		return is_bitcode(bytes + m->at, m->size);
	dir = path_dir(path);
	file = *m->name == '/' ? xstrdup(m->name) : xasprintf("%s/%s", dir, m->name);
	is = starts(file, is_bitcode);
	free(file);
	free(dir);
	return is;
}

/* What the members of an archive are. */
static enum content look_into(struct work *w, const char *path)
{
	struct arena mem = {0};
	struct archive ar = {0};
	struct buf b = {0};
	size_t i, count = 0;
	enum content is;
	char *key;

	htab_put_str(&w->archive, path, NULL);
	if (file_read(path, 0, &b, NULL) < 0 || archive_read(&ar, &mem, b.p, b.n, path, NULL) < 0)
		ar = (struct archive){0};
	for (i = 0; i < ar.member.n; i++) {
		if (!member_is_bitcode(path, &ar, &ar.member.v[i], b.p))
			continue;
		key = xasprintf("%s(%s)", path, path_base(ar.member.v[i].name));
		htab_put_str(&w->bitcode, key, NULL);
		free(key);
		count++;
	}
	is = !count ? CONTENT_OTHER : count == ar.member.n ? CONTENT_BITCODE : CONTENT_MIXED;
	archive_free(&ar);
	arena_free(&mem);
	buf_free(&b);
	return is;
}

/* Where the archive's name ends in "ARCHIVE(MEMBER)", NULL = it is none. */
static const char *member_part(const char *file)
{
	size_t n = strlen(file);

	return n && file[n - 1] == ')' ? strrchr(file, '(') : NULL;
}

/* Is it "ARCHIVE(MEMBER)" of machine code? */
static bool machine_member(struct work *w, const char *file)
{
	const char *open = member_part(file);
	char *archive;

	if (!open)
		return false;
	archive = xasprintf("%.*s", (int)(open - file), file);
	if (!htab_get_str(&w->archive, archive))
		look_into(w, archive);
	free(archive);
	return !htab_get_str(&w->bitcode, file);
}

/* ---- what cannot be done so ---- */

/* Of LLVM's options those for which it writes other files than its objects, or only these. */
static const char *side_output(const char *option)
{
	static const char *const word[] = {"emit-", "obj-path", "thinlto-index-only", "-replace",
	    "save-temps", "dwo_dir", "disable-output"};
	size_t i;

	for (i = 0; option && i < sizeof word / sizeof *word; i++)
		if (strstr(option, word[i]))
			return option;
	return NULL;
}

static int check_options(const struct ltoasm *l, struct err *e)
{
	struct ldopt o;
	size_t i = 0;

	while (ldopt_next(l->linker, (const char *const *)l->arg->v, l->arg->n, &i, &o))
		if (o.kind == LDOPT_UNKNOWN || o.kind == LDOPT_REFUSED ||
		    ldopt_is(&o, "exclude-libs") ||
		    (ldopt_is(&o, "plugin-opt") && side_output(o.value)))
			return err_set(e, "clang's LTO with %s", l->arg->v[o.first]);
	return 0;
}

/* ---- the first step ---- */

static char *in_folder(const struct ltoasm *l, const char *name)
{
	return xasprintf("%s/%s", l->folder, name);
}

static void read_lines(struct args *out, char *text)
{
	char *line, *save = NULL;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		args_add(out, line);
}

static void read_resolution(struct work *w, const char *path)
{
	struct buf b = {0};

	if (file_read(path, 0, &b, NULL) == 0 && w->l->linker == LINKER_LLD)
		linkmap_read_extracted(&w->l->resolved, b.p, b.n);
	else if (b.n)
		linkmap_read(&w->l->resolved, b.p, b.n);
	buf_free(&b);
}

static int optimise(struct work *w, struct err *e)
{
	struct ltoasm *l = w->l;
	char *map = in_folder(l, "resolution"), *output = in_folder(l, w->name);
	bool lld = l->linker == LINKER_LLD;
	struct buf out = {0};
	struct args arg = {0};
	size_t i;
	int status;

	args_add(&arg, l->real);
	for (i = 0; i < l->arg->n; i++)
		args_add(&arg, l->arg->v[i]);
	args_add(&arg, lld ? "--lto-emit-asm" : "-plugin-opt=emit-asm");
	if (lld) {
		args_add(&arg, "--trace");
		args_add(&arg, "--no-demangle");
	}
	args_take(&arg, xasprintf(lld ? "--why-extract=%s" : "-Map=%s", map));
	args_add(&arg, "-o");
	args_add(&arg, output);
	status = spawn_run(&(struct spawn){.argv = (const char *const *)args_end(&arg),
			       .capture_out = &out,
			       .capture_err = &l->said},
	    e);
	read_lines(&w->trace, buf_cstr(&out));
	read_resolution(w, map);
	buf_free(&out);
	args_free(&arg);
	free(output);
	free(map);
	return status ? err_set(e, "the linker does not write assembly of it") : 0;
}

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static void find_in(struct work *w, const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (begins(entry->d_name, w->name))
			args_take(&w->found, xasprintf("%s/%s", folder, entry->d_name));
	if (d)
		closedir(d);
}

static char *folder_of(const char *file)
{
	const char *open = member_part(file);
	char *archive = open ? xasprintf("%.*s", (int)(open - file), file) : xstrdup(file);
	char *folder = path_dir(archive);

	free(archive);
	return folder;
}

static int by_number(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Those in our folder, with *own the count, then those beside the bitcode. */
static void find_texts(struct work *w, size_t *own)
{
	struct htab seen = {0};
	bool fresh;
	char *folder;
	size_t i;

	find_in(w, w->l->folder);
	*own = w->found.n;
	htab_put_str(&seen, w->l->folder, NULL);
	for (i = 0; i < w->trace.n; i++) {
		folder = folder_of(w->trace.v[i]);
		htab_put_str(&seen, folder, &fresh);
		if (fresh)
			find_in(w, folder);
		free(folder);
	}
	qsort(w->found.v, *own, sizeof *w->found.v, by_number);
	qsort(w->found.v + *own, w->found.n - *own, sizeof *w->found.v, by_number);
	htab_free(&seen);
}

/* What the names of the texts of a file that lld read begin with. */
static char *text_begin(const struct work *w, const char *file, bool member)
{
	char *folder = folder_of(file), *begin;
	const char *base = path_base(file), *dot = strrchr(base, '.'), *open = member_part(file);

	if (member) {
		for (base = open; base > file && base[-1] != '/'; base--)
			;
		begin =
		    xasprintf("%s/%s.lto.%.*s at ", folder, w->name, (int)(strlen(base) - 1), base);
	} else {
		begin = xasprintf("%s/%s.lto.%.*s.s", folder, w->name,
		    (int)(dot && dot > base ? (size_t)(dot - base) : strlen(base)), base);
	}
	free(folder);
	return begin;
}

/* In lld's order; thin LTO makes one of each file. */
static int order_texts(struct work *w, size_t own, struct err *e)
{
	struct htab used = {0}, of = {0};
	char *begin, *text;
	size_t i, k;
	bool member, fresh;
	int r = 0;

	for (i = 0; i < own; i++)
		args_add(&w->text, w->found.v[i]);
	for (i = 0; i < w->trace.n && !r; i++) {
		member = member_part(w->trace.v[i]) != NULL;
		begin = text_begin(w, w->trace.v[i], member);
		fresh = true;
		if (!member && starts(w->trace.v[i], is_bitcode))
			htab_put_str(&of, begin, &fresh);
		for (k = own; k < w->found.n && !r; k++) {
			text = w->found.v[k];
			if (member ? !begins(text, begin) : strcmp(text, begin) != 0)
				continue;
			if (!fresh)
				r = err_set(e,
				    "%s: clang's thin LTO writes assembly of two files "
				    "of this name to one",
				    w->trace.v[i]);
			htab_put_str(&used, text, &fresh);
			if (fresh)
				args_add(&w->text, text);
			fresh = true;
		}
		free(begin);
	}
	if (!r && w->text.n != w->found.n)
		r = err_set(e, "%s: not known of which file", w->found.v[own]);
	htab_free(&used);
	htab_free(&of);
	return r;
}

/* ---- objects ---- */

/* What clang writes for its own assembler alone, for identical code folding and order. */
static bool for_clang(const char *line)
{
	return begins(line, "\t.addrsig") || begins(line, "\t.cg_profile");
}

/* Is it a file of line numbers in DWARF 5's form, with its folder apart or its MD5? */
static bool of_dwarf5(const char *line, size_t n)
{
	static const char file[] = "\t.file\t";
	const char *name, *end;

	if (n < sizeof file || memcmp(line, file, sizeof file - 1) ||
	    !strchr("0123456789", line[sizeof file - 1]))
		return false;
	name = memchr(line, '"', n);
	end = name ? memchr(name + 1, '"', n - (size_t)(name + 1 - line)) : NULL;
	return end && end + 1 < line + n && end[1] != '\n';
}

static void without_directives(const struct buf *text, struct buf *out, bool *dwarf5)
{
	const char *p, *next, *end = text->p + text->n;

	for (p = text->p; p < end; p = next) {
		next = memchr(p, '\n', (size_t)(end - p));
		next = next ? next + 1 : end;
		*dwarf5 = *dwarf5 || of_dwarf5(p, (size_t)(next - p));
		if (!for_clang(p))
			buf_add(out, p, (size_t)(next - p));
	}
}

static int assemble(struct work *w, const char *as, const char *text, struct err *e)
{
	static const char *const env[] = {"MORPH_CLANG=", NULL};
	char *source = xasprintf("%s/%zu.s", w->l->folder, w->object.n);
	char *object = xasprintf("%s/%zu.o", w->l->folder, w->object.n);
	const char *argv[] = {as, "--64", "-o", object, source, NULL, NULL};
	struct buf in = {0}, out = {0}, said = {0};
	bool dwarf5 = false;
	int r = file_read(text, 0, &in, e);

	if (!r && !in.n) /* what thin LTO left to whole-program LTO: nothing */
		goto out;
	buf_cstr(&in);
	if (!r)
		without_directives(&in, &out, &dwarf5);
	if (dwarf5)
		argv[5] = "--gdwarf-5";
	if (!r)
		r = file_write(source, O_EXCL, out.p, out.n, e);
	if (!r && spawn_run(&(struct spawn){.argv = argv, .env = env, .capture_err = &said}, e))
		r = err_set(e, "as refuses what clang's LTO wrote: %.200s", buf_cstr(&said));
	unlink(source);
	args_add(&w->object, object);
out:
	free(object);
	free(source);
	buf_free(&in);
	buf_free(&out);
	buf_free(&said);
	return r;
}

static int assemble_all(struct work *w, struct err *e)
{
	char *as = places_own("as");
	size_t i;
	int r = as ? 0 : err_set(e, "no as beside this linker");

	for (i = 0; i < w->text.n && !r; i++)
		r = assemble(w, as, w->text.v[i], e);
	free(as);
	return r;
}

/* ---- the second step ---- */

static void place(struct work *w)
{
	size_t i;

	for (i = 0; i < w->object.n && !w->placed; i++)
		args_add(&w->l->link, w->object.v[i]);
	w->placed = true;
}

struct state {
	bool whole; /* --whole-archive */
	VEC(bool) pushed;
};

static void follow(struct state *s, const struct ldopt *o)
{
	if (ldopt_is(o, "whole-archive"))
		s->whole = true;
	else if (ldopt_is(o, "no-whole-archive"))
		s->whole = false;
	else if (ldopt_is(o, "push-state"))
		vec_push(&s->pushed, s->whole);
	else if (ldopt_is(o, "pop-state") && s->pushed.n)
		s->whole = s->pushed.v[--s->pushed.n];
}

static enum content content_of(struct work *w, const char *path)
{
	if (starts(path, is_bitcode))
		return CONTENT_BITCODE;
	return starts(path, archive_magic) ? look_into(w, path) : CONTENT_OTHER;
}

/* Whether the option stays. Plugins put their objects where their first input is, lld at the
 * end. */
static int keep(
    struct work *w, const struct state *s, const struct ldopt *o, bool first_library, struct err *e)
{
	bool archive = o->kind == LDOPT_INPUT && starts(o->value, archive_magic);
	enum content is = o->kind == LDOPT_INPUT ? content_of(w, o->value) : CONTENT_OTHER;

	if (s->whole && (is == CONTENT_MIXED || o->kind == LDOPT_LIBRARY))
		return err_set(e, "%s: clang's LTO of --whole-archive", o->value);
	if (w->l->linker != LINKER_LLD &&
	    (is != CONTENT_OTHER || (first_library && o->kind == LDOPT_LIBRARY)))
		place(w);
	if (is == CONTENT_BITCODE && (!archive || s->whole))
		return 0;
	return w->l->linker == LINKER_LLD || !(ldopt_is(o, "plugin") || ldopt_is(o, "plugin-opt"));
}

static bool has_bitcode(struct work *w)
{
	const struct args *arg = w->l->arg;
	struct ldopt o;
	size_t i = 0;

	while (ldopt_next(w->l->linker, (const char *const *)arg->v, arg->n, &i, &o))
		if (o.kind == LDOPT_INPUT && content_of(w, o.value) != CONTENT_OTHER)
			return true;
	return false;
}

static void refer(struct work *w)
{
	struct ltoasm *l = w->l;
	size_t i;

	for (i = 0; i < l->resolved.symbol.n; i++)
		if (machine_member(w, l->resolved.member.v[i]) &&
		    !strpbrk(l->resolved.symbol.v[i], "/ \t'\"@")) {
			args_add(&l->link, "-u");
			args_add(&l->link, l->resolved.symbol.v[i]);
		}
}

static int write_link(struct work *w, struct err *e)
{
	struct ltoasm *l = w->l;
	const struct args *arg = l->arg;
	bool library = !has_bitcode(w);
	struct state s = {0};
	struct ldopt o;
	size_t i = 0, k;
	int r = 0;

	while (r >= 0 && ldopt_next(l->linker, (const char *const *)arg->v, arg->n, &i, &o)) {
		follow(&s, &o);
		r = keep(w, &s, &o, library, e);
		for (k = 0; r > 0 && k < o.n; k++)
			args_add(&l->link, arg->v[o.first + k]);
	}
	place(w);
	refer(w);
	vec_free(&s.pushed);
	return r < 0 ? -1 : 0;
}

/* ---- both ---- */

bool ltoasm_wanted(enum linker linker, const struct args *arg)
{
	bool gnu = linker == LINKER_GNU || linker == LINKER_GOLD;
	struct ldopt o;
	size_t i = 0;

	while (ldopt_next(linker, (const char *const *)arg->v, arg->n, &i, &o)) {
		if (gnu && ldopt_is(&o, "plugin") && o.value &&
		    begins(path_base(o.value), "LLVMgold."))
			return true;
		if (linker == LINKER_LLD &&
		    (ldopt_is(&o, "plugin-opt") ||
			(o.kind == LDOPT_INPUT && starts(o.value, is_bitcode))))
			return true;
	}
	return false;
}

static int make(struct work *w, struct err *e)
{
	size_t own;
	int r = check_options(w->l, e) || optimise(w, e);

	find_texts(w, &own);
	if (!r && !w->found.n)
		return 0;
	r = r || order_texts(w, own, e) || assemble_all(w, e) || write_link(w, e);
	return r ? -1 : 1;
}

static void note_members(struct work *w)
{
	const struct args *from = w->l->linker == LINKER_LLD ? &w->trace : &w->l->resolved.member;
	size_t i;

	for (i = 0; i < from->n; i++)
		if (machine_member(w, from->v[i]))
			args_add(&w->l->member, from->v[i]);
}

int ltoasm_make(struct ltoasm *l, struct err *e)
{
	char *name = xasprintf(".%s", path_base(l->folder));
	struct work w = {.l = l, .name = name};
	int r = make(&w, e);
	size_t i;

	if (r > 0)
		note_members(&w);
	for (i = 0; i < w.found.n; i++)
		unlink(w.found.v[i]);
	args_free(&w.trace);
	args_free(&w.found);
	args_free(&w.text);
	args_free(&w.object);
	htab_free(&w.archive);
	htab_free(&w.bitcode);
	free(name);
	return r;
}

int ltoasm_check(const struct ltoasm *l, const struct linkmap *after, struct err *e)
{
	size_t i;

	for (i = 0; i < l->member.n; i++)
		if (!linkmap_has(after, l->member.v[i], NULL))
			return err_set(e,
			    "%s: linked for what clang's LTO removed, and not linked without it",
			    l->member.v[i]);
	return 0;
}

void ltoasm_free(struct ltoasm *l)
{
	args_free(&l->link);
	args_free(&l->member);
	linkmap_free(&l->resolved);
	buf_free(&l->said);
}
