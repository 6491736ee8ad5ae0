/*
 * poison CACHE objects|builds FROM TO: in every entry of this kind in an edit's cache puts the
 * bytes TO (hex) for FROM, as many, and seals the entry again: for whoever got hold
 * of the cache's secret. Exit 1 where nothing was found.
 */
#include "editor-driver/link/cache.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static size_t unhex(const char *s, unsigned char *out)
{
	size_t n = 0;

	while (sscanf(s + 2 * n, "%2hhx", out + n) == 1)
		n++;
	return n;
}

int main(int argc, char **argv)
{
	unsigned char from[64], to[64];
	size_t n = unhex(argv[3], from), changed = 0;
	enum cache_kind kind = strcmp(argv[2], "objects") ? CACHE_BUILDS : CACHE_OBJECTS;
	char *path = xasprintf("%s/%s", argv[1], argv[2]), *at;
	DIR *d = opendir(path);
	struct cache c;
	struct cache_key key;
	struct dirent *de;

	cache_open(&c, argv[1]);
	while (d && (de = readdir(d)) && unhex(argv[4], to) == n) {
		struct buf b = {0};

		if (unhex(de->d_name, key.b) == sizeof key.b && cache_read(&c, kind, &key, &b))
			while ((at = memmem(b.p, b.n, from, n))) {
				memcpy(at, to, n);
				changed++;
			}
		if (b.n)
			cache_write(&c, kind, &key, b.p, b.n);
		buf_free(&b);
	}
	return !changed;
}
