#include "managerd/parent/swap/swap.h"
#include "common/log.h"
#include "common/publish.h"
#include "managerd/parent/swap/builds.h"
#include "managerd/parent/swap/digest.h"
#include "managerd/parent/trust/fault.h"
#include "managerd/parent/swap/journal.h"
#include "managerd/parent/trust/package.h"
#include "managerd/parent/swap/stage.h"

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
	const struct trusted *mod;
	struct trusted now; /* the same with its present status */
	struct stat to_st;
	int dir; /* of the module, for fsync */
	int stage;
	struct journal j;
};

const char *swap_key(const char *module, char out[CONTENT_HEX])
{
	struct content c = content_of_bytes(module, strlen(module));

	return content_hex(&c, out);
}

char *swap_path(const char *state, const char *folder, const char *module)
{
	char key[CONTENT_HEX];

	return xasprintf("%s/%s/%s", state, folder, swap_key(module, key));
}

/* ---- before anything is changed ---- */

static bool same_rights(const struct stat *a, const struct stat *b)
{
	return a->st_uid == b->st_uid && a->st_gid == b->st_gid && a->st_mode == b->st_mode;
}

/* Between its judgement and now lies a whole edit. */
static int look_again(struct swap *s, struct err *e)
{
	s->now = *s->o->module;
	if (fstat(s->now.fd, &s->now.st) < 0)
		return err_sys(e, "%s", s->now.path);
	s->mod = &s->now;
	if (!s->now.st.st_nlink)
		return err_set(
		    e, "%s: was removed or replaced since it was inspected", s->now.path);
	if (!same_rights(&s->now.st, &s->o->module->st))
		return err_set(e, "%s: was given to another owner or mode since it was inspected",
		    s->now.path);
	return 0;
}

/* A rollback loses a change by hand as well, but a person asks for it. */
static enum swap_status judge_module(struct swap *s, struct err *e)
{
	if (look_again(s, e) < 0)
		return SWAP_CHANGED;
	if (trust_may_replace(s->mod, s->o->perf_links, e) < 0)
		return SWAP_REFUSED;
	if (!s->o->rollback && digest_check(s->state, s->mod->path, &s->o->from, s->mod->fd,
				   (uint64_t)s->mod->st.st_size, e) < 0)
		return SWAP_CHANGED;
	s->dir = openat(s->mod->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir >= 0 && !faccessat(s->mod->dir, ".", W_OK | X_OK, AT_EACCESS))
		return SWAP_OK;
	err_sys(e, "%s: its folder cannot be written", s->mod->path);
	return SWAP_FAILED;
}

static enum swap_status find_room(struct swap *s, struct err *e)
{
	uint64_t kept = builds_can_link(s->state, &s->mod->st) ? 0 : (uint64_t)s->mod->st.st_size;
	int state = open(s->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;

	if (state < 0)
		r = err_sys(e, "%s", s->state);
	else
		r = stage_space(s->dir, (uint64_t)s->to_st.st_size, s->mod->path, e) < 0 ||
			    stage_space(state, kept, s->state, e) < 0
			? -1
			: 0;
	fd_close(&state);
	return r < 0 ? SWAP_FAILED : SWAP_OK;
}

static enum swap_status prepare(struct swap *s, struct err *e)
{
	enum swap_status status = judge_module(s, e);

	if (status == SWAP_OK && fstat(s->o->source, &s->to_st) < 0) {
		err_sys(e, "%s: the new build", s->mod->path);
		status = SWAP_FAILED;
	}
	return status == SWAP_OK ? find_room(s, e) : status;
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
	    .module = xstrdup(s->mod->path),
	    /* The name is cut so that the longest file name still has room. */
	    .stage = xasprintf(".%.200s.morph-new.%08x", s->mod->name, salt),
	    .rollback = s->o->rollback,
	    .fresh = !builds_have(s->state, s->mod->path, &s->o->from),
	    .from = s->o->from,
	    .to = s->o->to,
	    .origin = s->o->origin,
	    .keep = s->o->keep,
	    .old_ino = s->mod->st.st_ino,
	    .old_size = (uint64_t)s->mod->st.st_size,
	};
	if (content_of_file(s->mod->fd, s->j.old_size, &s->j.old_content) < 0)
		return err_sys(e, "%s", s->mod->path);
	return journal_begin(s->state, &s->j, e);
}

static int note_stage(struct swap *s, struct err *e)
{
	struct content content;
	struct stat st;

	if (fsync(s->stage) < 0 || fstat(s->stage, &st) < 0 ||
	    content_of_file(s->stage, (uint64_t)st.st_size, &content) < 0)
		return err_sys(e, "%s: staging the new build", s->mod->path);
	if (!s->o->rollback && digest_note(s->state, s->mod->path, &s->o->to, &s->o->origin,
				   (uint64_t)st.st_size, &content, s->o->keep, e) < 0)
		return -1;
	/* No program can be executed while it is open for writing. */
	close(s->stage);
	s->stage = -1;
	fault_point("swap", SWAP_STEP_STAGED);
	return journal_ready(s->state, &s->j, st.st_ino, (uint64_t)st.st_size, &content, e);
}

static int write_stage(struct swap *s, struct err *e)
{
	s->stage = openat(
	    s->mod->dir, s->j.stage, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (s->stage < 0)
		return err_sys(e, "%s: staging the new build", s->mod->path);
	if (stage_copy(s->o->source, s->stage, (uint64_t)s->to_st.st_size, stage_half, e) < 0 ||
	    stage_attributes(s->mod->fd, &s->mod->st, s->stage, e) < 0)
		return err_wrap(e, "%s", s->mod->path);
	return note_stage(s, e);
}

/* The same file as was judged, and nobody wrote into it. */
static bool untouched(const struct swap *s)
{
	const struct stat *from = &s->o->module->st;
	struct stat at, in;

	return !fstatat(s->mod->dir, s->mod->name, &at, AT_SYMLINK_NOFOLLOW) &&
	       !fstat(s->mod->fd, &in) && at.st_dev == in.st_dev && at.st_ino == in.st_ino &&
	       in.st_size == from->st_size && in.st_mtim.tv_sec == from->st_mtim.tv_sec &&
	       in.st_mtim.tv_nsec == from->st_mtim.tv_nsec && same_rights(&in, from);
}

static enum swap_status put_in_place(struct swap *s, struct err *e)
{
	int lock = package_lock(s->mod->path, e), r;

	if (lock == PACKAGE_BUSY)
		return SWAP_FAILED;
	if (!untouched(s)) {
		err_set(e, "%s: was changed by somebody while it was being swapped", s->mod->path);
		package_unlock(lock);
		return SWAP_CHANGED;
	}
	r = renameat(s->mod->dir, s->j.stage, s->mod->dir, s->mod->name);
	if (r < 0)
		err_sys(e, "%s: putting the new build in place", s->mod->path);
	package_unlock(lock);
	return r < 0 ? SWAP_FAILED : SWAP_OK;
}

/* From here on the new build is in place: what fails now is logged and settled
 * by the journal at the next start. */
static void finish(struct swap *s)
{
	struct err e;

	fault_point("swap", SWAP_STEP_RENAMED);
	if (fsync(s->dir) < 0)
		log_warn("%s: its folder: %s", s->mod->path, strerror(errno));
	fault_point("swap", SWAP_STEP_SYNCED);
	if (journal_swapped(s->state, &s->j, &e) < 0)
		log_warn("%s", e.text);
	fault_point("swap", SWAP_STEP_SWAPPED);
}

static enum swap_status change(struct swap *s, struct err *e)
{
	enum swap_status status;

	fault_point("swap", SWAP_STEP_BEGUN);
	if (s->j.fresh && builds_keep(s->state, s->mod->path, &s->o->from, s->mod->fd, &s->mod->st,
			      kept_half, e) < 0)
		return SWAP_FAILED;
	fault_point("swap", SWAP_STEP_KEPT);
	if (write_stage(s, e) < 0)
		return SWAP_FAILED;
	fault_point("swap", SWAP_STEP_READY);
	status = put_in_place(s, e);
	if (status == SWAP_OK)
		finish(s);
	return status;
}

enum swap_status swap_run(const char *state, const struct swap_order *o, struct err *e)
{
	struct swap s = {.state = state, .o = o, .dir = -1, .stage = -1};
	enum swap_status status = prepare(&s, e);
	struct err why;

	if (status == SWAP_OK && begin(&s, e) < 0)
		status = SWAP_FAILED;
	else if (status == SWAP_OK && (status = change(&s, e)) != SWAP_OK &&
		 (settle(state, &s.j, &why) < 0 || journal_end(state, s.j.module, &why) < 0))
		log_error("%s; will be settled at the next start", why.text);
	fd_close(&s.dir);
	fd_close(&s.stage);
	journal_free(&s.j);
	return status;
}

int swap_open_kept(
    const char *state, const struct trusted *module, const struct build_id *to, struct err *e)
{
	char *path = builds_path(state, module->path, to);
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		err_sys(e, "%s: the kept build", module->path);
	} else if (!S_ISREG(st.st_mode) || st.st_uid != module->st.st_uid) {
		err_set(e, "%s: the kept build belongs to uid %u, not to the module's owner",
		    module->path, (unsigned)st.st_uid);
	} else {
		free(path);
		return fd;
	}
	fd_close(&fd);
	free(path);
	return -1;
}

/* ---- afterwards ---- */

int swap_done(const char *state, const char *module, struct err *e)
{
	struct journal j = {0};
	int found = journal_load(state, module, &j, e), r = found < 0 ? -1 : 0;

	if (found > 0) {
		if (j.swapped && builds_drop(state, module, &j.to, e) < 0)
			r = -1;
		if (builds_prune(state, module, &j.origin, j.keep, e) < 0)
			r = -1;
		fault_point("swap", SWAP_STEP_PRUNED);
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
	r->fn(&(struct swap_outcome){.module = j->module,
		  .from = j->from,
		  .to = j->to,
		  .rollback = j->rollback,
		  .end = end},
	    r->arg);
	return 0;
}

int swap_recover_one(const char *state, const char *module, struct err *e)
{
	struct journal j = {0};
	int found = journal_load(state, module, &j, e), r = found < 0 ? -1 : 0;

	if (found > 0 && settle(state, &j, e) < 0)
		r = -1;
	else if (found > 0)
		r = journal_end(state, module, e);
	journal_free(&j);
	return r;
}

int swap_recover(const char *state, void (*fn)(const struct swap_outcome *o, void *arg), void *arg,
    struct err *e)
{
	struct recovery r = {.fn = fn, .arg = arg, .e = e};

	return journal_each(state, recover_one, &r, e);
}
