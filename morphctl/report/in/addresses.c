/*
 * What the manager answers to GET /v1/addresses (docs/API.md):
 *
 *	range SINCE UNTIL                        seconds since 1970
 *	file ID KIND BUILD ORIGIN UID PID SAMPLES NS NAME
 *	                                         of each file, then
 *	= START SIZE NAME                        the piece of a function that has the next ones:
 *	ADDRESS COUNT                            of each address of it, then
 *	< ID SITE ADDRESS COUNT                  of these so many were called from SITE, a byte of
 *	                                         a call in file ID
 *	^ ID SITE ADDRESS COUNT                  the function that has ADDRESS, itself a SITE, was
 *	                                         called from SITE, in samples of what it called
 *
 * Counts may be fewer than SAMPLES: not all addresses are kept, or shown. The rest have a location
 * without a name, as have those that were called at an ADDRESS "-". Samples that are called have a
 * stack of two locations, others of one: chains are partial.
 */
#include "common/sort.h"
#include "morphctl/report/in/lines.h"

#include <string.h>

struct counted {
	uint64_t offset, count;
};

struct called { /* samples that wait for the file that called */
	uint64_t id, site;
	struct recording_sample sample; /* its stack is that of the callee alone */
};

struct waiting { /* likewise */
	uint64_t id, site;
	uint32_t callee; /* location */
	uint64_t n;
};

struct reader {
	struct recording *r;
	uint32_t event, file, task;
	bool counted;         /* the file's samples are in the recording */
	uint64_t samples, ns; /* of the file at hand, of which are left: */
	uint64_t left;
	VEC(struct counted) at;    /* of these, by address, those that nobody called so far */
	VEC(struct called) called; /* of all files, as these: */
	VEC(struct waiting) waiting;
	uint64_t all_samples, all_ns;
	struct htab files; /* id -> index in the recording */
};

static struct recording_sample make_sample(struct reader *x, uint64_t offset, uint64_t n)
{
	uint32_t at = recording_location(x->r, x->file, offset);

	if (offset == UINT64_MAX && !x->r->location.v[at].resolved)
		recording_resolve(x->r, at, NULL, 0);
	return (struct recording_sample){.event = x->event,
	    .task = x->task,
	    .stack = recording_stack(x->r, RECORDING_NONE, at),
	    .n = n,
	    .period = (uint64_t)((double)x->ns / (double)x->samples * (double)n)};
}

static void add_samples(struct reader *x, uint64_t offset, uint64_t n)
{
	struct recording_sample s = make_sample(x, offset, n);

	if (n)
		recording_sample(x->r, &s);
}

static void end_file(struct reader *x)
{
	size_t i;

	for (i = 0; i < x->at.n; i++)
		add_samples(x, x->at.v[i].offset, x->at.v[i].count);
	if (x->counted && x->left)
		add_samples(x, UINT64_MAX, x->left);
	x->at.n = 0;
	x->counted = false;
}

/* Any file may have called any other. */
static void add_called(struct reader *x)
{
	struct called *c;
	uint64_t *file;
	uint32_t site;

	for (c = x->called.v; c < x->called.v + x->called.n; c++) {
		file = htab_get(&x->files, &c->id, sizeof c->id);
		if (file) {
			site = recording_location(x->r, (uint32_t)*file, c->site);
			c->sample.stack =
			    recording_stack(x->r, recording_stack(x->r, RECORDING_NONE, site),
				x->r->stack.v[c->sample.stack].location);
		}
		recording_sample(x->r, &c->sample);
	}
}

static enum recording_kind kind_of(struct word kind)
{
	if (word_is(kind, "file"))
		return RECORDING_ELF;
	if (word_is(kind, "kernel"))
		return RECORDING_KERNEL;
	return word_is(kind, "anonymous") ? RECORDING_ANON : RECORDING_NAMED;
}

static bool build_of(struct word hex, struct build_id *id)
{
	char text[BUILD_ID_HEX];

	*id = (struct build_id){0};
	if (word_is(hex, "-"))
		return true;
	if (hex.n >= sizeof text)
		return false;
	memcpy(text, hex.s, hex.n);
	text[hex.n] = '\0';
	return !build_id_parse(text, id);
}

static void add_waiting(struct reader *x)
{
	double each = x->all_samples ? (double)x->all_ns / (double)x->all_samples : 0;
	const struct waiting *w;
	uint64_t *file;

	for (w = x->waiting.v; w < x->waiting.v + x->waiting.n; w++) {
		file = htab_get(&x->files, &w->id, sizeof w->id);
		if (file)
			vec_push(
			    &x->r->waiting, (struct recording_waiting){
						recording_location(x->r, (uint32_t)*file, w->site),
						w->callee, each * (double)w->n});
	}
}

/* A line after "file ". */
static bool take_file(struct reader *x, struct word line)
{
	enum { ID, KIND, BUILD, ORIGIN, USER, PID, SAMPLES, NS, WORDS };
	struct word w[WORDS];
	struct build_id id;
	uint64_t pid, number;
	char *name;
	int i;

	for (i = 0; i < WORDS; i++)
		if (!word_split(&line, " ", &w[i]))
			return false;
	if (!build_of(w[BUILD], &id) || !word_decimal(w[PID], &pid) || pid > UINT32_MAX ||
	    !word_hex(w[ID], &number) || !word_decimal(w[SAMPLES], &x->samples) ||
	    !word_decimal(w[NS], &x->ns))
		return false;
	x->left = x->samples;
	x->all_samples += x->samples;
	x->all_ns += x->ns;
	if (word_is(w[KIND], "dropped")) {
		x->r->lost += x->samples;
		return true;
	}
	name = arena_strndup(&x->r->mem, line.s, line.n);
	x->task = pid ? recording_task(x->r, (uint32_t)pid, 0, name) : RECORDING_NONE;
	x->file = recording_file(x->r, kind_of(w[KIND]),
	    *name ? name : arena_printf(&x->r->mem, "[%.*s]", (int)w[KIND].n, w[KIND].s), &id,
	    word_is(w[KIND], "anonymous") ? (uint32_t)pid : 0);
	*htab_put(&x->files, &number, sizeof number, NULL) = x->file;
	x->counted = true;
	return true;
}

static bool take_offset(struct word w, uint64_t *at)
{
	return w.n > 2 && !memcmp(w.s, "0x", 2) && word_hex((struct word){w.s + 2, w.n - 2}, at) &&
	       *at != UINT64_MAX;
}

/* A line after "= ". */
static bool take_piece(struct reader *x, struct word line)
{
	struct word start, size;
	uint64_t at, n;
	char *name;

	if (!x->counted || !word_split(&line, " ", &start) || !take_offset(start, &at) ||
	    !word_split(&line, " ", &size) || !word_decimal(size, &n) || !n || at + n < at ||
	    !line.n)
		return false;
	name = arena_strndup(&x->r->mem, line.s, line.n);
	recording_piece(x->r, x->file, at, n, name);
	return true;
}

static bool take_address(struct reader *x, struct word line)
{
	struct word address;
	uint64_t at, n;

	if (!x->counted || !word_split(&line, " ", &address) || !take_offset(address, &at) ||
	    !word_decimal(line, &n) || !n || n > x->left)
		return false;
	if (x->at.n && at <= x->at.v[x->at.n - 1].offset)
		return false;
	x->left -= n;
	vec_push(&x->at, (struct counted){at, n});
	return true;
}

/* n samples of an address, of which the store may have forgotten some or all, less those that are
 * gone. */
static void use_samples(struct reader *x, uint64_t address, uint64_t n)
{
	size_t i = partition_point(0, x->at.n, k, x->at.v[k].offset < address);
	uint64_t here = 0;

	if (i < x->at.n && x->at.v[i].offset == address)
		here = x->at.v[i].count < n ? x->at.v[i].count : n;
	if (here)
		x->at.v[i].count -= here;
	x->left -= n - here;
}

static uint64_t samples_at(const struct reader *x, uint64_t address)
{
	size_t i = partition_point(0, x->at.n, k, x->at.v[k].offset < address);

	return x->left + (i < x->at.n && x->at.v[i].offset == address ? x->at.v[i].count : 0);
}

/* A line after "< ", or "^ ". */
static bool take_caller(struct reader *x, struct word line, bool waiting)
{
	enum { ID, SITE, ADDRESS, WORDS };
	struct word w[WORDS];
	struct called c;
	uint64_t address = UINT64_MAX, n;
	int i;

	for (i = 0; i < WORDS; i++)
		if (!word_split(&line, " ", &w[i]))
			return false;
	if (!x->counted || !word_hex(w[ID], &c.id) || !take_offset(w[SITE], &c.site) ||
	    (!word_is(w[ADDRESS], "-") && !take_offset(w[ADDRESS], &address)) ||
	    !word_decimal(line, &n) || !n)
		return false;
	if (waiting) {
		vec_push(&x->waiting,
		    (struct waiting){c.id, c.site, recording_location(x->r, x->file, address), n});
		return address != UINT64_MAX;
	}
	if (n > samples_at(x, address))
		return false;
	use_samples(x, address, n);
	c.sample = make_sample(x, address, n);
	x->r->partial = true;
	vec_push(&x->called, c);
	return true;
}

static bool take_line(struct reader *x, struct word line)
{
	struct word first = {0}, rest = line;

	if (word_split(&rest, " ", &first) && word_is(first, "range"))
		return true;
	if (word_is(first, "="))
		return take_piece(x, rest);
	if (word_is(first, "<") || word_is(first, "^"))
		return take_caller(x, rest, word_is(first, "^"));
	if (!word_is(first, "file"))
		return take_address(x, line);
	end_file(x);
	return take_file(x, rest);
}

static int read_addresses(
    struct recording *r, const struct in_file *f, const struct in_options *o, struct err *e)
{
	struct reader x = {.r = r, .event = recording_event(r, "time", "ns")};
	struct lines l = {.f = f};
	int rc = 0;

	while (rc == 0 && lines_next_full(&l))
		if (!take_line(&x, l.rest))
			rc = lines_bad(&l, e, "not a file, nor an address and a count within it");
	if (rc == 0) {
		end_file(&x);
		add_called(&x);
		add_waiting(&x);
	}
	vec_free(&x.at);
	vec_free(&x.called);
	vec_free(&x.waiting);
	htab_free(&x.files);
	return rc;
}

static bool is_addresses(const struct in_file *f)
{
	return f->n > 6 && !memcmp(f->p, "range ", 6);
}

const struct in_format in_addresses = {"addresses",
    "what the manager has of all code, GET /v1/addresses", is_addresses, read_addresses};
