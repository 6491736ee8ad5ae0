#include "managerd/trial/windows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a window's CPU time, at most, may be another build's; and of its time, at least, is CPU time
 * for which a counter has something to show. */
#define OTHERS 0.01
#define BUSY 0.1
/* A monitor that was silent for so long is followed no more, when there is another. */
#define SILENT_NS 120000000000ULL

int windows_number(const char *text, size_t n, double *out)
{
	enum { DIGITS = 32 };
	static const char blank[] = " \t\r\n";
	char word[DIGITS + 1];
	size_t begin = 0, end = n;
	char *rest;

	while (begin < end && text[begin] && strchr(blank, text[begin]))
		begin++;
	while (end > begin && text[end - 1] && strchr(blank, text[end - 1]))
		end--;
	if (begin == end || end - begin > DIGITS)
		return -1;
	memcpy(word, text + begin, end - begin);
	word[end - begin] = '\0';
	if (strspn(word, "0123456789.eE+-") != end - begin || *word < '0' || *word > '9')
		return -1;
	*out = strtod(word, &rest);
	return *rest || !(*out >= 0) || *out > 9007199254740992.0 ? -1 : 0;
}

void windows_read(struct windows *w, uint64_t at_ns, double count)
{
	w->next = (struct windows_reading){.at_ns = at_ns, .count = count};
}

void windows_restarted(struct windows *w)
{
	w->base.at_ns = w->next.at_ns = 0;
	w->back = w->still = 0;
	w->skip = 1;
}

static const struct windows_report *latest(const struct windows *w)
{
	return w->npast ? &w->past[w->npast - 1] : NULL;
}

/* Is it of another monitor, or of a session that is over? */
static bool is_anothers(const struct windows_report *last, const struct windows_report *r)
{
	int arm;

	if (last->session != r->session || r->at_ns < last->at_ns)
		return true;
	for (arm = 0; arm < TRIAL_ARMS; arm++)
		if (r->cpu_ns[arm] < last->cpu_ns[arm])
			return true;
	return false;
}

static void keep(struct windows *w, const struct windows_report *r)
{
	if (w->npast == WINDOWS_PAST)
		memmove(w->past, w->past + 1, --w->npast * sizeof *w->past);
	w->past[w->npast++] = *r;
}

/* CPU time at the reading that waits. 1; 0: not known yet; -1: not known any more. */
static int find_cpu(struct windows *w)
{
	const struct windows_report *a, *b = w->past;
	double share;
	int arm;

	if (w->next.at_ns < b->at_ns)
		return -1;
	while (b < w->past + w->npast && b->at_ns < w->next.at_ns)
		b++;
	if (b == w->past + w->npast)
		return 0;
	a = b > w->past ? b - 1 : b;
	share = b->at_ns > a->at_ns
		    ? (double)(w->next.at_ns - a->at_ns) / (double)(b->at_ns - a->at_ns)
		    : 0;
	for (arm = 0; arm < TRIAL_ARMS; arm++)
		w->next.cpu_ns[arm] =
		    (double)a->cpu_ns[arm] + share * (double)(b->cpu_ns[arm] - a->cpu_ns[arm]);
	return 1;
}

/* From base to next. */
static bool end_window(struct windows *w, struct trial_window *out, enum trial_trouble *trouble)
{
	double cpu[TRIAL_ARMS] = {w->next.cpu_ns[TRIAL_OLD] - w->base.cpu_ns[TRIAL_OLD],
	    w->next.cpu_ns[TRIAL_NEW] - w->base.cpu_ns[TRIAL_NEW]};
	double work = w->next.count - w->base.count, all = cpu[TRIAL_OLD] + cpu[TRIAL_NEW];
	enum trial_arm arm = cpu[TRIAL_NEW] > cpu[TRIAL_OLD] ? TRIAL_NEW : TRIAL_OLD;
	bool busy = all > BUSY * (double)(w->next.at_ns - w->base.at_ns);

	w->back = work < 0 ? w->back + 1 : 0;
	w->still = work ? 0 : w->still + busy;
	if (w->back >= WINDOWS_BACK)
		*trouble = TRIAL_BACK;
	else if (w->still >= WINDOWS_STILL)
		*trouble = TRIAL_STILL;
	if (!(work > 0) || cpu[arm] < 1 || all - cpu[arm] > OTHERS * all)
		return false;
	if (w->skip) {
		w->skip--;
		return false;
	}
	*out = (struct trial_window){arm, w->base.at_ns, work, (uint64_t)cpu[arm]};
	return true;
}

bool windows_report(struct windows *w, const struct windows_report *r, struct trial_window *out,
    enum trial_trouble *trouble)
{
	const struct windows_report *last = latest(w);
	bool ended;
	int found;

	/* Two monitors at once each began from elsewhere: one is followed. */
	if (last && last->session != r->session && r->at_ns < last->at_ns + SILENT_NS)
		return false;
	if (last && is_anothers(last, r)) {
		w->npast = 0;
		w->base.at_ns = w->next.at_ns = 0;
	}
	keep(w, r);
	found = w->next.at_ns ? find_cpu(w) : 0;
	if (found > 0) {
		ended = w->base.at_ns && end_window(w, out, trouble);
		w->base = w->next;
	}
	if (found)
		w->next.at_ns = 0;
	return found > 0 && ended;
}
