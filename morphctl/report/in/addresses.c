/*
 * What the manager answers to GET /v1/addresses (docs/API.md):
 *
 *	range SINCE UNTIL                                        seconds since 1970
 *	file ID KIND BUILD ORIGIN UID PID SAMPLES NS NAME        of each file, then
 *	ADDRESS COUNT                                            of each address of it
 *
 * Counts may be fewer than SAMPLES: not all addresses are kept, or shown. The rest have a location
 * without a name.
 */
#include "morphctl/report/in/lines.h"

#include <string.h>

struct reader {
	struct recording *r;
	uint32_t event, file, task;
	bool counted;         /* the file's samples are in the recording */
	uint64_t samples, ns; /* of the file at hand, of which are left: */
	uint64_t left;
};

static void add_samples(struct reader *x, uint64_t offset, uint64_t n)
{
	uint32_t at = recording_location(x->r, x->file, offset);

	if (offset == UINT64_MAX && !x->r->location.v[at].resolved)
		recording_resolve(x->r, at, NULL, 0);
	recording_sample(
	    x->r, &(struct recording_sample){.event = x->event,
		      .task = x->task,
		      .stack = recording_stack(x->r, RECORDING_NONE, at),
		      .n = n,
		      .period = (uint64_t)((double)x->ns / (double)x->samples * (double)n)});
}

static void end_file(struct reader *x)
{
	if (x->counted && x->left)
		add_samples(x, UINT64_MAX, x->left);
	x->counted = false;
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

/* A line after "file ". */
static bool take_file(struct reader *x, struct word line)
{
	enum { ID, KIND, BUILD, ORIGIN, USER, PID, SAMPLES, NS, WORDS };
	struct word w[WORDS];
	struct build_id id;
	uint64_t pid;
	char *name;
	int i;

	for (i = 0; i < WORDS; i++)
		if (!word_split(&line, " ", &w[i]))
			return false;
	if (!build_of(w[BUILD], &id) || !word_decimal(w[PID], &pid) || pid > UINT32_MAX ||
	    !word_decimal(w[SAMPLES], &x->samples) || !x->samples || !word_decimal(w[NS], &x->ns))
		return false;
	x->left = x->samples;
	if (word_is(w[KIND], "dropped")) {
		x->r->lost += x->samples;
		return true;
	}
	name = arena_strndup(&x->r->mem, line.s, line.n);
	x->task = pid ? recording_task(x->r, (uint32_t)pid, 0, name) : RECORDING_NONE;
	x->file = recording_file(x->r, kind_of(w[KIND]),
	    *name ? name : arena_printf(&x->r->mem, "[%.*s]", (int)w[KIND].n, w[KIND].s), &id,
	    word_is(w[KIND], "anonymous") ? (uint32_t)pid : 0);
	x->counted = true;
	return true;
}

static bool take_address(struct reader *x, struct word line)
{
	struct word address;
	uint64_t at, n;

	if (!x->counted || !word_split(&line, " ", &address) || address.n < 3 ||
	    memcmp(address.s, "0x", 2) ||
	    !word_hex((struct word){address.s + 2, address.n - 2}, &at) ||
	    !word_decimal(line, &n) || !n || n > x->left || at == UINT64_MAX)
		return false;
	x->left -= n;
	add_samples(x, at, n);
	return true;
}

static bool take_line(struct reader *x, struct word line)
{
	struct word first, rest = line;

	if (word_split(&rest, " ", &first) && word_is(first, "range"))
		return true;
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

	while (lines_next_full(&l))
		if (!take_line(&x, l.rest))
			return lines_bad(&l, e, "not a file, nor an address and a count within it");
	end_file(&x);
	return 0;
}

static bool is_addresses(const struct in_file *f)
{
	return f->n > 6 && !memcmp(f->p, "range ", 6);
}

const struct in_format in_addresses = {"addresses",
    "what the manager has of all code, GET /v1/addresses", is_addresses, read_addresses};
