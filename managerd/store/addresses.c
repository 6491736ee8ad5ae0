#include "common/le.h"
#include "common/sort.h"
#include "managerd/store/calls.h"
#include "managerd/store/periods.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum {
	FILES_KNOWN = 1 << 16,
	FILE_BYTES = 96, /* of one, beside path and build-id */
	ID_BYTES = 8,
	SETTLE_BYTES = 64 << 10, /* of batches, in one turn */
	SETTLE_BATCHES = 32
};

/* ---- files ---- */

const char *address_kind_name(enum address_kind k)
{
	static const char *const name[ADDRESS_KINDS] = {
	    "file", "kernel", "anonymous", "vdso", "foreign", "unknown", "dropped"};

	return (unsigned)k < ADDRESS_KINDS ? name[k] : "unknown";
}

bool address_kind_is_total(enum address_kind k)
{
	return k == ADDRESS_KERNEL || k == ADDRESS_UNKNOWN || k == ADDRESS_DROPPED;
}

uint64_t address_file_id(const struct address_file *f)
{
	uint32_t head[] = {
	    htole32((uint32_t)f->kind), htole32(f->uid), htole32(f->pid), htole32(f->build.n)};
	crypto_generichash_state st;
	struct hash128 h;
	uint64_t id;

	crypto_generichash_init(&st, NULL, 0, sizeof h.b);
	crypto_generichash_update(&st, (const uint8_t *)head, sizeof head);
	crypto_generichash_update(&st, f->build.b, f->build.n);
	crypto_generichash_update(&st, (const uint8_t *)f->path, strlen(f->path));
	crypto_generichash_final(&st, h.b, sizeof h.b);
	id = hash_short(&h);
	return id ? id : 1; /* 0 means all */
}

void addresses_forget(struct store *s)
{
	htab_free(&s->addresses.file);
	htab_free(&s->addresses.user);
	vec_free(&s->addresses.used);
	s->addresses = (struct addresses_known){0};
}

void addresses_use(struct store *s, uint32_t uid, int64_t n)
{
	struct addresses_known *k = &s->addresses;
	uint64_t *at;
	bool fresh;

	if (!k->loaded)
		return;
	at = htab_put(&k->user, &uid, sizeof uid, &fresh);
	if (fresh) {
		*at = k->used.n;
		vec_push(&k->used, (struct addresses_used){.uid = uid});
	}
	k->used.v[*at].bytes += (uint64_t)n;
	k->bytes += (uint64_t)n;
}

/* Sums by user: uid, how many, and their bytes beside those of each. */
static int load_used(struct store *s, enum sql q, int64_t each, struct err *e)
{
	sqlite3_stmt *st = sql_bind(s, q, e, "");
	int rc;

	while ((rc = sql_run(s, st, e)) == 1)
		addresses_use(s, (uint32_t)sqlite3_column_int64(st, 0),
		    sqlite3_column_int64(st, 1) * each + sqlite3_column_int64(st, 2));
	return rc;
}

int addresses_load(struct store *s, struct err *e)
{
	sqlite3_stmt *st;

	if (s->addresses.loaded)
		return 0;
	/* Of batches that nobody settled. */
	if (sql_run(s, sql_bind(s, DROP_ADDRESS_FILES, e, ""), e))
		return -1;
	s->addresses.loaded = true;
	if (load_used(s, ADDRESS_FILES_OF, FILE_BYTES, e) || load_used(s, ADDRESSES_OF, 0, e) ||
	    sql_run(s, st = sql_bind(s, COUNT_ADDRESS_BATCHES, e, ""), e) != 1) {
		addresses_forget(s);
		return -1;
	}
	s->addresses.batches = (uint64_t)sqlite3_column_int64(st, 0);
	s->addresses.batch_bytes = (uint64_t)sqlite3_column_int64(st, 1);
	s->addresses.since_ms = sqlite3_column_int64(st, 2);
	sqlite3_reset(st);
	return 0;
}

static void know_file(struct store *s, uint64_t id, uint32_t uid)
{
	if (s->addresses.file.n >= FILES_KNOWN)
		htab_free(&s->addresses.file);
	*htab_put(&s->addresses.file, &id, sizeof id, NULL) = uid;
}

int address_file_owner(struct store *s, uint64_t id, uint32_t *uid, struct err *e)
{
	uint64_t *known = htab_get(&s->addresses.file, &id, sizeof id);
	sqlite3_stmt *st;
	int rc;

	if (known) {
		*uid = (uint32_t)*known;
		return 1;
	}
	st = sql_bind(s, ADDRESS_FILE_OWNER, e, "i", id);
	rc = sql_run(s, st, e);
	if (rc != 1)
		return rc;
	*uid = (uint32_t)sqlite3_column_int64(st, 0);
	sqlite3_reset(st);
	know_file(s, id, *uid);
	return 1;
}

static int put_file(struct store *s, struct address_file *f, struct err *e)
{
	f->id = address_file_id(f);
	if (htab_get(&s->addresses.file, &f->id, sizeof f->id))
		return 0;
	if (sql_run(s,
		sql_bind(s, PUT_ADDRESS_FILE, e, "iiiizt", f->id, (int64_t)f->kind, (int64_t)f->uid,
		    (int64_t)f->pid, &f->build, f->path),
		e))
		return -1;
	if (sqlite3_changes(s->db))
		addresses_use(
		    s, f->uid, FILE_BYTES + (int64_t)strlen(f->path) + (int64_t)f->build.n);
	know_file(s, f->id, f->uid);
	return 0;
}

static int drop_file(struct store *s, uint64_t id, struct err *e)
{
	sqlite3_stmt *st = sql_bind(s, ADDRESS_FILE_OWNER, e, "i", id);
	int64_t bytes;
	uint32_t uid;
	int rc = sql_run(s, st, e);

	if (rc != 1)
		return rc;
	uid = (uint32_t)sqlite3_column_int64(st, 0);
	bytes = sqlite3_column_int64(st, 1);
	sqlite3_reset(st);
	if (sql_run(s, sql_bind(s, DROP_ADDRESS_FILE, e, "i", id), e))
		return -1;
	if (sqlite3_changes(s->db)) {
		addresses_use(s, uid, -(FILE_BYTES + bytes));
		htab_free(&s->addresses.file); /* has no way to take one out */
	}
	return 0;
}

int address_file_uses(struct store *s, uint64_t id, int64_t more, struct err *e)
{
	if (sql_run(s, sql_bind(s, USE_ADDRESS_FILE, e, "ii", id, more), e))
		return -1;
	return more < 0 ? drop_file(s, id, e) : 0;
}

/* ---- batches ---- */

static void pack_part(const struct address_part *p, struct buf *counts, struct buf *out)
{
	struct packing w = {.out = counts};
	uint32_t i;

	counts->n = 0;
	for (i = 0; i < p->nsample; i++)
		packing_add(&w, p->sample[i].offset, p->sample[i].count);
	buf_le64(out, p->file.id);
	buf_uleb(out, p->file.samples);
	buf_uleb(out, counts->n);
	buf_add(out, counts->p, counts->n);
}

/* Files that called others are there without samples, too. */
static int put_parts(struct store *s, struct address_part *part, size_t n,
    const struct address_calls *calls, struct buf *data, struct err *e)
{
	bool *used = xcalloc(n, sizeof *used);
	struct buf counts = {0};
	size_t i;
	int rc = 0;

	for (i = 0; i < calls->v.n; i++)
		used[calls->v.v[i].caller] = used[calls->v.v[i].callee] = true;
	for (i = 0; rc == 0 && i < n; i++) {
		if (!part[i].file.samples && !used[i])
			continue;
		rc = put_file(s, &part[i].file, e);
		pack_part(&part[i], &counts, data);
	}
	buf_free(&counts);
	free(used);
	return rc;
}

static void pack_calls(
    const struct address_part *part, const struct address_calls *calls, struct buf *out)
{
	const struct address_call *v = calls->v.v;
	struct calls of = {0};
	struct buf bytes = {0};
	size_t i, k;

	for (i = 0; i < calls->v.n; i = k) {
		of.v.n = bytes.n = 0;
		for (k = i; k < calls->v.n && v[k].callee == v[i].callee; k++)
			vec_push(&of.v, (struct address_caller){part[v[k].caller].file.id,
					    v[k].site, v[k].address, v[k].count, v[k].waiting});
		calls_sum(&of);
		calls_write(&of, &bytes);
		buf_le64(out, part[v[i].callee].file.id);
		buf_uleb(out, bytes.n);
		buf_add(out, bytes.p, bytes.n);
	}
	buf_free(&bytes);
	calls_free(&of);
}

int store_add_addresses(struct store *s, int64_t at_ms, uint64_t period_ns,
    struct address_part *part, size_t n, const struct address_calls *calls, struct err *e)
{
	struct buf data = {0}, called = {0};
	struct addresses_known *k = &s->addresses;
	int rc = put_parts(s, part, n, calls, &data, e);

	if (rc == 0)
		pack_calls(part, calls, &called);
	if (rc == 0 && data.n)
		rc = sql_run(s,
		    sql_bind(s, PUT_ADDRESS_BATCH, e, "iibb", at_ms, period_ns, data.p, data.n,
			called.p, called.n),
		    e);
	if (rc == 0 && data.n && k->loaded) {
		if (!k->batches++ || at_ms < k->since_ms)
			k->since_ms = at_ms;
		k->batch_bytes += data.n + called.n;
	}
	buf_free(&data);
	buf_free(&called);
	return rc;
}

struct settling { /* batches of one period */
	struct arena mem;
	VEC(int64_t) batch;
	VEC(struct period) part;
	uint64_t bytes;
	int64_t begin_s;
};

static bool batch_calls(struct batch_row *b, struct period *out)
{
	const uint8_t *at = b->calls, *end = at + b->ncalls;
	uint64_t bytes;

	if (b->ncalls < ID_BYTES)
		return false;
	out->file = get_le64(at);
	at += ID_BYTES;
	if (uleb_count(&at, end, 1, &bytes) < 0)
		return false;
	out->samples = out->ns = out->n = 0;
	out->calls = at;
	out->ncalls = bytes;
	b->calls = at + bytes;
	b->ncalls = (size_t)(end - b->calls);
	return true;
}

bool batch_part(struct batch_row *b, struct period *out)
{
	const uint8_t *at = b->data, *end = at + b->n;
	uint64_t bytes;

	if (b->n < ID_BYTES)
		return batch_calls(b, out);
	out->file = get_le64(at);
	at += ID_BYTES;
	if (uleb_read(&at, end, &out->samples) < 0 || uleb_count(&at, end, 1, &bytes) < 0)
		return false;
	out->ns = out->samples * b->period_ns;
	out->data = at;
	out->n = bytes;
	out->ncalls = 0;
	b->data = at + bytes;
	b->n = (size_t)(end - b->data);
	return true;
}

struct batch_row batch_row_of(sqlite3_stmt *st)
{
	struct batch_row b = {.period_ns = (uint64_t)sqlite3_column_int64(st, 2)};

	b.data = sqlite3_column_blob(st, 3);
	b.n = (size_t)sqlite3_column_bytes(st, 3);
	b.calls = sqlite3_column_blob(st, 4);
	b.ncalls = (size_t)sqlite3_column_bytes(st, 4);
	return b;
}

static void take_parts(struct settling *t, struct batch_row b)
{
	struct period one = {0};

	b.data = arena_copy(&t->mem, b.data, b.n, 1);
	b.calls = arena_copy(&t->mem, b.calls, b.ncalls, 1);
	while (batch_part(&b, &one))
		vec_push(&t->part, one);
}

/* Batches of the first one's period. */
static int take_batches(struct store *s, struct settling *t, struct err *e)
{
	const int64_t span = period_span[0].span_s;
	sqlite3_stmt *st = sql_bind(s, GET_ADDRESS_BATCHES, e, "i", (int64_t)SETTLE_BATCHES);
	struct batch_row row;
	int64_t begin;
	int rc = 0;

	while (t->bytes < SETTLE_BYTES && (rc = sql_run(s, st, e)) == 1) {
		begin = period_begin(sqlite3_column_int64(st, 1) / 1000, span);
		if (t->batch.n && begin != t->begin_s)
			break;
		t->begin_s = begin;
		row = batch_row_of(st);
		take_parts(t, row);
		vec_push(&t->batch, sqlite3_column_int64(st, 0));
		t->bytes += row.n + row.ncalls;
	}
	if (st)
		sqlite3_reset(st);
	return rc < 0 ? -1 : 0;
}

static int by_file(const void *pa, const void *pb)
{
	const struct period *a = pa, *b = pb;

	return ORDER(a->file, b->file);
}

static int settle_parts(struct store *s, struct settling *t, struct err *e)
{
	const struct period *part = t->part.v;
	size_t i, n;

	vec_sort(&t->part, by_file);
	for (i = 0; i < t->part.n; i += n) {
		struct period to = {
		    .span_s = period_span[0].span_s, .begin_s = t->begin_s, .file = part[i].file};

		for (n = 1; i + n < t->part.n && part[i + n].file == to.file;)
			n++;
		if (period_add(s, &to, &part[i], n, e))
			return -1;
	}
	return 0;
}

int batches_settle(struct store *s, int64_t oldest_s, struct err *e)
{
	struct addresses_known *k = &s->addresses;
	struct settling t = {0};
	size_t i;
	int rc = take_batches(s, &t, e);

	if (rc == 0 && t.begin_s >= oldest_s)
		rc = settle_parts(s, &t, e);
	for (i = 0; rc == 0 && i < t.batch.n; i++)
		rc = sql_run(s, sql_bind(s, DROP_ADDRESS_BATCH, e, "i", t.batch.v[i]), e);
	if (rc == 0) {
		k->batches -= t.batch.n < k->batches ? t.batch.n : k->batches;
		k->batch_bytes -= t.bytes < k->batch_bytes ? t.bytes : k->batch_bytes;
	}
	if (rc == 0 && !t.batch.n)
		k->batches = k->batch_bytes = 0;
	vec_free(&t.batch);
	vec_free(&t.part);
	arena_free(&t.mem);
	return rc;
}
