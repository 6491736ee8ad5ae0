/* Where the time of the machine went: by file, and by address as a stream of text. */
#include "common/utf8.h"
#include "managerd/api/json.h"
#include "managerd/api/routes.h"
#include "managerd/cycle/cycle.h"
#include "managerd/os/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SINCE_DEFAULT_S = 86400, FILES_DEFAULT = 1000, FILES_MAX = 10000, LINES_AT_ONCE = 4096 };

/* ?since= and ?until=; -1 after an error reply. */
static int range_of(struct call *c, struct address_range *r)
{
	int64_t now = clock_now_ms() / 1000;

	*r = (struct address_range){now - SINCE_DEFAULT_S, now + 1};
	if (api_param_time(c, "since", now, &r->since_s) < 0 ||
	    api_param_time(c, "until", now, &r->until_s) < 0)
		return -1;
	if (r->since_s < r->until_s)
		return 0;
	api_error(c, 400, "bad-request", "since is not before until");
	return -1;
}

enum http_verdict api_get_files(struct call *c)
{
	struct store *s = manager_store(c->api->m);
	uint64_t limit = FILES_DEFAULT;
	struct address_range r;
	struct address_file *f;
	struct err e;
	json_t *list;
	size_t n, i;
	int rc;

	if (range_of(c, &r) < 0 || api_param_uint(c, "limit", 1, FILES_MAX, &limit) < 0)
		return HTTP_REPLY;
	rc = store_address_sums(s, &r, 0, &c->rq->mem, &f, &n, &e);
	list = json_array();
	for (i = 0; rc >= 0 && i < n && json_array_size(list) < limit; i++) {
		rc = store_address_file(s, &f[i], api_list_uid(c), &c->rq->mem, &e);
		if (rc == 1)
			json_array_append_new(list, json_file(&f[i], api_may_see(c, f[i].owner)));
	}
	if (rc >= 0)
		return api_sync(c, list);
	json_decref(list);
	return api_internal(c, &e);
}

/* ---- by address ---- */

struct usage { /* an answer that is being read */
	struct manager *manager;
	struct store *store;
	struct address_range range;
	struct arena mem;
	struct address_file *file;
	size_t n, next;
	struct address_reader *reader; /* of the file before the next one, or NULL */
	bool addresses;                /* of that file are still to be read */
	uint64_t named;                /* its code is named up to this offset */
	int64_t uid;                   /* who reads it; -1 = root */
	struct htab visible;           /* id of a file that called -> 2 it may be seen, 1 not */
};

/* As the rest of a line. */
static void print_name(const char *s, struct buf *out)
{
	const unsigned char *p = (const unsigned char *)s;
	int n;

	for (; *p; p += n ? n : 1) {
		n = utf8_printable(p);
		if (n)
			buf_add(out, p, (size_t)n);
		else
			buf_char(out, '?');
	}
	buf_char(out, '\n');
}

static void print_file(const struct address_file *f, struct buf *out)
{
	char build[BUILD_ID_HEX], origin[BUILD_ID_HEX];

	buf_printf(out, "file %016" PRIx64 " %s %s %s ", f->id,
	    address_kind_name((enum address_kind)f->kind),
	    f->build.n ? build_id_hex(&f->build, build) : "-",
	    f->origin.n ? build_id_hex(&f->origin, origin) : "-");
	buf_printf(out, "%" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 " ", f->uid, f->pid,
	    f->samples, f->ns);
	print_name(f->path, out);
}

/* Of the file at hand. */
struct names {
	const struct map *map; /* NULL = not known, or another user's */
	const struct map_table *table;
};

static struct names names_of(const struct usage *u)
{
	const struct address_file *f = &u->file[u->next - 1];
	struct names n = {0};

	if (f->module && (u->uid < 0 || u->uid == f->owner))
		manager_map(u->manager, f->module, &f->build, &n.map, &n.table);
	return n;
}

/* Two neighbours are of one function, without a gap. */
static bool are_one(const struct names *n, const struct map_range *a, const struct map_range *b)
{
	uint32_t block;

	return a->end == b->start &&
	       map_slot(n->table, a->slot, &block) == map_slot(n->table, b->slot, &block);
}

/* The piece of a function, without a gap, that has the address. */
static void print_piece(struct usage *u, const struct names *n, uint64_t address, struct buf *out)
{
	const struct map_range *first = map_at(n->map, address), *last = first;
	const struct map_range *end = n->map->range.v + n->map->range.n;
	uint32_t block;

	if (!first)
		return;
	while (last + 1 < end && are_one(n, last, last + 1))
		last++;
	while (first > n->map->range.v && are_one(n, first - 1, first))
		first--;
	buf_printf(out, "= %#" PRIx32 " %" PRIu32 " ", first->start, last->end - first->start);
	print_name(map_slot(n->table, first->slot, &block)->name, out);
	u->named = last->end;
}

static bool print_address(struct usage *u, const struct names *n, struct buf *out)
{
	uint64_t address, count;

	if (!address_reader_next(u->reader, &address, &count))
		return false;
	if (n->map && address >= u->named)
		print_piece(u, n, address, out);
	buf_printf(out, "%#" PRIx64 " %" PRIu64 "\n", address, count);
	return true;
}

/* Who called is seen by whoever sees that file. */
static bool is_visible(struct usage *u, uint64_t id)
{
	struct address_file f = {.id = id};
	struct arena mem = {0};
	struct err e;
	bool fresh;
	uint64_t *at = htab_put(&u->visible, &id, sizeof id, &fresh);

	if (fresh) {
		*at = 1 + (store_address_file(u->store, &f, u->uid, &mem, &e) == 1);
		arena_free(&mem);
	}
	return *at == 2;
}

static bool print_caller(struct usage *u, struct buf *out)
{
	bool kernel = u->file[u->next - 1].kind == ADDRESS_KERNEL;
	struct address_caller c;

	if (!address_reader_caller(u->reader, &c))
		return false;
	if (!is_visible(u, c.file))
		return true;
	buf_printf(out, "%c %016" PRIx64 " %#" PRIx64 " ", c.waiting ? '^' : '<', c.file, c.site);
	if (kernel && (u->uid >= 0 || !c.address))
		buf_printf(out, "- %" PRIu64 "\n", c.count);
	else
		buf_printf(out, "%#" PRIx64 " %" PRIu64 "\n", c.address, c.count);
	return true;
}

/* Some lines of the file at hand; it is closed after the last one. */
static void print_addresses(struct usage *u, struct buf *out)
{
	struct names n = u->addresses ? names_of(u) : (struct names){0};
	unsigned i;

	for (i = 0; i < LINES_AT_ONCE; i++) {
		u->addresses = u->addresses && print_address(u, &n, out);
		if (!u->addresses && !print_caller(u, out)) {
			address_reader_free(u->reader);
			u->reader = NULL;
			return;
		}
	}
}

/* Its sums are those of what follows: more may have come since it was listed. */
static int begin_file(struct usage *u, struct buf *out)
{
	struct address_file *f = &u->file[u->next++];
	struct arena mem = {0};
	struct err e;
	int rc = store_address_file(u->store, f, u->uid, &mem, &e);

	if (rc == 1) {
		u->reader = store_addresses(u->store, &u->range, f->id, &e);
		rc = u->reader ? 1 : -1;
	}
	if (rc == 1) {
		address_reader_sums(u->reader, &f->samples, &f->ns);
		print_file(f, out);
		u->addresses = f->kind != ADDRESS_KERNEL || u->uid < 0;
		u->named = 0;
	}
	arena_free(&mem);
	return rc < 0 ? -1 : 0;
}

static int more(void *usage, struct buf *out)
{
	struct usage *u = usage;

	while (!out->n && (u->reader || u->next < u->n)) {
		if (!u->reader && begin_file(u, out) < 0)
			return -1;
		if (u->reader)
			print_addresses(u, out);
	}
	return 0;
}

static void done(void *usage)
{
	struct usage *u = usage;

	address_reader_free(u->reader);
	htab_free(&u->visible);
	arena_free(&u->mem);
	free(u);
}

/* ?file=; -1 after an error reply. */
static int file_of(struct call *c, uint64_t *id)
{
	const char *s = api_param(c, "file");

	*id = 0;
	if (!s)
		return 0;
	if (strlen(s) == 16 && strspn(s, "0123456789abcdef") == 16)
		*id = strtoull(s, NULL, 16);
	if (*id)
		return 0;
	api_error(c, 400, "bad-request", "file=%s: expected the id of a file", s);
	return -1;
}

enum http_verdict api_get_addresses(struct call *c)
{
	struct address_range r, covered;
	struct address_file f;
	struct usage *u;
	struct err e;
	int rc;

	if (range_of(c, &r) < 0 || file_of(c, &f.id) < 0)
		return HTTP_REPLY;
	u = xcalloc(1, sizeof *u);
	u->manager = c->api->m;
	u->store = manager_store(c->api->m);
	u->range = r;
	u->uid = api_list_uid(c);
	rc = store_address_sums(u->store, &r, f.id, &u->mem, &u->file, &u->n, &e);
	if (rc == 0)
		rc = store_addresses_covered(u->store, &r, &covered, &e);
	if (rc == 0 && f.id)
		rc = u->n ? store_address_file(u->store, &f, u->uid, &c->rq->mem, &e) : 0;
	if (rc < 0) {
		done(u);
		return api_internal(c, &e);
	}
	if (f.id && !rc) {
		done(u);
		return api_error(
		    c, 404, "not-found", "no samples of file %s there", api_param(c, "file"));
	}
	buf_printf(
	    &c->rp->body, "range %" PRId64 " %" PRId64 "\n", covered.since_s, covered.until_s);
	c->rp->status = 200;
	c->rp->type = "text/plain; charset=utf-8";
	c->rp->more = more;
	c->rp->done = done;
	c->rp->stream = u;
	return HTTP_REPLY;
}
