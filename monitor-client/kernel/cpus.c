#include "monitor-client/kernel/cpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int cpus_parse(const char *text, cpu_list *list)
{
	unsigned long a, b, next = 0;
	char *end;

	while (*text && *text != '\n') {
		if (*text < '0' || *text > '9')
			return -1;
		a = b = strtoul(text, &end, 10);
		if (*end == '-') {
			text = end + 1;
			b = strtoul(text, &end, 10);
			if (end == text)
				return -1;
		}
		if (a < next || b < a || b >= CPUS_MAX)
			return -1;
		for (next = b + 1; a <= b; a++)
			vec_push(list, (unsigned)a);
		if (*end == ',' && end[1] >= '0' && end[1] <= '9')
			end++;
		else if (*end && *end != '\n')
			return -1;
		text = end;
	}
	return 0;
}

int cpus_read(const char *name, cpu_list *list, struct err *e)
{
	char *path = xasprintf("/sys/devices/system/cpu/%s", name), *line = NULL;
	FILE *f = fopen(path, "re");
	size_t cap = 0;
	int r = 0;

	if (!f) {
		if (errno != ENOENT)
			r = err_sys(e, "%s", path);
	} else if (getline(&line, &cap, f) > 0 && cpus_parse(line, list)) {
		r = err_set(e, "%s: not a list of CPUs", path);
	}
	if (f)
		fclose(f);
	free(line);
	free(path);
	return r;
}

bool cpus_has(const cpu_list *list, unsigned cpu)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (list->v[i] == cpu)
			return true;
	return false;
}
