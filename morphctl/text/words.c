#include "morphctl/text/words.h"
#include "common/number.h"
#include "common/utf8.h"

#include <math.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

char *words_number(struct arena *a, double v)
{
	char text[NUMBER_TEXT];

	if (!isfinite(v))
		return arena_strdup(a, "-");
	if (fabs(v) < 9.95 && v != round(v))
		return arena_printf(a, "%.1f", v);
	return arena_strdup(a, number_text(v, text));
}

char *words_bytes(struct arena *a, double v)
{
	static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	enum { UNITS = sizeof unit / sizeof *unit };
	size_t i;

	if (!isfinite(v))
		return arena_strdup(a, "-");
	for (i = 0; i + 1 < UNITS && fabs(v) >= 1024 * 0.9995; i++)
		v /= 1024;
	return arena_printf(a, "%.*f %s", i > 0 && fabs(v) < 99.95 ? 1 : 0, v, unit[i]);
}

char *words_share(struct arena *a, double v)
{
	return isfinite(v) ? arena_printf(a, "%.1f %%", v * 100) : arena_strdup(a, "-");
}

char *words_change(struct arena *a, double before, double after)
{
	double by = (after - before) / before * 100;

	if (!isfinite(by))
		return arena_strdup(a, "-");
	return arena_printf(a, "%s%.0f %%", fabs(by) < 0.5 ? "" : by < 0 ? "−" : "+", fabs(by));
}

char *words_duration(struct arena *a, double seconds)
{
	static const struct {
		const char *big, *small;
		double ratio, unit; /* of big to small; of big in seconds */
	} row[] = {{"d", "h", 24, 86400}, {"h", "min", 60, 3600}, {"min", "s", 60, 60}};
	double whole, rest;
	size_t i;

	if (!isfinite(seconds) || seconds < 0)
		return arena_strdup(a, "-");
	if (seconds < 9.95)
		return arena_printf(a, seconds == round(seconds) ? "%.0f s" : "%.1f s", seconds);
	for (i = 0; i < sizeof row / sizeof *row; i++) {
		if (seconds < row[i].unit * (i == 2 ? 2 : 1))
			continue;
		whole = floor(seconds / row[i].unit);
		rest = floor((seconds - whole * row[i].unit) / (row[i].unit / row[i].ratio));
		if (rest == 0 || whole >= 10)
			return arena_printf(a, "%.0f %s", whole, row[i].big);
		return arena_printf(a, "%.0f %s %.0f %s", whole, row[i].big, rest, row[i].small);
	}
	return arena_printf(a, "%.0f s", seconds);
}

char *words_plural(struct arena *a, double n, const char *noun)
{
	return arena_printf(a, "%s %s%s", words_number(a, n), noun, n == 1 ? "" : "s");
}

json_t *words_json(const char *s)
{
	struct arena a = {0};
	json_t *j = json_string(words_clean(&a, s));

	arena_free(&a);
	return j;
}

char *words_clean(struct arena *a, const char *s)
{
	char *out, *p;
	int n;

	if (!s)
		return arena_strdup(a, "");
	p = out = arena_alloc(a, strlen(s) + 1);
	while (*s) {
		n = utf8_printable((const unsigned char *)s);
		if (n == 0)
			*p++ = '?', s++;
		for (; n > 0; n--)
			*p++ = *s++;
	}
	return out;
}

char *words_user(struct arena *a, double uid)
{
	const struct passwd *p = uid >= 0 && uid < UINT32_MAX ? getpwuid((uid_t)uid) : NULL;

	if (!isfinite(uid))
		return arena_strdup(a, "-");
	return p ? words_clean(a, p->pw_name) : arena_printf(a, "%.0f", uid);
}

bool words_others(const json_t *list)
{
	const json_t *o;
	size_t i;

	json_array_foreach (list, i, o)
		if (json_num(o, "uid") != (double)geteuid())
			return true;
	return false;
}

char *words_said(struct arena *a, const char *s)
{
	static const char uid[] = "uid ";
	char *out = words_clean(a, s), *at = out, *end, *user;
	unsigned long v;

	while ((at = strstr(at, uid))) {
		v = strtoul(at + sizeof uid - 1, &end, 10);
		if ((at > out && at[-1] != ' ' && at[-1] != '(') || at[sizeof uid - 1] < '0' ||
		    at[sizeof uid - 1] > '9' || v >= UINT32_MAX || !getpwuid((uid_t)v)) {
			at++;
			continue;
		}
		user = words_user(a, (double)v);
		v = (unsigned long)(at - out) + strlen(user);
		out = arena_printf(a, "%.*s%s%s", (int)(at - out), out, user, end);
		at = out + v;
	}
	return out;
}

int64_t words_time(const char *rfc3339)
{
	struct tm tm = {0};
	const char *end;

	end = rfc3339 ? strptime(rfc3339, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	return end && strcmp(end, "Z") == 0 ? (int64_t)timegm(&tm) : -1;
}

char *words_ago(struct arena *a, const char *rfc3339, int64_t now)
{
	int64_t t = words_time(rfc3339);

	if (t < 0)
		return arena_strdup(a, "never");
	if (now - t < 2)
		return arena_strdup(a, "just now");
	return arena_printf(a, "%s ago", words_duration(a, (double)(now - t)));
}

char *words_local(struct arena *a, const char *rfc3339)
{
	time_t t = (time_t)words_time(rfc3339);
	char text[64];
	struct tm tm;

	if (t < 0 || !localtime_r(&t, &tm) ||
	    !strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm))
		return arena_strdup(a, "-");
	return arena_strdup(a, text);
}

char *words_step(struct arena *a, const char *step, const char *since, double eta, int64_t now)
{
	int64_t t = words_time(since);
	char *s = words_clean(a, step);

	if (t >= 0)
		s = arena_printf(
		    a, "%s, for %s", s, words_duration(a, now > t ? (double)(now - t) : 0));
	if (isfinite(eta))
		s = arena_printf(a, "%s, about %s left", s, words_duration(a, ceil(eta)));
	return s;
}

char *words_working(struct arena *a, const json_t *w, int64_t now)
{
	const char *path = json_str(w, "path");
	char *step = arena_printf(a, "%s of %s", words_clean(a, json_str(w, "step")),
	    path ? words_clean(a, path) : "another user's module");

	return words_step(a, step, json_str(w, "since"), json_num(w, "eta_s"), now);
}

double json_num(const json_t *o, const char *name)
{
	const json_t *v = json_object_get(o, name);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

const char *json_str(const json_t *o, const char *name)
{
	return json_string_value(json_object_get(o, name));
}

/* "90min": seconds; -1. */
static double ago(const char *s)
{
	static const struct {
		const char *name;
		double seconds;
	} unit[] = {{"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}, {"w", 7 * 86400}};
	char *end;
	double v = strtod(s, &end);
	size_t i;

	if (end == s || !(v >= 0 && v < 1e9))
		return -1;
	for (i = 0; i < sizeof unit / sizeof *unit; i++)
		if (strcmp(end, unit[i].name) == 0)
			return v * unit[i].seconds;
	return -1;
}

const char *words_moment(struct arena *a, const char *s)
{
	static const char *const form[] = {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S",
	    "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"};
	double seconds = ago(s);
	struct tm tm;
	char text[32];
	const char *end;
	time_t t;
	size_t i;

	if (seconds >= 0)
		return arena_printf(a, "%.0f", seconds);
	if (words_time(s) >= 0)
		return s;
	for (i = 0; i < sizeof form / sizeof *form; i++) {
		tm = (struct tm){.tm_isdst = -1};
		end = strptime(s, form[i], &tm);
		if (!end || *end)
			continue;
		t = mktime(&tm);
		strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &tm));
		return arena_strdup(a, text);
	}
	return NULL;
}

char *words_fetch(struct arena *a, const json_t *module)
{
	const json_t *f = json_object_get(module, "fetch");
	double tries = json_num(f, "tries");

	if (!json_is_object(f))
		return NULL;
	return arena_printf(a, "%s; %s %s, again %s", words_clean(a, json_str(f, "text")),
	    words_number(a, tries), tries > 1 ? "tries" : "try",
	    words_local(a, json_str(f, "again")));
}

const char *words_lift_state(const json_t *module)
{
	const char *state = json_str(json_object_get(module, "legacy"), "state");

	return state ? state : "";
}

char *words_legacy(struct arena *a, const json_t *module)
{
	const json_t *l = json_object_get(module, "legacy");

	if (!json_is_object(l))
		return NULL;
	return arena_printf(a, "%s (%s so far, it takes %s)", words_said(a, json_str(l, "text")),
	    words_plural(a, floor(json_num(l, "samples")), "sample"),
	    words_number(a, json_num(l, "needed")));
}
