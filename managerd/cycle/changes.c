#include "managerd/cycle/manager.h"

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

static size_t count_ready(const struct manager *m, uint32_t uid)
{
	size_t i, n = 0;

	for (i = 0; i < m->change.n; i++)
		n += ready(m->change.v[i]) && m->change.v[i]->c.uid == uid;
	return n;
}

/* Beyond the bound the oldest one that is ready goes, of the user who has most of those. */
static void prune(struct manager *m)
{
	size_t i, n, most = 0, at = 0;

	if (m->change.n <= CHANGES_KEPT)
		return;
	for (i = 0; i < m->change.n; i++) {
		n = ready(m->change.v[i]) ? count_ready(m, m->change.v[i]->c.uid) : 0;
		if (n > most) {
			most = n;
			at = i;
		}
	}
	if (!most)
		return;
	entry_free(m->change.v[at]);
	memmove(&m->change.v[at], &m->change.v[at + 1],
	    (--m->change.n - at) * sizeof *m->change.v);
}

struct change_entry *change_add(struct manager *m, enum change_kind kind, uint64_t module,
    const char *path, uint32_t uid, bool force)
{
	struct change_entry *c = xcalloc(1, sizeof *c);

	c->c = (struct change){.id = ++m->next_change,
	    .kind = kind,
	    .module = module,
	    .path = xstrdup(path),
	    .uid = uid,
	    .status = CHANGE_WAITING,
	    .step = "",
	    .text = xstrdup("waits for its turn"),
	    .started_ms = clock_now_ms()};
	c->force = force;
	vec_push(&m->change, c);
	prune(m);
	return c;
}

static bool waits_for_inspection(const struct manager *m, const struct change_entry *c)
{
	const struct module *mod =
	    c->todo.n ? modules_get(&m->modules, c->todo.v[c->todo.n - 1]) : NULL;

	return mod && mod->inspection == INSPECTION_ASKED;
}

struct change_entry *change_next(struct manager *m)
{
	struct change_entry *c, *best = NULL;
	size_t i;

	for (i = 0; i < m->change.n; i++) {
		c = m->change.v[i];
		if (!ready(c) && !waits_for_inspection(m, c) &&
		    (!best || turns_last(&m->change_turns, c->c.uid) <
				  turns_last(&m->change_turns, best->c.uid)))
			best = c;
	}
	return best;
}

struct change_entry *change_waits_for(struct manager *m, uint64_t module)
{
	struct change_entry *c;
	size_t i;

	for (i = 0; i < m->change.n; i++) {
		c = m->change.v[i];
		if (!ready(c) && c->todo.n && c->todo.v[c->todo.n - 1] == module)
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

struct change_entry *change_of_module(struct manager *m, uint64_t module, uint32_t uid)
{
	size_t i;

	if (m->work.step && m->work.module == module && m->work.change)
		return m->work.change;
	for (i = 0; i < m->change.n; i++)
		if (!ready(m->change.v[i]) && concerns(m->change.v[i], module, uid))
			return m->change.v[i];
	return NULL;
}

void change_step(struct change_entry *c, const char *step)
{
	if (!c)
		return;
	c->c.status = CHANGE_DOING;
	c->c.step = step;
	module_text(&c->c.text, step);
}

/* The sum of a change of many modules. */
static void sum_up(struct change_entry *c)
{
	char text[160];

	snprintf(text, sizeof text, "%u laid out, %u not (see explain), %u failed", c->done,
	    c->refused, c->failed);
	module_text(&c->c.text, text);
	c->c.status = c->failed ? CHANGE_FAILED : c->done ? CHANGE_DONE : CHANGE_REFUSED;
}

void change_ended(
    struct manager *m, struct change_entry *c, enum change_status status, const char *fmt, ...)
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
	if (c->c.module || c->done + c->refused + c->failed == 1) {
		module_text(&c->c.text, text);
		c->c.status = status;
	} else {
		sum_up(c);
	}
	c->c.step = "";
	c->c.ended_ms = clock_now_ms();
	if (m->on_change)
		m->on_change(m->on_change_arg, c->c.id);
}

void changes_free(struct manager *m)
{
	size_t i;

	for (i = 0; i < m->change.n; i++)
		entry_free(m->change.v[i]);
	vec_free(&m->change);
}

const struct change *manager_change(struct manager *m, uint64_t id)
{
	size_t i;

	for (i = 0; i < m->change.n; i++)
		if (m->change.v[i]->c.id == id)
			return &m->change.v[i]->c;
	return NULL;
}

void manager_on_change(struct manager *m, void (*fn)(void *arg, uint64_t id), void *arg)
{
	m->on_change = fn;
	m->on_change_arg = arg;
}
