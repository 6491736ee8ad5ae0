#include "hooks/collect.h"
#include "common/command/ldopt.h"
#include "common/publish.h"
#include "hooks/archive.h"
#include "hooks/paths.h"
#include "hooks/source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { KIND_REFUSED = 0, KIND_CLAIMED = UINT32_MAX };

static int is_lto_section(const struct elf_section *s, void *arg)
{
	return !strncmp(s->name, ".gnu.lto_", 9);
}

/* What an object with intermediate code of GCC is. Without plugin the linker reads its machine
 * code. */
static uint32_t kind_of_lto(
    const struct collection *c, const void *p, size_t n, const char *path, struct err *e)
{
	char *name;

	if (!c->plugin)
		return ART_OBJECT;
	if (c->optimised)
		return KIND_CLAIMED;
	name = source_or_object(path, NULL, p, n);
	err_set(e, "%s: LTO object (GCC), and as was not called through the hooks", name);
	free(name);
	return KIND_REFUSED;
}

/* What a file is, by its bytes; KIND_REFUSED when no artifact can be made. */
static uint32_t kind_of(
    const struct collection *c, const void *p, size_t n, const char *path, struct err *e)
{
	uint32_t kind = ART_FILE;
	struct elf *f;

	if (archive_magic(p, n))
		return ART_ARCHIVE;
	if (n >= 4 && !memcmp(p, "BC\xc0\xde", 4)) {
		if (c->optimised)
			return KIND_CLAIMED;
		err_set(e, "%s: LTO object (LLVM bitcode)", path);
		return KIND_REFUSED;
	}
	if (n < 4 || memcmp(p, "\177ELF", 4))
		return ART_FILE;
	f = elf_mem_open(p, n, path, e);
	if (!f)
		return KIND_REFUSED;
	if (elf_file_kind(f) == ELF_OBJECT) {
		kind = ART_OBJECT;
		if (elf_file_sections(f, is_lto_section, NULL))
			kind = kind_of_lto(c, p, n, path, e);
	} else if (elf_file_kind(f) == ELF_SHARED || elf_file_kind(f) == ELF_PIE) {
		kind = ART_SHARED;
	}
	elf_file_close(f);
	return kind;
}

/* The file of a thin archive's member. */
static char *thin_member(const char *archive, const char *name)
{
	char *dir = path_dir(archive), *joined, *path;

	joined = name[0] == '/' ? xstrdup(name) : xasprintf("%s/%s", dir, name);
	path = path_of_file(joined);
	free(joined);
	free(dir);
	return path;
}

/* The absolute name of a file of the map; "ARCHIVE(MEMBER)" with that of the archive, of which
 * *archive and *path are the last one's. */
static char *absolute(const char *file, char **archive, char **path)
{
	size_t n = strlen(file);
	const char *open = n && file[n - 1] == ')' ? strrchr(file, '(') : NULL;

	if (!open)
		return path_of_file(file);
	n = (size_t)(open - file);
	if (!*archive || strlen(*archive) != n || memcmp(*archive, file, n)) {
		free(*archive);
		free(*path);
		*archive = xasprintf("%.*s", (int)n, file);
		*path = path_of_file(*archive);
	}
	return xasprintf("%s%s", *path, open);
}

/* Of gold's "ARCHIVE(PATH)", the file. */
static void add_thin_member(struct collection *c, char *open)
{
	char *path;

	if (!open || !strchr(open, '/'))
		return;
	open[strlen(open) - 1] = '\0';
	path = path_of_file(open + 1);
	htab_put_str(&c->map_path, path, NULL);
	free(path);
}

static void normalise_map(struct collection *c)
{
	char *file, *archive = NULL, *path = NULL;
	size_t i;

	for (i = c->normalised; i < c->map->files.n; i++) {
		file = absolute(c->map->files.v[i], &archive, &path);
		htab_put_str(&c->map_path, file, NULL);
		add_thin_member(c, strrchr(file, '('));
		free(file);
	}
	c->normalised = i;
	free(archive);
	free(path);
}

static bool in_map(struct collection *c, const char *archive, const char *member)
{
	char *file = xasprintf("%s(%s)", archive, member);
	bool is = htab_get_str(&c->map_path, file) != NULL;

	free(file);
	return is;
}

static bool member_linked(
    struct collection *c, const char *archive, const char *name, const char *thin_path)
{
	size_t i;

	if (!c->map)
		return true;
	for (i = 0; i < c->path.n && !thin_path; i++)
		if (!strcmp(c->path.v[i], archive) && linkmap_has(c->map, c->opened->v[i], name))
			return true;
	normalise_map(c);
	if (thin_path && htab_get_str(&c->map_path, thin_path))
		return true;
	return in_map(c, archive, name) || (thin_path && in_map(c, archive, path_base(name)));
}

static bool file_linked(struct collection *c, const char *path)
{
	if (!c->map)
		return true;
	normalise_map(c);
	return htab_get_str(&c->map_path, path) != NULL;
}

static void claim_member(struct collection *c, const char *archive, const char *member)
{
	char *name = xasprintf("%s(%s)", archive, member);

	htab_put_str(&c->claimed, name, NULL);
	free(name);
}

static int add_member(struct collection *c, int64_t archive, bool thin,
    const struct archive_member *m, const char *bytes, struct err *e)
{
	const char *path = c->input.v[archive].path;
	const char *fault = recipe_name_fault(m->name, false);
	struct input in = {.path = m->name, .archive = archive, .at = m->at, .size = m->size};
	struct buf content = {0};
	char *file;

	/* The map may have its name on two lines. */
	if (fault)
		return err_set(e, "%s(%s): %s", path, m->name, fault);
	file = thin ? thin_member(path, m->name) : NULL;
	if (file)
		htab_put_str(&c->thin, file, NULL);
	if (!member_linked(c, path, m->name, file)) {
		free(file);
		return 0;
	}
	if (thin) {
		in.path = path_base(m->name);
		in.at = in.size = 0;
		if (file_read(file, 0, &content, e) == 0)
			in.kind = kind_of(c, content.p, content.n, file, e);
	} else {
		in.kind = kind_of(c, bytes + m->at, m->size, m->name, e);
	}
	in.file = file ? arena_strdup(&c->mem, file) : path;
	free(file);
	buf_free(&content);
	if (in.kind == KIND_REFUSED)
		return -1;
	if (in.kind == KIND_CLAIMED)
		claim_member(c, path, m->name);
	else
		vec_push(&c->input, in);
	return 0;
}

static int add_members(
    struct collection *c, int64_t archive, const struct file_map *b, struct err *e)
{
	struct archive ar;
	size_t i;
	int r;

	r = archive_read(&ar, &c->mem, b->p, b->n, c->input.v[archive].path, e);
	for (i = 0; !r && i < ar.member.n; i++)
		r = add_member(c, archive, ar.thin, &ar.member.v[i], b->p, e);
	archive_free(&ar);
	return r;
}

static bool regular(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static bool used(const struct collection *c, const char *path, enum recipe_use use)
{
	const uint64_t *known = htab_get_str(&c->use, path);

	return known && *known == use;
}

/* As collect_file, with the reason for -1. */
static int64_t add_file(struct collection *c, const char *path, struct err *e)
{
	struct input in = {.archive = -1};
	int64_t id = (int64_t)c->input.n;
	const char *fault;
	struct file_map b = {0};
	int r;

	in.path = in.file = arena_strdup(&c->mem, path);
	if (file_map(path, &b, e) < 0)
		return -1;
	in.kind = used(c, path, RECIPE_RAW) ? ART_FILE : kind_of(c, b.p, b.n, path, e);
	r = in.kind == KIND_REFUSED ? -1 : 0;
	fault = recipe_name_fault(path, in.kind == ART_SHARED);
	if (!r && fault)
		r = err_set(e, "%s: %s", path, fault);
	if (!r && in.kind == ART_OBJECT && used(c, path, RECIPE_LAZY) && !file_linked(c, path)) {
		id = RECIPE_UNUSED;
	} else if (!r && in.kind == KIND_CLAIMED) {
		htab_put_str(&c->claimed, path, NULL);
		id = RECIPE_CLAIMED;
	} else if (!r) {
		vec_push(&c->input, in);
		*htab_put_str(&c->by_path, path, NULL) = (uint64_t)id;
		if (in.kind == ART_ARCHIVE)
			r = add_members(c, id, &b, e);
	}
	file_unmap(&b);
	return r < 0 ? -1 : id;
}

static bool is_made(const struct collection *c, const char *path)
{
	static const char *const end[] = {".ltrans.o", ".lto.o", ".debug.temp.o"};
	size_t n = c->ltrans ? strlen(c->ltrans) : 0, len = strlen(path), i;

	if (n && !strncmp(path, c->ltrans, n) && path[n] == '/')
		return true;
	for (i = 0; c->plugin && i < sizeof end / sizeof *end; i++)
		if (len > strlen(end[i]) && !strcmp(path + len - strlen(end[i]), end[i]))
			return true;
	return false;
}

static void add_made(struct collection *c, const char *path)
{
	struct input in = {.kind = ART_OBJECT, .archive = -1};
	char *name = xasprintf("%s.%s%zu.o", c->output, c->plugin ? "ltrans" : "lto", c->made.n);

	in.path = arena_strdup(&c->mem, name);
	in.file = arena_strdup(&c->mem, path);
	*htab_put_str(&c->by_path, path, NULL) = c->input.n;
	vec_push(&c->made, (int64_t)c->input.n);
	vec_push(&c->input, in);
	free(name);
}

/*
 * Objects that were claimed referred to members of archives to which what was made of them may no
 * longer refer. These were linked, and are again where a script asks for the symbols.
 */
static void add_references(struct collection *c)
{
	struct input in = {.kind = ART_FILE, .archive = -1};
	char *by, *archive = NULL, *path = NULL;
	struct buf script = {0};
	size_t i;

	for (i = 0; c->optimised && c->map && i < c->map->symbol.n; i++) {
		by = absolute(c->map->by.v[i], &archive, &path);
		if (htab_get_str(&c->claimed, by))
			buf_printf(&script, "EXTERN(\"%s\")\n", c->map->symbol.v[i]);
		free(by);
	}
	if (script.n) {
		by = xasprintf("%s.ltrans.ld", c->output);
		in.path = in.file = arena_strdup(&c->mem, by);
		in.content = arena_strdup(&c->mem, buf_cstr(&script));
		vec_push(&c->made, (int64_t)c->input.n);
		vec_push(&c->input, in);
		free(by);
	}
	buf_free(&script);
	free(archive);
	free(path);
}

void collect_expect(struct collection *c, const char *name, enum recipe_use use)
{
	char *path = use == RECIPE_LINKED ? NULL : path_of_file(name);

	if (path)
		*htab_put_str(&c->use, path, NULL) = use;
	free(path);
}

int64_t collect_file(struct collection *c, const char *name)
{
	char *path = path_of_file(name);
	uint64_t *known = htab_get_str(&c->by_path, path);
	int64_t id = -1;

	if (known)
		id = (int64_t)*known;
	else if (htab_get_str(&c->claimed, path))
		id = RECIPE_CLAIMED;
	else if (regular(path))
		id = add_file(c, path, NULL);
	free(path);
	return id;
}

int collect(
    struct collection *c, const struct args *opened, const struct linkmap *map, struct err *e)
{
	size_t i;
	int r = 0;

	c->opened = opened;
	c->map = map;
	for (i = 0; i < opened->n; i++)
		args_take(&c->path, path_of_file(opened->v[i]));
	for (i = 0; i < opened->n; i++)
		c->optimised = c->optimised || is_made(c, c->path.v[i]);
	/* gold and mold name the members of thin archives as well, after these. */
	for (i = 0; i < opened->n && !r; i++) {
		if (htab_get_str(&c->by_path, c->path.v[i]) || htab_get_str(&c->thin, c->path.v[i]))
			continue;
		if (is_made(c, c->path.v[i]))
			add_made(c, c->path.v[i]);
		else
			r = add_file(c, c->path.v[i], e) == -1 ? -1 : 0;
	}
	if (!r)
		add_references(c);
	return r;
}

int collect_bytes(
    struct collection *c, const struct input *in, struct input_bytes *out, struct err *e)
{
	if (in->content) {
		*out = (struct input_bytes){in->content, strlen(in->content)};
		return 0;
	}
	/* The members of one archive come one after the other. */
	if (!c->cached || strcmp(c->cached, in->file)) {
		c->cached = in->file;
		file_unmap(&c->cache);
		if (file_map(in->file, &c->cache, e) < 0) {
			c->cached = NULL;
			return -1;
		}
	}
	*out = (struct input_bytes){c->cache.p, c->cache.n};
	if (!in->at)
		return 0;
	if (in->at > c->cache.n || in->size > c->cache.n - in->at)
		return err_set(e, "%s: changed while it was read", in->file);
	*out = (struct input_bytes){out->p + in->at, in->size};
	return 0;
}
