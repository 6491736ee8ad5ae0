/*
 * The policy: a YAML file, read strictly (docs/POLICY.md, morph.yaml(5)).
 * Anything unknown, mistyped or out of range is one error that names file,
 * line, column and what was expected. A key that is absent has its default;
 * config/morph.yaml states all defaults and a test holds it to that.
 */
#ifndef MORPH_MANAGERD_CONF_H
#define MORPH_MANAGERD_CONF_H

#include "common/err.h"
#include "common/mem.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum conf_action {
	CONF_OPTIMIZE, /* observed, and laid out when the ladder is climbed */
	CONF_OBSERVE,  /* samples are mapped and kept, nothing is changed */
	CONF_IGNORE    /* samples count as outside */
};

enum conf_legacy {         /* of programs without an artifact */
	LEGACY_UNSET = -1, /* of an entry: what holds without it */
	LEGACY_OFF,        /* nothing is done for them */
	LEGACY_OBSERVE,    /* it is said which could be lifted, and none is */
	LEGACY_OPTIMIZE    /* one that has enough samples is lifted and laid out */
};

struct conf_module { /* one entry of `modules`; the first whose glob matches holds */
	char *path;  /* glob, fnmatch(3); with a "**" in it every '*' also matches '/' */
	int action;  /* enum conf_action */
	int legacy;  /* enum conf_legacy */
	char **verify, **measure;  /* argv, NULL = the general one */
	char **counter, **restart; /* of a service, together: counter NULL = the general ones */
	char *order;               /* path of a list of functions that come first, NULL = none */
	unsigned line;
};

struct conf_package { /* one entry of `packages`; the first whose glob matches holds */
	char *name;   /* glob, fnmatch(3) */
	int legacy;   /* enum conf_legacy */
};

enum conf_key {
	CONF_HALF_LIFE,
	CONF_REGISTERS,
	CONF_SAMPLE_BUDGET,
	CONF_EVERY,
	CONF_MIN_SAMPLES,
	CONF_MIN_COVERAGE,
	CONF_MIN_CHANGE,
	CONF_MIN_GAIN,
	CONF_MIN_REGAIN,
	CONF_COOL_DOWN,
	CONF_EDITS_PER_DAY,
	CONF_HOLD,
	CONF_IDLE_CPU,
	CONF_IDLE_PSI,
	CONF_IDLE_AFTER,
	CONF_IDLE_BATTERY,
	CONF_EDIT_DEADLINE,
	CONF_EDIT_MEMORY,
	CONF_EDIT_DISK,
	CONF_EDIT_LANDLOCK,
	CONF_QUOTA_DISK,
	CONF_MEASURE_SWITCHBACK,
	CONF_MEASURE_TURN,
	CONF_MEASURE_RUNS,
	CONF_MEASURE_PAIRS,
	CONF_MEASURE_SERVICE_TURN,
	CONF_FETCH_PER_DAY,
	CONF_FETCH_DISK,
	CONF_RECORD_DISK,
	CONF_SAMPLES_DAYS,
	CONF_SAMPLES_DISK,
	CONF_KEEP_BUILDS,
	CONF_PERF_LINKS,
	CONF_LEGACY,
	CONF_FETCH_SERVERS,
	CONF_FETCH_KEY,
	CONF_VERIFY,
	CONF_MEASURE,
	CONF_COUNTER,
	CONF_RESTART,
	CONF_NOTIFY,
	CONF_MODULES,
	CONF_PACKAGES,
	CONF_NKEY
};

struct conf {
	char *path; /* of the file, NULL = defaults only */
	struct {
		double half_life_s;
		bool registers; /* of samples are evaluated */
		double budget;  /* share of each processor that extra samples may cost */
	} profile;
	struct {
		double every_s;      /* between two decisions about a module */
		double min_samples;  /* aged, mapped */
		double min_coverage; /* share 0…1 */
		double min_change;   /* distance 0…1 */
		double min_gain;     /* share 0…1, of a first layout */
		double min_regain;   /* likewise of another one */
		double cool_down_s;  /* since the last swap of the module */
		double hold_s;       /* after a failed edit, verify or swap */
		uint64_t edits_per_day;
	} decide;
	struct {
		double cpu;     /* share of the processors that must be idle, 0…1 */
		double psi;     /* share of time anyone may wait for a processor, 0…1 */
		double after_s; /* both must hold this long */
		bool battery;   /* work on battery, too */
	} idle;
	struct {
		double deadline_s; /* of running time, without pauses */
		uint64_t memory; /* bytes of address space of each of its processes, 0 = no limit */
		uint64_t disk;   /* bytes that the files of one job may take */
		bool landlock;   /* root's modules are edited only where the kernel has it */
	} edit;
	struct {
		uint64_t disk; /* bytes that kept builds and caches of one user may take */
	} quota;
	struct {                 /* gains, by the clock */
		bool switchback; /* old and new build take turns after a swap */
		double turn_s;   /* of one of them, at least */
		uint64_t runs;   /* processes of each, at most */
		uint64_t pairs;  /* of runs of the command, or of turns of a service, at most */
		double service_turn_s; /* of a service's build, at least */
		char **command; /* before the swap: argv with {build} not replaced; NULL = none */
		/* of services: argv with {module} not replaced; NULL = none. It prints a number
		 * that grows with the work done, or is conf_counts_cycles(); it has the service
		 * begin again. */
		char **counter, **restart;
	} measure;
	struct {                     /* artifacts from servers */
		VEC(char *) servers; /* URLs; none = nothing is fetched */
		char *key;           /* of minisign(1); NULL = TLS says who a server is */
		uint64_t per_day;    /* tries, of all programs together */
		uint64_t disk;       /* bytes of artifacts that were fetched */
	} fetch;
	struct {
		uint64_t disk; /* bytes of a recording of what the manager sees, 0 = none */
	} record;
	struct {
		uint64_t days; /* address samples are kept, 0 = none are */
		uint64_t disk; /* bytes of them, about */
	} samples;
	char **notify; /* argv with {module}, {event} and {text} not replaced; NULL = none */
	char **verify; /* argv, NULL-terminated, with {new} and {old} not replaced; NULL = none */
	VEC(struct conf_module) modules;
	VEC(struct conf_package) packages; /* Debian packages whose modules may be swapped */
	uint64_t keep_builds;              /* old builds kept per module for rollback, >= 1 */
	bool perf_links;          /* what has other names in perf's cache alone may be swapped */
	int legacy;               /* enum conf_legacy, where no entry says otherwise */
	unsigned line[CONF_NKEY]; /* where a value comes from, 0 = default */
};

void conf_defaults(struct conf *c);
/* Reads path (NULL: defaults only) over the defaults; text gets its bytes. On error c is
 * empty. */
int conf_read(const char *path, struct buf *text, struct conf *c, struct err *e);
/* The same from an open file, from its begin; one without text: defaults. */
int conf_read_fd(int fd, const char *name, struct conf *c, struct err *e);
/* The same from memory; name is for messages. */
int conf_parse(const char *name, const char *text, size_t n, struct conf *c, struct err *e);
void conf_free(struct conf *c);
/* The effective policy as YAML that reads back, each line with its origin as
 * a comment. */
void conf_print(const struct conf *c, FILE *out);

/* The entry of `modules` that holds for a path, or NULL: then it is optimize. */
const struct conf_module *conf_module_for(const struct conf *c, const char *path);
/* Whether a path may get a new layout; else e says by which line it may not. */
bool conf_lets_optimize(const struct conf *c, const char *path, struct err *e);
/* The entry of `packages` that holds for a package, or NULL: its modules may not be swapped. */
const struct conf_package *conf_package_for(const struct conf *c, const char *package);
/* What holds for a program without an artifact: its path's entry says so, or its package's (NULL =
 * it is of none), or the general key. */
enum conf_legacy conf_legacy_for(const struct conf *c, const char *path, const char *package);
/* The same of whichever package gives it most. */
enum conf_legacy conf_legacy_most(const struct conf *c, const char *path);
/* The verify command that holds for a path, or NULL. */
char *const *conf_verify_for(const struct conf *c, const char *path);
/* Likewise the one by which old and new build are compared. */
char *const *conf_measure_for(const struct conf *c, const char *path);
/* Likewise the counter of a service's work, … */
char *const *conf_counter_for(const struct conf *c, const char *path);
/* Whether that is `cycles`: no command, but the CPU's counters. */
bool conf_counts_cycles(const struct conf *c, const char *path);
/* … and what restarts the service whose counter that is. */
char *const *conf_restart_for(const struct conf *c, const char *path);
/* The path of the list of functions that come first in a layout (common/profiletext/funclist.h), or
 * NULL. */
const char *conf_order_for(const struct conf *c, const char *path);

#endif
