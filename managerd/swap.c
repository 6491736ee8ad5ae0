#include "managerd/swap.h"
#include "common/log.h"
#include "common/publish.h"
#include "managerd/builds.h"
#include "managerd/digest.h"
#include "managerd/fault.h"
#include "managerd/journal.h"
#include "managerd/modfile.h"
#include "managerd/settle.h"
#include "managerd/stage.h"
#include "managerd/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

struct swap {
	const char *state;
	const struct swap_order *o;
	bool rollback;
	struct trusted mod;
	struct stat from_st, to_st;
	int dir;    /* of the module, for fsync */
	int source; /* the build that goes in */
	int stage;
	struct journal j;
};

const char *swap_key(const char *module, char out[HASH_HEX])
{
	struct hash128 h = hash_bytes(module, strlen(module));

	return hash_hex(&h, out);
}

enum swap_status swap_check(const char *module, struct err *e)
{
	enum swap_status status;
	struct build_id id;
	struct trusted t;

	status = modfile_open(module, &t, &id, e);
	if (status == SWAP_OK)
		trust_close(&t);
	return status;
}

int swap_unchanged(
    const char *state, const char *module, const struct build_id *id, struct err *e)
{
	int fd = open(module, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int r = fd < 0 ? 0 : digest_check(state, module, id, fd, e);

	if (fd >= 0)
		close(fd);
	return r;
}

/* ---- before anything is changed ---- */

static enum swap_status open_module(struct swap *s, struct err *e)
{
	char is[BUILD_ID_HEX], was[BUILD_ID_HEX];
	enum swap_status status;
	struct build_id id;

	status = modfile_open(s->o->module, &s->mod, &id, e);
	if (status != SWAP_OK)
		return status;
	s->from_st = s->mod.st;
	if (strcmp(s->mod.path, s->o->module) != 0) {
		err_set(e, "%s: its folder is a symbolic link to %s", s->o->module, s->mod.path);
		return SWAP_REFUSED;
	}
	if (!build_id_equal(&id, &s->o->from)) {
		err_set(e, "%s: is build %s now, not %s: it was replaced by a rebuild or an upgrade",
		    s->mod.path, build_id_hex(&id, is), build_id_hex(&s->o->from, was));
		return SWAP_CHANGED;
	}
	/* A rollback loses a change as well, but a person asks for it. */
	if (!s->rollback && digest_check(s->state, s->mod.path, &id, s->mod.fd, e) < 0)
		return SWAP_CHANGED;
	s->dir = openat(s->mod.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir < 0 || faccessat(s->mod.dir, ".", W_OK | X_OK, AT_EACCESS) < 0) {
		err_sys(e, "%s: its folder cannot be written", s->mod.path);
		return SWAP_FAILED;
	}
	return SWAP_OK;
}

static int judge_source(const struct swap *s, const char *path, struct err *e)
{
	char is[BUILD_ID_HEX], want[BUILD_ID_HEX];
	const struct stat *st = &s->to_st;
	struct build_id id;

	if (!S_ISREG(st->st_mode))
		return err_set(e, "%s: is not a regular file", path);
	if (st->st_uid != s->from_st.st_uid && st->st_uid != 0 && st->st_uid != s->o->staged_by)
		return err_set(e, "%s: belongs to uid %u, not to the module's owner", path,
		    (unsigned)st->st_uid);
	if (modfile_build_id(s->source, path, &id, e) < 0)
		return -1;
	if (!build_id_equal(&id, &s->o->to))
		return err_set(e, "%s: is build %s, not %s", path, build_id_hex(&id, is),
		    build_id_hex(&s->o->to, want));
	return 0;
}

static enum swap_status open_source(struct swap *s, struct err *e)
{
	char *kept = s->rollback ? builds_path(s->state, s->mod.path, &s->o->to) : NULL;
	const char *path = kept ? kept : s->o->staged;
	int r = 0;

	s->source = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (s->source < 0 || fstat(s->source, &s->to_st) < 0)
		r = err_sys(e, "%s", path);
	else
		r = judge_source(s, path, e);
	free(kept);
	return r < 0 ? SWAP_FAILED : SWAP_OK;
}

static enum swap_status find_room(struct swap *s, struct err *e)
{
	uint64_t kept = builds_can_link(s->state, &s->from_st) ? 0 : (uint64_t)s->from_st.st_size;
	int state = open(s->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;

	if (state < 0)
		r = err_sys(e, "%s", s->state);
	else
		r = stage_space(s->dir, (uint64_t)s->to_st.st_size, s->mod.path, e) < 0 ||
				stage_space(state, kept, s->state, e) < 0
		    ? -1
		    : 0;
	if (state >= 0)
		close(state);
	return r < 0 ? SWAP_FAILED : SWAP_OK;
}

static enum swap_status prepare(struct swap *s, struct err *e)
{
	enum swap_status status;

	status = open_module(s, e);
	if (status == SWAP_OK)
		status = open_source(s, e);
	if (status == SWAP_OK)
		status = find_room(s, e);
	return status;
}

/* ---- the change ---- */

static void kept_half(void)
{
	fault_point("swap", SWAP_STEP_KEPT_HALF);
}

static void stage_half(void)
{
	fault_point("swap", SWAP_STEP_STAGE_HALF);
}

static int begin(struct swap *s, struct err *e)
{
	uint32_t salt;

	if (getrandom(&salt, sizeof salt, 0) != sizeof salt)
		return err_sys(e, "random numbers");
	s->j = (struct journal){
		.module = xstrdup(s->mod.path),
		/* The name is cut so that the longest file name still has room. */
		.stage = xasprintf(".%.200s.morph-new.%08x", s->mod.name, salt),
		.rollback = s->rollback,
		.fresh = !builds_have(s->state, s->mod.path, &s->o->from),
		.from = s->o->from,
		.to = s->o->to,
		.origin = s->o->origin,
		.keep = s->o->keep,
		.old_ino = s->from_st.st_ino,
	};
	return journal_begin(s->state, &s->j, e);
}

static int keep_old(struct swap *s, struct err *e)
{
	if (!s->j.fresh)
		return 0;
	return builds_keep(
	    s->state, s->mod.path, &s->o->from, s->mod.fd, &s->from_st, kept_half, e);
}

static int write_stage(struct swap *s, struct err *e)
{
	struct stat st;

	s->stage = openat(s->mod.dir, s->j.stage,
	    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (s->stage < 0)
		return err_sys(e, "%s: staging the new build", s->mod.path);
	if (stage_copy(s->source, s->stage, (uint64_t)s->to_st.st_size, stage_half, e) < 0 ||
	    stage_attributes(s->mod.fd, &s->from_st, s->stage, e) < 0)
		return err_wrap(e, "%s", s->mod.path);
	if (fsync(s->stage) < 0 || fstat(s->stage, &st) < 0)
		return err_sys(e, "%s: staging the new build", s->mod.path);
	if (!s->rollback &&
	    digest_note(s->state, s->mod.path, &s->o->to, s->stage, s->o->keep, e) < 0)
		return -1;
	/* No program can be executed while it is open for writing. */
	close(s->stage);
	s->stage = -1;
	fault_point("swap", SWAP_STEP_STAGED);
	return journal_ready(s->state, &s->j, st.st_ino, e);
}

/* The same file, and nobody wrote into it. */
static bool untouched(const struct swap *s)
{
	struct stat at, in;

	return !fstatat(s->mod.dir, s->mod.name, &at, AT_SYMLINK_NOFOLLOW) &&
	    !fstat(s->mod.fd, &in) && at.st_dev == in.st_dev && at.st_ino == in.st_ino &&
	    in.st_size == s->from_st.st_size &&
	    in.st_mtim.tv_sec == s->from_st.st_mtim.tv_sec &&
	    in.st_mtim.tv_nsec == s->from_st.st_mtim.tv_nsec;
}

static bool stage_is_old(const struct swap *s)
{
	struct stat st;

	return !fstatat(s->mod.dir, s->j.stage, &st, AT_SYMLINK_NOFOLLOW) &&
	    st.st_ino == s->j.old_ino;
}

/* Exchanging rather than renaming shows which file was replaced. */
static enum swap_status exchange(struct swap *s, struct err *e)
{
	bool exchanged = true;
	int r;

	if (!untouched(s)) {
		err_set(e, "%s: was changed by somebody while it was being swapped", s->mod.path);
		return SWAP_CHANGED;
	}
	r = renameat2(s->mod.dir, s->j.stage, s->mod.dir, s->mod.name, RENAME_EXCHANGE);
	if (r < 0 && (errno == EINVAL || errno == ENOSYS)) {
		exchanged = false;
		r = renameat(s->mod.dir, s->j.stage, s->mod.dir, s->mod.name);
	}
	if (r < 0) {
		err_sys(e, "%s: putting the new build in place", s->mod.path);
		return errno == ENOENT ? SWAP_CHANGED : SWAP_FAILED;
	}
	if (exchanged && !stage_is_old(s)) {
		err_set(e, "%s: was replaced by somebody while it was being swapped", s->mod.path);
		return SWAP_CHANGED;
	}
	return SWAP_OK;
}

/* From here on the new build is in place: what fails now is told and settled
 * by the journal at the next start. */
static void finish(struct swap *s)
{
	struct err e;

	fault_point("swap", SWAP_STEP_EXCHANGED);
	if (unlinkat(s->mod.dir, s->j.stage, 0) < 0 && errno != ENOENT)
		log_warn("%s: removing %s: %s", s->mod.path, s->j.stage, strerror(errno));
	fault_point("swap", SWAP_STEP_SETTLED);
	if (fsync(s->dir) < 0)
		log_warn("%s: its folder: %s", s->mod.path, strerror(errno));
	fault_point("swap", SWAP_STEP_SYNCED);
	if (journal_swapped(s->state, &s->j, &e) < 0)
		log_warn("%s", e.text);
	fault_point("swap", SWAP_STEP_SWAPPED);
}

static enum swap_status change(struct swap *s, struct err *e)
{
	enum swap_status status;

	fault_point("swap", SWAP_STEP_BEGUN);
	if (keep_old(s, e) < 0)
		return SWAP_FAILED;
	fault_point("swap", SWAP_STEP_KEPT);
	if (write_stage(s, e) < 0)
		return SWAP_FAILED;
	fault_point("swap", SWAP_STEP_READY);
	status = exchange(s, e);
	if (status == SWAP_OK)
		finish(s);
	return status;
}

static void take_back(struct swap *s)
{
	struct err e;

	if (settle(s->state, &s->j, &e) < 0 || journal_end(s->state, s->j.module, &e) < 0)
		log_error("%s; will be settled at the next start", e.text);
}

static void release(struct swap *s)
{
	trust_close(&s->mod);
	if (s->dir >= 0)
		close(s->dir);
	if (s->source >= 0)
		close(s->source);
	if (s->stage >= 0)
		close(s->stage);
	journal_free(&s->j);
}

static enum swap_status run(const char *state, const struct swap_order *o, bool rollback,
    struct err *e)
{
	struct swap s = {.state = state, .o = o, .rollback = rollback,
		.mod = {.dir = -1, .fd = -1}, .dir = -1, .source = -1, .stage = -1};
	enum swap_status status;

	status = prepare(&s, e);
	if (status == SWAP_OK) {
		if (begin(&s, e) < 0) {
			status = SWAP_FAILED;
		} else {
			status = change(&s, e);
			if (status != SWAP_OK)
				take_back(&s);
		}
	}
	release(&s);
	return status;
}

enum swap_status swap_commit(const char *state, const struct swap_order *o, struct err *e)
{
	return run(state, o, false, e);
}

enum swap_status swap_rollback(const char *state, const struct swap_order *o, struct err *e)
{
	return run(state, o, true, e);
}

/* ---- afterwards ---- */

static int forget(const char *state, const struct journal *j, struct err *e)
{
	int r = 0;

	if (j->swapped && builds_drop(state, j->module, &j->to, e) < 0)
		r = -1;
	if (builds_prune(state, j->module, &j->origin, j->keep, e) < 0)
		r = -1;
	fault_point("swap", SWAP_STEP_PRUNED);
	return r;
}

int swap_done(const char *state, const char *module, struct err *e)
{
	struct journal j = {0};
	int found = journal_load(state, module, &j, e), r = found < 0 ? -1 : 0;

	if (found > 0) {
		r = forget(state, &j, e);
		if (!r)
			r = journal_end(state, module, e);
		fault_point("swap", SWAP_STEP_DONE);
	}
	journal_free(&j);
	return r;
}

struct recovery {
	void (*fn)(const struct swap_outcome *o, void *arg);
	void *arg;
	struct err *e;
};

static int recover_one(const char *state, struct journal *j, void *arg)
{
	struct recovery *r = arg;
	int end = settle(state, j, r->e);

	if (end < 0)
		return -1;
	if (end == SWAP_FINISHED && !j->swapped && journal_swapped(state, j, r->e) < 0)
		return -1;
	r->fn(&(struct swap_outcome){.module = j->module, .from = j->from, .to = j->to,
		      .rollback = j->rollback, .end = end}, r->arg);
	return 0;
}

int swap_recover(const char *state, void (*fn)(const struct swap_outcome *o, void *arg), void *arg,
    struct err *e)
{
	struct recovery r = {.fn = fn, .arg = arg, .e = e};

	return journal_each(state, recover_one, &r, e);
}
