#include "hooks/source.h"
#include "common/elf/elf.h"
#include "common/mem.h"
#include "common/places.h"
#include "common/publish.h"
#include "hooks/paths.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = 4096, ANCESTORS = 6 }; /* driver, collect2, linker, its child; launchers */

static bool in_folder(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return n && !strncmp(path, folder, n) && path[n] == '/' && !strchr(path + n + 1, '/');
}

bool source_is_temporary(const char *path)
{
	static const char *const variable[] = {"TMPDIR", "TMP", "TEMP"};
	size_t i;

	for (i = 0; i < sizeof variable / sizeof *variable; i++)
		if (env_value(variable[i]) && in_folder(path, env_value(variable[i])))
			return true;
	return in_folder(path, "/tmp") || in_folder(path, "/var/tmp");
}

/* Compilers print it at the beginning. */
char *source_in_text(const char *text, size_t n)
{
	static const char file[] = "\t.file\t\"";
	const char *p, *end;

	p = n ? memmem(text, n < HEAD ? n : HEAD, file, sizeof file - 1) : NULL;
	if (!p)
		return NULL;
	p += sizeof file - 1;
	end = memchr(p, '"', (size_t)(text + n - p));
	return end ? xasprintf("%.*s", (int)(end - p), p) : NULL;
}

static int take_file(const struct elf_symbol *s, void *arg)
{
	char **name = arg;

	if (s->type != STT_FILE || !*s->name)
		return 0;
	*name = xstrdup(s->name);
	return 1;
}

char *source_in_object(const void *p, size_t n)
{
	struct elf *f = elf_mem_open(p, n, "object", NULL);
	char *name = NULL;

	if (f)
		elf_file_symbols(f, false, take_file, &name);
	elf_file_close(f);
	return name;
}

/* ---- where it is ---- */

static pid_t parent_of(pid_t pid)
{
	char path[64], *end;
	struct buf b = {0};
	int parent = 0;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (!file_read(path, 0, &b, NULL) && (end = strrchr(buf_cstr(&b), ')')))
		sscanf(end + 1, " %*c %d", &parent);
	buf_free(&b);
	return parent;
}

/* The argument of a process that is a file of that name; to free. */
static char *argument_of(pid_t pid, const char *name)
{
	char path[64], *p, *found = NULL;
	struct buf b = {0};

	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
	if (!file_read(path, 0, &b, NULL) && b.n)
		for (p = buf_cstr(&b); !found && p < b.p + b.n; p += strlen(p) + 1)
			if (!strcmp(path_base(p), name) && access(p, F_OK) == 0)
				found = path_of_file(p);
	buf_free(&b);
	return found;
}

char *source_path(const char *name)
{
	pid_t pid = getpid();
	char *path = NULL;
	int i;

	if (*name == '<') /* as LTO calls its code */
		return xstrdup(strcmp(name, "<artificial>") ? name : "link-time optimisation");
	if (access(name, F_OK) == 0)
		return path_of_file(name);
	for (i = 0; !path && i < ANCESTORS && (pid = parent_of(pid)) > 1; i++)
		path = argument_of(pid, name);
	return path ? path : xstrdup(name);
}

char *source_or_object(const char *path, const char *name, const void *p, size_t n)
{
	char *own = NULL, *source;

	if (!source_is_temporary(path))
		return xstrdup(path);
	if (!name && !(own = source_in_object(p, n)))
		return xstrdup(path);
	source = source_path(name ? name : own);
	free(own);
	return source;
}
