/*
 * The real tools behind the hooks, and how they are run. Every hook ends in
 * one of these: whatever it could not do, the real tool does.
 */
#ifndef MORPH_TOOL_H
#define MORPH_TOOL_H

/*
 * The real program NAME: $env if set and set to something
 * else than ourselves, else the first executable of that name in PATH that is
 * neither this program (by inode) nor one of skip ("dev:ino " per file, NULL
 * = none). To free; NULL when there is none.
 */
char *tool_find(const char *name, const char *env, const char *skip);

/* "dev:ino " of the file at path, or "". To free. */
char *tool_identity(const char *path);

/* Becomes path; prints a line and exits with 127 when that fails. */
_Noreturn void tool_become(const char *path, char *const argv[]);

/* Runs path to its end with everything inherited; its wait status, or -1. */
int tool_run(const char *path, char *const argv[]);

/* Ends this program as a child of that wait status ended. */
_Noreturn void tool_end_as(int wait_status);

/*
 * Runs fn(arg) in a child of its own, which may neither outlive seconds of
 * processor time nor, by whatever it prints or dies of, disturb the caller.
 * Returns 0 or 1 as fn returned zero or not, -1 when it died before.
 */
int tool_shielded(int (*fn)(void *), void *arg, unsigned seconds);

/*
 * The same, but after fn the child becomes path, which reads from the descriptor in and writes
 * both its outputs to out. *status gets the exit status 0…255 of path, or 128 + n after
 * signal n. Returns 1 as fn returned non-zero, -1 when it died.
 */
int tool_shielded_then(int (*fn)(void *), void *arg, unsigned seconds, const char *path,
    char *const argv[], int in, int out, int *status);

/* For processes of milliseconds: keeps memory that is freed, instead of having the kernel clear
 * other pages for the next piece. */
void tool_keep_memory(void);

/* An empty file in memory that programs started from here may open as
 * /proc/self/fd/N; -1 when the kernel refuses. */
int tool_memory_file(const char *name);

#endif
