/*
 * A manager that only remembers, behind a real store and the real API: two
 * modules of one user with decisions, history and a profile, one of another
 * user, and changes that end when the test says so.
 */
#include "managerd/job/edit.h"
#include "managerd/api/api.h"
#include "managerd/cycle/cycle.h"
#include "managerd/samples/ingest.h"
#include "managerd/store/addresses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FAKE_BASE = 1767225600 }; /* 2026-01-01, seconds */
#define FAKE_MS ((int64_t)FAKE_BASE * 1000)

struct manager {
	struct store *store;
	struct conf conf;
	struct change change[8];
	unsigned nchange;
	int answer; /* enum manager_error of the next change */
	bool fail;  /* manager_status() fails */
	bool last_force;
	uint64_t last_module;
	void (*fn)(void *, uint64_t);
	void *arg;
	int code; /* what manager_code() returns; the map of lua is there with 1 */
	struct code_order ordered;
	size_t giant; /* bytes of a name in its profile */
};

struct store *manager_store(struct manager *m)
{
	return m->store;
}

struct decay manager_decay(const struct manager *m)
{
	return (struct decay){(int64_t)time(NULL) * 1000, 1e9};
}

int manager_status(struct manager *m, struct manager_status *out, struct err *e)
{
	if (m->fail)
		return err_set(e, "the disk is on fire");
	*out = (struct manager_status){.mode = "user",
	    .state_dir = "/var/lib/morph",
	    .started_ms = FAKE_MS,
	    .idle_text = "14 % of the processors idle, policy requires 70 %",
	    .working_module = module_id("/home/ann/bin/lua"),
	    .working_path = "/home/ann/bin/lua",
	    .working_step = "edit",
	    .working_since_ms = FAKE_MS + 60000,
	    .working_left_s = 75,
	    .modules = 3,
	    .wanted = 2,
	    .observed =
		{.samples = 900, .unsent = 50, .placed = 890, .outcomes = 1201, .callers = 600},
	    .swaps = 2};
	out->monitor.connected = true;
	out->monitor.hello = (struct wire_hello){7, 4000000, WIRE_SRC_TICK, 99};
	out->monitor.last_batch_ms = FAKE_MS + 90000;
	return store_accounting(m->store, &out->samples, e);
}

double manager_samples(struct manager *m, uint64_t module)
{
	return module == module_id("/home/ann/bin/lua") ? 15210.5 : 12;
}

int manager_profile(
    struct manager *m, uint64_t module, struct profile *p, size_t *functions, struct err *e)
{
	struct hash128 a = hash_bytes("a", 1), b = hash_bytes("b", 1), c = hash_bytes("c", 1);
	char *name;
	struct decay at = manager_decay(m);

	profile_add(profile_put(p, &a, "luaV_execute", "lvm.c", NULL, 4), 2, 300, at);
	profile_add(profile_get(p, &a), 1, 100, at);
	profile_add_edge(profile_get(p, &a), 2, 3, 30, at);
	profile_add_edge(profile_get(p, &a), 2, 0, 10, at);
	profile_add_call(profile_get(p, &a), 1, &b, 7, at);
	profile_add(profile_put(p, &b, "evil\033[2J", "l\xff.c", "jump table not understood", 1), 0,
	    100, at);
	if (m->giant) {
		name = xmalloc(m->giant + 1);
		memset(name, 'x', m->giant);
		name[m->giant] = '\0';
		profile_add(profile_put(p, &c, name, "l.c", NULL, 1), 0, 1, at);
		free(name);
	}
	*functions = p->func.n;
	return 0;
}

int manager_code(
    struct manager *m, const struct code_order *o, const struct code_view **view, struct err *e)
{
	static struct code_cell cell[] = {{48, 0, 0, 12.5}, {0, 0, CODE_NONE, 0}};
	static struct code_block block[] = {{0x1010, 48, 0, 0, 7, 12.5}};
	static struct code_edge edge[] = {{0, 7, 9, 3}};
	static struct code_view_name name[] = {{"evil\033[2J<b>", "l\xff.c", {{1, 2}}}};
	static struct code code = {.begin = 0x1000,
	    .end = 0x1080,
	    .from = 0x1000,
	    .to = 0x1080,
	    .cell = 64,
	    .samples = 20,
	    .within = 12.5,
	    .nblock = 1,
	    .cell_at = {cell, 2, 2},
	    .block = {block, 1, 1},
	    .edge = {edge, 1, 1}};
	static const struct code_view there = {{2, {0xab, 0xcd}}, &code, name, 1};

	m->ordered = *o;
	*view = o->original ? NULL : &there;
	return m->code < 0 ? err_set(e, "the disk is on fire") : m->code;
}

/* Of every build: two functions, the second without a piece of its first block. */
int manager_print_profile(struct manager *m, uint64_t module, struct buf *out, struct err *e)
{
	struct profile p = {0};
	size_t functions;
	int r = manager_profile(m, module, &p, &functions, e) ||
			edit_print_samples(&p, 1, manager_decay(m), out, e)
		    ? -1
		    : 0;

	profile_free(&p);
	return r;
}

bool manager_map(struct manager *m, uint64_t module, const struct build_id *build,
    const struct map **map, const struct map_table **table)
{
	static struct map_range range[] = {
	    {0x8, 0x10, 0}, {0x10, 0x1c, 1}, {0x1c, 0x30, 3}, {0x34, 0x40, 3}};
	static struct map_func func[] = {
	    {.nblock = 2, .name = "luaV_execute"}, {.nblock = 2, .slot = 2, .name = "ev\nil"}};
	static struct map fake = {.range = {range, 4, 4}};
	static const struct map_table all = {.func = {func, 2, 2}, .nslot = 4};

	if (!fake.first.n)
		map_index(&fake);
	*map = &fake;
	*table = &all;
	return true;
}

bool manager_trial(struct manager *m, uint64_t module, struct manager_trial *out)
{
	*out = (struct manager_trial){.began_ms = 1000,
	    .promised = NAN,
	    .estimate = {.pairs = 3},
	    .outlook = {8, 600},
	    .runs = {{300, 0, 12.5}, {340, 1, 12}},
	    .text = "640 runs"};
	if (module == module_id("/opt/fresh"))
		return true;
	if (module != module_id("/home/ann/bin/lua"))
		return false;
	*out = (struct manager_trial){.began_ms = 1000,
	    .ended_ms = 2000,
	    .verdict = TRIAL_FASTER,
	    .promised = 0.05,
	    .estimate = {20, true, 0.041, 0.029, 0.053},
	    .runs = {{600, 0, 12.5}, {640, 1, 12}},
	    .text = "gain 4.1 % (2.9 … 5.3) over 1,240 runs"};
	return true;
}

bool manager_legacy(struct manager *m, uint64_t module, struct manager_legacy *out)
{
	if (module != module_id("/home/ann/bin/other/sh"))
		return false;
	*out = (struct manager_legacy){
	    LIFT_OBSERVED, 5210.5, 2000, "would be lifted; policy says observe: put it there"};
	return true;
}

bool manager_order(struct manager *m, uint64_t module, struct manager_order *out)
{
	static const struct editanswer_list said = {5, 2, "evil\033[2J"};

	*out = (struct manager_order){"/etc/lua.order", &said};
	return module == module_id("/home/ann/bin/lua");
}

bool manager_can_rollback(struct manager *m, uint64_t module)
{
	return module == module_id("/home/ann/bin/lua");
}

double manager_change_left(struct manager *m, uint64_t id)
{
	return id == 1 ? 12.5 : NAN;
}

unsigned manager_change_ahead(struct manager *m, uint64_t id)
{
	return (unsigned)id - 1;
}

static int fake_change(
    struct manager *m, int kind, uint64_t module, uint32_t uid, uint64_t *id, struct err *e)
{
	m->last_module = module;
	*id = m->nchange;
	if (m->answer)
		return err_set(e, "the reason is given"), m->answer;
	m->change[m->nchange] = (struct change){.id = m->nchange + 1,
	    .kind = kind,
	    .module = module,
	    .path = module ? "/home/ann/bin/lua" : "",
	    .uid = uid,
	    .status = CHANGE_DOING,
	    .step = "edit",
	    .text = "laying out",
	    .started_ms = FAKE_MS};
	*id = ++m->nchange;
	return MANAGER_OK;
}

int manager_reoptimize(
    struct manager *m, uint64_t module, uint32_t uid, bool force, uint64_t *change, struct err *e)
{
	m->last_force = force;
	return fake_change(m, CHANGE_REOPTIMIZE, module, uid, change, e);
}

int manager_rollback(
    struct manager *m, uint64_t module, uint32_t uid, uint64_t *change, struct err *e)
{
	return fake_change(m, CHANGE_ROLLBACK, module, uid, change, e);
}

int manager_reload(struct manager *m, struct err *e)
{
	return m->answer ? err_set(e, "policy.yaml:1:1: the reason is given") : 0;
}

const struct change *manager_change(struct manager *m, uint64_t id)
{
	return id >= 1 && id <= m->nchange ? &m->change[id - 1] : NULL;
}

const char *change_status_name(enum change_status s)
{
	static const char *const name[] = {"waiting", "doing", "done", "refused", "failed"};

	return name[s];
}

void manager_on_change(struct manager *m, void (*fn)(void *arg, uint64_t id), void *arg)
{
	m->fn = fn;
	m->arg = arg;
}

/* Ends a change, as the cycle does. */
static inline void fake_end_change(struct manager *m, uint64_t id, int status)
{
	m->change[id - 1].status = status;
	m->change[id - 1].step = "";
	m->change[id - 1].text = "swapped, predicted gain 5.1 %";
	m->change[id - 1].ended_ms = FAKE_MS + 5000;
	if (m->fn)
		m->fn(m->arg, id);
}

static struct store_module fake_row(const char *path, uint32_t uid, int state)
{
	return (struct store_module){.id = module_id(path),
	    .path = path,
	    .uid = uid,
	    .state = state,
	    .text = "runs in its second layout",
	    .artifact = "/home/ann/bin/lua.morph",
	    .current = {4, {1, 2, 3, 4}},
	    .origin = {4, {5, 6, 7, 8}},
	    .first_ms = FAKE_MS,
	    .last_ms = FAKE_MS + 90000,
	    .layout_ms = state == MODULE_LAID_OUT ? FAKE_MS + 30000 : 0,
	    .mapped = state == MODULE_NO_ARTIFACT ? 0 : 9800,
	    .outside = 200,
	    .predicted = state == MODULE_LAID_OUT,
	    .estimate = {0.051, 0.044, 0.058, 0.011, 15000},
	    .taken_before = 81250,
	    .taken_after = 33000,
	    .predicted_ms = FAKE_MS + 20000};
}

static void fake_module(struct manager *m, const char *path, uint32_t uid, int state)
{
	struct store_module sm = fake_row(path, uid, state);
	struct err e;

	if (store_put_module(m->store, &sm, &e) < 0)
		abort();
}

/* The time of its last swap stays known, for the cool-down. */
static inline void fake_rolled_back(struct manager *m, const char *path, uint32_t uid)
{
	struct store_module sm = fake_row(path, uid, MODULE_HELD);
	struct err e;

	sm.current = sm.origin;
	sm.layout_ms = FAKE_MS + 30000;
	if (store_put_module(m->store, &sm, &e) < 0)
		abort();
}

#define FAKE_KERNEL UINT64_C(0xffffffff81000000)

/* Of both users, and of the kernel. */
static void fake_addresses(struct manager *m, uint32_t uid, uint32_t other)
{
	static const struct wire_sample lua[] = {{0x10, 3}, {0x20, 4}}, secret[] = {{0x30, 9}},
					kernel[] = {{FAKE_KERNEL, 2}},
					jit[] = {{0x7f0000001000, 1}};
	struct address_part part[] = {
	    {{.uid = uid, .build = {4, {1, 2, 3, 4}}, .path = "/home/ann/bin/lua", .samples = 7},
		lua, 2},
	    {{.uid = other, .build = {1, {9}}, .path = "/home/bob/bin/secret", .samples = 9},
		secret, 1},
	    {{.kind = ADDRESS_KERNEL, .path = "[kernel]", .samples = 5}, kernel, 1},
	    {{.kind = ADDRESS_ANONYMOUS, .uid = uid, .pid = 77, .path = "no\033de", .samples = 1},
		jit, 1}};
	struct store_build b = {.module = module_id("/home/ann/bin/lua"),
	    .id = {4, {1, 2, 3, 4}},
	    .origin = {4, {5, 6, 7, 8}},
	    .map = ""};
	struct address_calls calls = {0};
	struct err e;

	vec_push(&calls.v, (struct address_call){0, 0, false, 0x20, 0x15, 2});
	vec_push(&calls.v, (struct address_call){0, 0, true, 0x15, 0x19, 9});
	vec_push(&calls.v, (struct address_call){0, 1, false, 0x20, 0x31, 1});
	vec_push(&calls.v, (struct address_call){2, 0, false, 0xffffffff81000000, 0x17, 2});
	if (store_put_build(m->store, &b, &e) < 0 ||
	    store_add_addresses(m->store, FAKE_MS + 30000, 4000000, part, 4, &calls, &e) < 0)
		abort();
	vec_free(&calls.v);
}

static void fake_fill(struct manager *m, uint32_t uid, uint32_t other)
{
	struct accounting add = {1, 1000, 700, 12, 88, 150, 10, 30, 10};
	struct decide_in in = {.samples = 1200, .understood = 1100, .idle_text = ""};
	struct store_event ev = {.module = module_id("/home/ann/bin/lua"),
	    .path = "/home/ann/bin/lua",
	    .at_ms = FAKE_MS + 30000,
	    .kind = EVENT_SWAPPED,
	    .from = {2, {1, 2}},
	    .to = {2, {3, 4}},
	    .change = 3,
	    .text = "second layout",
	    .samples = 15000,
	    .gain = 0.051,
	    .seconds = 2.4,
	    .size_before = 290112,
	    .size_after = 291008};
	struct decision d;
	struct err e;

	fake_module(m, "/home/ann/bin/lua", uid, MODULE_LAID_OUT);
	fake_module(m, "/home/ann/bin/other/sh", uid, MODULE_NO_ARTIFACT);
	fake_module(m, "/home/bob/bin/secret", other, MODULE_ORIGINAL);
	decide(&m->conf, &in, &d);
	if (store_put_decision(m->store, ev.module, FAKE_MS + 40000, &d, &e) < 0 ||
	    store_put_decision(m->store, module_id("/home/bob/bin/secret"), FAKE_MS, &d, &e) < 0 ||
	    store_put_event(m->store, &ev, &e) < 0 || store_begin(m->store, &e) < 0 ||
	    store_account(m->store, 1, 1, FAKE_MS, &add, &e) < 0 || store_commit(m->store, &e) < 0)
		abort();
	fake_addresses(m, uid, other);
	ev.module = module_id("/home/bob/bin/secret");
	ev.path = "/home/bob/bin/secret";
	ev.samples = ev.gain = ev.seconds = NAN;
	ev.size_before = ev.size_after = 0;
	ev.kind = EVENT_LEARNED;
	if (store_put_event(m->store, &ev, &e) < 0)
		abort();
}

/* Modules of uid and of another one; the store lies in dir. */
static void fake_start(struct manager *m, const char *dir, uint32_t uid, uint32_t other)
{
	char *path = xasprintf("%s/morph.db", dir);
	struct err e;

	*m = (struct manager){0};
	conf_defaults(&m->conf);
	m->store = store_open(path, &e);
	free(path);
	if (!m->store)
		abort();
	fake_fill(m, uid, other);
}

static inline void fake_stop(struct manager *m)
{
	store_close(m->store);
	conf_free(&m->conf);
}
