#include "managerd/decide/reading.h"
#include "common/publish.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BATTERY_EVERY_S = 30, FILE_MAX = 1 << 20 };

int reading_parse_stat(const char *text, double ticks_per_s, double *total, double *idle)
{
	unsigned long long user, nice, system, idle_t, iowait, irq = 0, softirq = 0, steal = 0;

	if (sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
		&idle_t, &iowait, &irq, &softirq, &steal) < 5)
		return -1;
	*idle = (double)(idle_t + iowait) / ticks_per_s;
	*total = *idle + (double)(user + nice + system + irq + softirq + steal) / ticks_per_s;
	return 0;
}

int reading_parse_psi(const char *text, double *share)
{
	double percent;

	if (sscanf(text, "some avg10=%lf", &percent) != 1 || !(percent >= 0 && percent <= 100))
		return -1;
	*share = percent / 100;
	return 0;
}

static bool file_says(const char *folder, const char *supply, const char *file, const char *what)
{
	char *path = xasprintf("%s/%s/%s", folder, supply, file);
	struct buf text = {0};
	bool says;

	says = !file_read(path, FILE_MAX, &text, NULL) &&
	       !strncmp(buf_cstr(&text), what, strlen(what));
	buf_free(&text);
	free(path);
	return says;
}

bool reading_battery(const char *folder)
{
	bool discharges = false, mains = false;
	DIR *d = opendir(folder);
	struct dirent *de;

	while (d && (de = readdir(d))) {
		if (de->d_name[0] == '.')
			continue;
		if (file_says(folder, de->d_name, "type", "Battery"))
			/* Not that of a mouse. */
			discharges |= file_says(folder, de->d_name, "status", "Discharging") &&
				      !file_says(folder, de->d_name, "scope", "Device");
		else
			mains |= file_says(folder, de->d_name, "online", "1");
	}
	if (d)
		closedir(d);
	return discharges && !mains;
}

static double monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

void reading_take(struct reading *m, struct idle_reading *r)
{
	struct buf text = {0};

	*r = (struct idle_reading){.time_s = monotonic(), .psi = -1};
	if (!file_read("/proc/stat", FILE_MAX, &text, NULL))
		reading_parse_stat(
		    buf_cstr(&text), (double)sysconf(_SC_CLK_TCK), &r->total_s, &r->idle_s);
	text.n = 0;
	if (!file_read("/proc/pressure/cpu", FILE_MAX, &text, NULL))
		reading_parse_psi(buf_cstr(&text), &r->psi);
	buf_free(&text);
	if (!m->battery_at || r->time_s - m->battery_at >= BATTERY_EVERY_S) {
		m->battery = reading_battery("/sys/class/power_supply");
		m->battery_at = r->time_s;
	}
	r->battery = m->battery;
}
