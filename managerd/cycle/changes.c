#include "managerd/cycle/changes.h"
#include "managerd/os/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANGES_KEPT = 200 };

const char *change_status_name(enum change_status s)
{
	static const char *const name[] = {"waiting", "doing", "done", "refused", "failed"};

	return (unsigned)s <= CHANGE_FAILED ? name[s] : "unknown";
}

static bool ready(const struct change_entry *c)
{
	return c->c.status >= CHANGE_DONE;
}

static void entry_free(struct change_entry *c)
{
	free((char *)c->c.path);
	free((char *)c->c.text);
	vec_free(&c->todo);
	free(c);
}

static size_t count_ready(const struct changes *cs, uint32_t uid)
{
	size_t i, n = 0;

	for (i = 0; i < cs->entry.n; i++)
		n += ready(cs->entry.v[i]) && cs->entry.v[i]->c.uid == uid;
	return n;
}

/* Beyond the bound the oldest one that is ready goes, of the user who has most of those. */
static void prune(struct changes *cs)
{
	size_t i, n, most = 0, at = 0;

	if (cs->entry.n <= CHANGES_KEPT)
		return;
	for (i = 0; i < cs->entry.n; i++) {
		n = ready(cs->entry.v[i]) ? count_ready(cs, cs->entry.v[i]->c.uid) : 0;
		if (n > most) {
			most = n;
			at = i;
		}
	}
	if (!most)
		return;
	entry_free(cs->entry.v[at]);
	memmove(&cs->entry.v[at], &cs->entry.v[at + 1], (--cs->entry.n - at) * sizeof *cs->entry.v);
}

static const char WAITS[] = "waits for its turn";

struct change_entry *change_add(struct changes *cs, enum change_kind kind, uint64_t module,
    const char *path, uint32_t uid, bool force)
{
	struct change_entry *c = xcalloc(1, sizeof *c);

	c->c = (struct change){.id = ++cs->last,
	    .kind = kind,
	    .module = module,
	    .path = xstrdup(path),
	    .uid = uid,
	    .status = CHANGE_WAITING,
	    .step = "",
	    .text = xstrdup(WAITS),
	    .started_ms = clock_now_ms()};
	c->force = force;
	c->of = cs;
	vec_push(&cs->entry, c);
	prune(cs);
	return c;
}

uint64_t change_module(const struct change_entry *c)
{
	return c->todo.n ? c->todo.v[c->todo.n - 1] : 0;
}

/* Somebody else works at that one; it goes on when that is over. */
static bool waits_elsewhere(const struct module *mod)
{
	return mod && (mod->schedule.inspection == INSPECTION_ASKED ||
			  (mod->schedule.lift_asked && mod->row.state == MODULE_NO_ARTIFACT));
}

struct change_entry *change_next(struct changes *cs, const struct modules *ms)
{
	struct change_entry *c, *best = NULL;
	const struct module *mod;
	size_t i;

	for (i = 0; i < cs->entry.n; i++) {
		c = cs->entry.v[i];
		mod = modules_get(ms, change_module(c));
		if (!ready(c) && !waits_elsewhere(mod) &&
		    (!best ||
			turns_last(&cs->turns, c->c.uid) < turns_last(&cs->turns, best->c.uid)))
			best = c;
	}
	return best;
}

unsigned change_ahead(const struct changes *cs, uint64_t id)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < cs->entry.n; i++)
		n += !ready(cs->entry.v[i]) && cs->entry.v[i]->c.id < id;
	return n;
}

struct change_entry *change_waits_for(struct changes *cs, uint64_t module)
{
	struct change_entry *c;
	size_t i;

	for (i = 0; i < cs->entry.n; i++) {
		c = cs->entry.v[i];
		if (!ready(c) && change_module(c) == module)
			return c;
	}
	return NULL;
}

static bool concerns(const struct change_entry *c, uint64_t module, uint32_t uid)
{
	size_t i;

	if (!module)
		return !c->c.module && c->c.uid == uid;
	for (i = 0; i < c->todo.n; i++)
		if (c->todo.v[i] == module)
			return true;
	return c->c.module == module;
}

struct change_entry *change_of_module(struct changes *cs, uint64_t module, uint32_t uid)
{
	size_t i;

	for (i = 0; i < cs->entry.n; i++)
		if (!ready(cs->entry.v[i]) && concerns(cs->entry.v[i], module, uid))
			return cs->entry.v[i];
	return NULL;
}

void change_step(struct change_entry *c, const char *step)
{
	if (!c)
		return;
	c->c.status = CHANGE_DOING;
	c->c.step = step;
	c->c.step_ms = clock_now_ms();
	module_text(&c->c.text, step);
}

void change_waits(struct change_entry *c)
{
	if (!c)
		return;
	c->c.status = CHANGE_WAITING;
	c->c.step = "";
	c->c.step_ms = 0;
	module_text(&c->c.text, WAITS);
}

void change_ended(struct change_entry *c, enum change_status status, const char *fmt, ...)
{
	char text[1100];
	va_list ap;

	if (!c)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	c->done += status == CHANGE_DONE;
	c->refused += status == CHANGE_REFUSED;
	c->failed += status == CHANGE_FAILED;
	if (c->todo.n)
		return;
	if (!c->c.module && c->done + c->refused + c->failed != 1) { /* the sum of many */
		snprintf(text, sizeof text, "%u laid out, %u not (see explain), %u failed", c->done,
		    c->refused, c->failed);
		status = c->failed ? CHANGE_FAILED : c->done ? CHANGE_DONE : CHANGE_REFUSED;
	}
	module_text(&c->c.text, text);
	c->c.status = status;
	c->c.step = "";
	c->c.step_ms = 0;
	c->c.ended_ms = clock_now_ms();
	if (c->of->ready)
		c->of->ready(c->of->arg, c->c.id);
}

uint64_t change_id(const struct change_entry *c)
{
	return c ? c->c.id : 0;
}

void changes_free(struct changes *cs)
{
	size_t i;

	for (i = 0; i < cs->entry.n; i++)
		entry_free(cs->entry.v[i]);
	vec_free(&cs->entry);
	turns_free(&cs->turns);
}

const struct change_entry *change_get(const struct changes *cs, uint64_t id)
{
	size_t i;

	for (i = 0; i < cs->entry.n; i++)
		if (cs->entry.v[i]->c.id == id)
			return cs->entry.v[i];
	return NULL;
}
