#include "common/command/driver.h"

#include <stddef.h>
#include <string.h>

static const char *const drivers[] = {"c89-gcc", "c99-gcc", "gcc", "g++", "cc", "c++", "c89", "c99",
    "clang", "clang++", "gfortran", "gdc", "gccgo", "gnatgcc"};
static const char *const callers[] = {"gnatmake", "gnatlink"};

/* The length without "-12" or "-12.2" at the end. */
static size_t without_version(const char *name)
{
	size_t n = strlen(name), digits = n;

	while (digits && strchr("0123456789.", name[digits - 1]))
		digits--;
	return digits < n && digits && name[digits - 1] == '-' ? digits - 1 : n;
}

static bool contains(const char *s, size_t n, const char *word)
{
	return memmem(s, n, word, strlen(word)) != NULL;
}

/* Is this the tuple, with the '-' after it, of programs that run here? */
static bool tuple(const char *s, size_t n)
{
	return !n ||
	       (n > 7 && !memcmp(s, "x86_64-", 7) && s[n - 1] == '-' && contains(s, n, "-linux") &&
		   !contains(s, n, "x32") && !contains(s, n, "musl") &&
		   !contains(s, n, "android") && !contains(s, n, "uclibc"));
}

static bool is_one_of(const char *name, const char *const *list, size_t count)
{
	size_t n = without_version(name), i, k;

	for (i = 0; i < count; i++) {
		k = strlen(list[i]);
		if (n >= k && !memcmp(name + n - k, list[i], k) && tuple(name, n - k))
			return true;
	}
	return false;
}

bool driver_name(const char *name)
{
	return is_one_of(name, drivers, sizeof drivers / sizeof *drivers);
}

bool driver_caller(const char *name)
{
	return is_one_of(name, callers, sizeof callers / sizeof *callers);
}
