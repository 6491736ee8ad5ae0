#include "common/command/linker.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *name;
	enum linker linker;
} named[] = {{"ld", LINKER_GNU}, {"ld.bfd", LINKER_GNU}, {"ld.gold", LINKER_GOLD},
    {"ld.lld", LINKER_LLD}, {"ld.mold", LINKER_MOLD}};

enum linker linker_named(const char *name)
{
	static const char versioned[] = "ld.lld-";
	const char *version = name + sizeof versioned - 1;
	size_t i;

	if (!strncmp(name, versioned, sizeof versioned - 1))
		return *version && !version[strspn(version, "0123456789")] ? LINKER_LLD
									   : LINKER_UNKNOWN;

	for (i = 0; i < sizeof named / sizeof *named; i++)
		if (!strcmp(name, named[i].name))
			return named[i].linker;
	return LINKER_UNKNOWN;
}

enum linker linker_of_program(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	const char *dash = strrchr(base, '-');

	if (!strncmp(base, "lld", 3) || !strncmp(base, "ld.lld", 6))
		return LINKER_LLD;
	base = dash ? dash + 1 : base;
	if (!strcmp(base, "mold"))
		return LINKER_MOLD;
	return !strcmp(base, "gold") ? LINKER_GOLD : linker_named(base);
}

const char *linker_name(enum linker linker)
{
	size_t i;

	for (i = 0; i < sizeof named / sizeof *named; i++)
		if (named[i].linker == linker)
			return named[i].name;
	return NULL;
}
