#include "monitor-client/summary.h"
#include "common/log.h"
#include "common/places.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void summary_place(struct summary *s, const struct place *at)
{
	struct buf key = {0};
	uint64_t *i;

	buf_add(&key, at->path, strlen(at->path) + 1);
	buf_add(&key, at->id->b, at->id->n);
	i = htab_put(&s->index, key.p, key.n, NULL);
	if (!*i) {
		vec_push(
		    &s->module, (struct summary_module){.id = *at->id, .path = xstrdup(at->path)});
		*i = s->module.n;
	}
	s->module.v[*i - 1].samples++;
	buf_free(&key);
}

void summary_batch(struct summary *s, const struct batch *b)
{
	s->taken += b->taken;
	s->kernel += b->kernel;
	s->outside += b->outside;
	s->dropped += b->dropped;
}

/* ---- whether there is an artifact ---- */

static bool is_in(const char *folders, const struct build_id *id)
{
	bool there = false;
	char *path;
	size_t n;

	while (!there && *folders) {
		n = strcspn(folders, ":");
		path = n ? build_id_path(folders, n, id) : NULL;
		there = path && access(path, F_OK) == 0;
		free(path);
		folders += n + (folders[n] == ':');
	}
	return there;
}

/* That of a laid-out build is its origin's. */
static struct build_id origin_of(const struct summary_module *m)
{
	struct elf *f = elf_file_open(m->path, -1, NULL);
	struct build_id now = {0}, origin = {0};

	if (f) {
		now = elf_file_build_id(f);
		if (build_id_equal(&now, &m->id))
			origin = elf_file_origin(f);
		elf_file_close(f);
	}
	return origin;
}

/* There is a file of that name; whether it is sound the manager says. */
static bool has_artifact(const struct summary_module *m, const char *folders, bool parses)
{
	char *beside = xasprintf("%s.morph", m->path);
	bool has = access(beside, F_OK) == 0 || is_in(folders, &m->id);
	struct build_id origin;

	free(beside);
	if (!has && parses) {
		origin = origin_of(m);
		has = origin.n && is_in(folders, &origin);
	}
	return has;
}

static uint64_t with_artifact(const struct summary *s, bool parses)
{
	char *folders = places_artifacts(getenv("HOME"));
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < s->module.n; i++)
		if (has_artifact(&s->module.v[i], folders, parses))
			n += s->module.v[i].samples;
	free(folders);
	return n;
}

/* ---- what is said ---- */

/* Who listens at another socket says himself what comes of them. */
static bool is_usual(const char *socket)
{
	char *usual = places_socket("monitor.sock");
	bool is = !strcmp(socket, usual);

	free(usual);
	return is;
}

static void say_where(const struct summary_end *end, uint64_t with, bool arrived)
{
	const char *next = with ? ""
				: "; nothing there has an artifact: build it under "
				  "`morphctl hooks run`";

	if (end->record)
		log_info("written to %s%s", end->record, next);
	else if (arrived && !is_usual(end->socket))
		return;
	else if (arrived)
		log_info("sent to the manager; %s",
		    with ? "`morphctl status` says what it knows" : next + 2);
	else if (!end->spool)
		log_info("no manager took them at %s, and there is no spool: they are lost",
		    end->socket);
	else
		log_info("no manager took them at %s: they wait in %s; start one: morphd --user%s",
		    end->socket, end->spool, next);
}

void summary_say(const struct summary *s, const struct summary_end *end, bool arrived)
{
	uint64_t with, elsewhere, placed = s->taken - s->kernel - s->outside - s->dropped;

	if (!s->taken) {
		log_info("no samples: nothing ran for as long as %.0f ms; let it run longer",
		    (double)end->period / 1e6);
		return;
	}
	with = with_artifact(s, end->parses);
	elsewhere = placed - with + s->outside;
	log_info("%" PRIu64 " samples, %.1f s of CPU time: %" PRIu64
		 " in programs with an artifact, %" PRIu64 " elsewhere, %" PRIu64
		 " in the kernel, %" PRIu64 " lost",
	    s->taken, (double)s->taken * (double)end->period / 1e9, with, elsewhere, s->kernel,
	    s->dropped);
	say_where(end, with, arrived);
}

void summary_free(struct summary *s)
{
	size_t i;

	for (i = 0; i < s->module.n; i++)
		free(s->module.v[i].path);
	vec_free(&s->module);
	htab_free(&s->index);
}
