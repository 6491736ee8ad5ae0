#include "managerd/cycle/recording.h"
#include "common/log.h"
#include "common/publish.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* A look at the machine that is worth a line; and a gap between clocks that is a sleep. */
static const double busy_step = 0.02;
enum { SLEPT_MS = 2000 };

/* ---- the file ---- */

static void give_up(struct recording *r, const char *why)
{
	log_warn("record.jsonl ends: %s", why);
	fd_close(&r->fd);
}

static void write_line(struct recording *r, struct buf *line)
{
	buf_char(line, '\n');
	if (r->fd >= 0 && line->n > r->left)
		give_up(r, "it has the size that record.disk allows");
	else if (r->fd >= 0 && file_write_all(r->fd, line->p, line->n))
		give_up(r, "it cannot be written");
	else
		r->left -= line->n;
	line->n = 0;
}

/* Seconds since it began; never less than before. */
static double now(struct recording *r)
{
	int64_t ms = clock_now_ms();

	r->last_ms = ms > r->last_ms ? ms : r->last_ms;
	return (double)(r->last_ms - r->began_ms) / 1000;
}

void recording_start(struct recording *r, const struct core *c)
{
	char *path = xasprintf("%s/record.jsonl", c->home), *before = xasprintf("%s.1", path);
	double every = c->conf->decide.every_s;
	struct buf line = {0};

	*r = (struct recording){.fd = -1, .left = c->conf->record.disk, .busy = -1};
	if (r->left) {
		rename(path, before);
		r->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (r->fd < 0)
			log_warn("%s: %m", path);
		r->began_ms = r->last_ms = r->looked_ms = clock_now_ms();
		r->looked_ns = uv_hrtime();
		buf_printf(&line,
		    "{\"trace\": 1, \"name\": \"recorded\", \"start\": %.3f, \"every\": 3600, "
		    "\"step\": %.3f, \"processors\": %ld}",
		    (double)r->began_ms / 1000, fmin(10, fmax(0.02, every / 4)),
		    sysconf(_SC_NPROCESSORS_ONLN));
		write_line(r, &line);
	}
	buf_free(&line);
	free(path);
	free(before);
}

void recording_stop(struct recording *r)
{
	struct buf line = {0};

	if (r->fd >= 0) {
		buf_printf(&line, "{\"at\": %.3f, \"end\": true}", now(r));
		write_line(r, &line);
	}
	fd_close(&r->fd);
	buf_free(&line);
	buf_free(&r->line);
	htab_free(&r->program);
}

/* ---- programs ---- */

static void add_text(struct buf *b, const char *s)
{
	json_t *j = json_string(s);
	char *text = j ? json_dumps(j, JSON_ENCODE_ANY) : NULL;

	buf_str(b, text ? text : "\"?\"");
	free(text);
	json_decref(j);
}

static void write_program(
    struct recording *r, unsigned number, const struct module *mod, const struct origin *o)
{
	const struct map_func *f;
	struct buf b = {0};
	char hex[HASH_HEX];
	size_t i;

	buf_printf(&b, "{\"program\": \"%u\", \"artifact\": ", number);
	add_text(&b, mod->row.artifact);
	buf_str(&b, ", \"functions\": [");
	for (i = 0; i < o->table.func.n; i++) {
		f = &o->table.func.v[i];
		buf_str(&b, i ? ", [" : "[");
		add_text(&b, f->name);
		buf_str(&b, ", ");
		add_text(&b, f->tu_name);
		buf_printf(&b, ", \"%s\", %u", hash_hex(&f->key, hex), (unsigned)f->nblock);
		if (f->opaque) {
			buf_str(&b, ", ");
			add_text(&b, f->opaque);
		}
		buf_char(&b, ']');
	}
	buf_str(&b, "]}");
	write_line(r, &b);
	buf_free(&b);
}

/* Its number, from 1; *fresh: it has it since now. */
static unsigned program_of(
    struct recording *r, const struct module *mod, const struct build_id *origin, bool *fresh)
{
	char id[BUILD_ID_HEX], key[BUILD_ID_HEX + 32];
	uint64_t *at;

	snprintf(
	    key, sizeof key, "%llu %s", (unsigned long long)mod->row.id, build_id_hex(origin, id));
	at = htab_put_str(&r->program, key, fresh);
	if (*fresh)
		*at = r->program.n;
	return (unsigned)*at;
}

/* ---- what happens ---- */

void recording_begin(struct recording *r, const struct module *mod, const struct origin *o)
{
	unsigned number;
	bool fresh;

	r->line.n = 0;
	if (r->fd < 0 || !mod->row.artifact || !build_id_equal(&o->id, &mod->row.origin))
		return;
	number = program_of(r, mod, &o->id, &fresh);
	if (fresh)
		write_program(r, number, mod, o);
	buf_printf(&r->line, "{\"at\": %.3f, \"samples\": \"%u\", \"blocks\": [", now(r), number);
}

void recording_count(struct recording *r, const struct origin *o, const struct map_func *f,
    uint32_t block, uint64_t n)
{
	if (r->line.n)
		buf_printf(&r->line, "%s[%zu, %u, %llu]",
		    r->line.p[r->line.n - 1] == ']' ? ", " : "", (size_t)(f - o->table.func.v),
		    (unsigned)block, (unsigned long long)n);
}

void recording_end(struct recording *r, uint64_t outside)
{
	if (!r->line.n)
		return;
	buf_printf(&r->line, "], \"outside\": %llu}", (unsigned long long)outside);
	write_line(r, &r->line);
}

/* The clock that stands while the machine sleeps stood. */
static bool slept(struct recording *r, int64_t *since_ms)
{
	int64_t now_ms = clock_now_ms();
	uint64_t now_ns = uv_hrtime();
	int64_t awake_ms = (int64_t)((now_ns - r->looked_ns) / 1000000);
	bool yes = now_ms - r->looked_ms - awake_ms > SLEPT_MS;

	*since_ms = r->looked_ms + awake_ms;
	r->looked_ms = now_ms;
	r->looked_ns = now_ns;
	return yes;
}

static void write_machine(struct recording *r, double at_s, bool asleep)
{
	struct buf b = {0};

	buf_printf(&b,
	    "{\"at\": %.3f, \"machine\": {\"busy\": %.3f, \"psi\": %.3f, \"battery\": %s, "
	    "\"asleep\": %s}}",
	    at_s, r->busy, fmax(0, r->machine.psi), r->machine.battery ? "true" : "false",
	    asleep ? "true" : "false");
	write_line(r, &b);
	buf_free(&b);
}

void recording_machine(struct recording *r, const struct idle *i)
{
	int64_t since_ms;
	bool woke;

	if (r->fd < 0)
		return;
	woke = slept(r, &since_ms);
	if (woke && since_ms > r->last_ms) {
		r->last_ms = since_ms;
		write_machine(r, (double)(since_ms - r->began_ms) / 1000, true);
	}
	if (!woke && r->busy >= 0 && fabs(i->busy_share - r->busy) < busy_step &&
	    fabs(i->last.psi - r->machine.psi) < busy_step && i->last.battery == r->machine.battery)
		return;
	r->busy = i->busy_share;
	r->machine = i->last;
	write_machine(r, now(r), false);
}

void recording_job(struct recording *r, const struct module *mod, const char *kind, double ran_s)
{
	struct buf b = {0};
	unsigned number;
	bool fresh;

	if (r->fd < 0)
		return;
	number = program_of(r, mod, &mod->row.origin, &fresh);
	if (!fresh) {
		buf_printf(&b, "{\"at\": %.3f, \"job\": \"%u\", \"%s\": %.3f}", now(r), number,
		    kind, fmax(0.01, ran_s));
		write_line(r, &b);
	}
	buf_free(&b);
}
