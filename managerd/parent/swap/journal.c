#include "managerd/parent/swap/journal.h"
#include "common/publish.h"
#include "managerd/parent/swap/swap.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JOURNAL_MAX = 64 * 1024, KEEP_MAX = 1000 };

void journal_put_path(struct buf *out, const char *s)
{
	for (; *s; s++)
		if (*s > ' ' && *s <= '~' && *s != '%')
			buf_char(out, *s);
		else
			buf_printf(out, "%%%02X", (unsigned char)*s);
}

static void put_id(struct buf *out, const char *name, const struct build_id *id)
{
	char hex[BUILD_ID_HEX];

	buf_printf(out, "%s %s\n", name, id->n ? build_id_hex(id, hex) : "-");
}

void journal_encode(const struct journal *j, struct buf *out)
{
	char hex[CONTENT_HEX];

	buf_str(out, "morph-swap 2\nmodule ");
	journal_put_path(out, j->module);
	buf_printf(out, "\nkind %s\n", j->rollback ? "rollback" : "swap");
	put_id(out, "from", &j->from);
	put_id(out, "to", &j->to);
	put_id(out, "origin", &j->origin);
	buf_printf(out, "keep %ju\nold %ju\nold-size %ju\nold-content %s\nstage ",
	    (uintmax_t)j->keep, (uintmax_t)j->old_ino, (uintmax_t)j->old_size,
	    content_hex(&j->old_content, hex));
	journal_put_path(out, j->stage);
	buf_printf(out, "\nfresh %d\n", j->fresh);
	if (j->new_ino)
		buf_printf(out, "new-size %ju\nnew-content %s\nready %ju\n", (uintmax_t)j->new_size,
		    content_hex(&j->new_content, hex), (uintmax_t)j->new_ino);
	if (j->swapped)
		buf_str(out, "swapped 1\n");
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int get_escaped(const char *s, char **out)
{
	char *p = *out = xmalloc(strlen(s) + 1);

	while (*s) {
		if (*s != '%') {
			*p++ = *s++;
			continue;
		}
		if (hex_digit(s[1]) < 0 || hex_digit(s[2]) < 0)
			break;
		*p = (char)(hex_digit(s[1]) << 4 | hex_digit(s[2]));
		if (!*p++)
			break;
		s += 3;
	}
	*p = '\0';
	return *s ? -1 : 0;
}

static int get_number(const char *s, uint64_t min, uint64_t max, uint64_t *v)
{
	char *end;

	if (*s < '0' || *s > '9')
		return -1;
	errno = 0;
	*v = strtoull(s, &end, 10);
	return *end || errno || *v < min || *v > max ? -1 : 0;
}

int journal_get_path(const char *s, char **out)
{
	return *out || get_escaped(s, out) || (*out)[0] != '/' || strlen(*out) >= PATH_MAX ? -1 : 0;
}

/* Never a name that could be somebody's file. */
static int get_stage(const char *s, char **out)
{
	return *out || get_escaped(s, out) || (*out)[0] != '.' || strchr(*out, '/') ||
		       !strstr(*out, ".morph-new.")
		   ? -1
		   : 0;
}

static int get_choice(const char *s, const char *no, const char *yes, bool *v)
{
	*v = !strcmp(s, yes);
	return *v || !strcmp(s, no) ? 0 : -1;
}

enum field {
	F_FORMAT,
	F_MODULE,
	F_KIND,
	F_FROM,
	F_TO,
	F_ORIGIN,
	F_KEEP,
	F_OLD,
	F_OLD_SIZE,
	F_OLD_CONTENT,
	F_STAGE,
	F_FRESH,
	F_NEEDED,
	F_NEW_SIZE = F_NEEDED,
	F_NEW_CONTENT,
	F_READY,
	F_SWAPPED,
	F_COUNT
};
static const char *const field_name[F_COUNT] = {"morph-swap", "module", "kind", "from", "to",
    "origin", "keep", "old", "old-size", "old-content", "stage", "fresh", "new-size", "new-content",
    "ready", "swapped"};

static int get_field(struct journal *j, enum field f, const char *v)
{
	switch (f) {
	case F_FORMAT:
		return strcmp(v, "2") ? -1 : 0;
	case F_MODULE:
		return journal_get_path(v, &j->module);
	case F_KIND:
		return get_choice(v, "swap", "rollback", &j->rollback);
	case F_FROM:
		return build_id_parse(v, &j->from);
	case F_TO:
		return build_id_parse(v, &j->to);
	case F_ORIGIN:
		return strcmp(v, "-") ? build_id_parse(v, &j->origin) : 0;
	case F_KEEP:
		return get_number(v, 1, KEEP_MAX, &j->keep);
	case F_OLD:
		return get_number(v, 1, UINT64_MAX, &j->old_ino);
	case F_OLD_SIZE:
		return get_number(v, 0, INT64_MAX, &j->old_size);
	case F_OLD_CONTENT:
		return content_parse(v, &j->old_content);
	case F_STAGE:
		return get_stage(v, &j->stage);
	case F_FRESH:
		return get_choice(v, "0", "1", &j->fresh);
	case F_NEW_SIZE:
		return get_number(v, 0, INT64_MAX, &j->new_size);
	case F_NEW_CONTENT:
		return content_parse(v, &j->new_content);
	case F_READY:
		return get_number(v, 1, UINT64_MAX, &j->new_ino);
	case F_SWAPPED:
		j->swapped = true;
		return strcmp(v, "1") ? -1 : 0;
	case F_COUNT:
		break;
	}
	return -1;
}

/* Records come in the order of the fields. */
static int get_line(struct journal *j, char *line, int at)
{
	char *value = strchr(line, ' ');

	if (!value || at >= F_COUNT)
		return -1;
	*value++ = '\0';
	return strcmp(line, field_name[at]) ? -1 : get_field(j, (enum field)at, value);
}

int journal_decode(const char *text, size_t n, struct journal *j, struct err *e)
{
	char *copy, *line, *end;
	int at = 0, r = 0;

	*j = (struct journal){0};
	if (n > JOURNAL_MAX || memchr(text, 0, n))
		return err_set(e, "not a swap journal");
	copy = xcalloc(n + 1, 1);
	memcpy(copy, text, n);
	for (line = copy; !r && *line; at++) {
		end = strchrnul(line, '\n');
		r = *end ? 0 : -1;
		*end = '\0';
		r = r ? r : get_line(j, line, at);
		line = end + 1;
	}
	free(copy);
	if (r)
		err_set(e, "line %d is not a swap journal's", at);
	else if (at < F_NEEDED || (at > F_NEEDED && at <= F_READY))
		r = err_set(e, "cut off after line %d", at);
	if (r)
		journal_free(j);
	return r;
}

static int save(const char *state, const struct journal *j, struct err *e)
{
	char *path = swap_path(state, "journal", j->module);
	struct buf text = {0};
	int r;

	journal_encode(j, &text);
	r = publish_bytes(path, text.p, text.n, 0600, e);
	buf_free(&text);
	free(path);
	return r;
}

int journal_begin(const char *state, const struct journal *j, struct err *e)
{
	char *path = swap_path(state, "journal", j->module), *dir = path_dir(path);
	int r = dir_make(dir, 0700, e) < 0 ? -1 : dir_sync(state, e);

	if (!r && !access(path, F_OK))
		r = err_set(e, "%s: an earlier swap of it is not settled yet", j->module);
	if (!r)
		r = save(state, j, e);
	free(dir);
	free(path);
	return r;
}

int journal_ready(const char *state, struct journal *j, uint64_t ino, uint64_t size,
    const struct content *content, struct err *e)
{
	int r;

	j->new_ino = ino;
	j->new_size = size;
	j->new_content = *content;
	r = save(state, j, e);
	if (r)
		j->new_ino = 0;
	return r;
}

int journal_swapped(const char *state, struct journal *j, struct err *e)
{
	j->swapped = true;
	return save(state, j, e);
}

int journal_end(const char *state, const char *module, struct err *e)
{
	char *path = swap_path(state, "journal", module), *dir = path_dir(path);
	int r = 0;

	if (!unlink(path))
		r = dir_sync(dir, e);
	else if (errno != ENOENT)
		r = err_sys(e, "%s", path);
	free(dir);
	free(path);
	return r;
}

static int load(const char *path, struct journal *j, struct err *e)
{
	struct buf text = {0};
	int r = file_read(path, JOURNAL_MAX, &text, e);

	if (!r) {
		r = journal_decode(text.p, text.n, j, e);
		if (r)
			err_wrap(e, "%s", path);
	}
	buf_free(&text);
	return r;
}

int journal_load(const char *state, const char *module, struct journal *j, struct err *e)
{
	char *path = swap_path(state, "journal", module);
	int r = access(path, F_OK) < 0 && errno == ENOENT ? 0 : load(path, j, e) < 0 ? -1 : 1;

	free(path);
	return r;
}

static int each_file(const char *state, const char *name,
    int (*fn)(const char *, struct journal *, void *), void *arg, struct err *e)
{
	char *path = xasprintf("%s/journal/%s", state, name);
	struct journal j = {0};
	int r;

	if (*name == '.') {
		r = unlink(path) < 0 ? err_sys(e, "%s", path) : 0;
	} else {
		r = load(path, &j, e);
		if (!r)
			r = fn(state, &j, arg);
		journal_free(&j);
	}
	free(path);
	return r;
}

int journal_each(
    const char *state, int (*fn)(const char *, struct journal *, void *), void *arg, struct err *e)
{
	char *dir = xasprintf("%s/journal", state);
	DIR *d = opendir(dir);
	struct dirent *de;
	int r = 0;

	if (!d && errno != ENOENT)
		r = err_sys(e, "%s", dir);
	while (d && (de = readdir(d)))
		if (strcmp(de->d_name, ".") && strcmp(de->d_name, ".."))
			if (each_file(state, de->d_name, fn, arg, e) < 0)
				r = -1;
	if (d)
		closedir(d);
	free(dir);
	return r;
}

void journal_free(struct journal *j)
{
	free(j->module);
	free(j->stage);
	*j = (struct journal){0};
}
