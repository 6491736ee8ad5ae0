/* Resource limits, given up for good. */
#ifndef MORPH_LIMIT_H
#define MORPH_LIMIT_H

#include <sys/resource.h>

/* Lowers a limit (RLIMIT_*); one that is lower already stays. System calls only: 0, or -1 and
 * errno. */
static inline int limit_lower(int what, rlim_t max)
{
	struct rlimit r;

	if (getrlimit((__rlimit_resource_t)what, &r))
		return -1;
	r.rlim_max = r.rlim_max < max ? r.rlim_max : max;
	r.rlim_cur = r.rlim_cur < r.rlim_max ? r.rlim_cur : r.rlim_max;
	return setrlimit((__rlimit_resource_t)what, &r);
}

#endif
