#include "morphctl/report/symbols/symbols.h"
#include "common/landlock.h"
#include "common/publish.h"
#include "morphctl/report/symbols/answer.h"
#include "morphctl/report/confined/confined.h"
#include "morphctl/report/symbols/instructions.h"
#include "morphctl/report/symbols/readers.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- answers ---- */

static void two_locations(struct recording *r)
{
	struct recording_function f = {.name = "outer(int)",
	    .linkage = "_Z5outeri",
	    .source = "/src/a.cc",
	    .file = RECORDING_NONE,
	    .start = 0x1000,
	    .size = 32,
	    .line = 7};
	struct recording_frame frame[2] = {{0, 3, 1}, {1, 9, 0}};

	f.name = "inner";
	frame[0].function = recording_function(r, &f);
	f.name = "outer(int)";
	f.start = UINT64_MAX;
	f.source = NULL;
	frame[1].function = recording_function(r, &f);
	recording_resolve(r, recording_location(r, RECORDING_NONE, 0), frame, 2);
	reader_location(r, RECORDING_NONE);
}

START_TEST(an_answer_comes_back)
{
	struct recording r = {0}, d = {0};
	struct buf b = {0};
	struct err e;

	two_locations(&r);
	answer_encode(&r, &b);
	ck_assert_msg(!answer_decode(b.p, b.n, 2, &d, &e), "%s", e.text);
	ck_assert_uint_eq(d.location.n, 2);
	ck_assert_uint_eq(d.location.v[0].nframe, 2);
	ck_assert_uint_eq(d.location.v[1].nframe, 0);
	ck_assert_uint_eq(d.frame.v[0].line, 3);
	ck_assert_uint_eq(d.frame.v[0].discriminator, 1);
	ck_assert_str_eq(d.function.v[d.frame.v[0].function].name, "inner");
	ck_assert_str_eq(d.function.v[0].source, "/src/a.cc");
	ck_assert_uint_eq(d.function.v[0].start, 0x1000);
	ck_assert_str_eq(d.function.v[1].linkage, "_Z5outeri");
	ck_assert_ptr_null(d.function.v[1].source);
	ck_assert_uint_eq(d.function.v[1].start, UINT64_MAX);
	ck_assert_uint_eq(d.function.v[1].line, 7);
	recording_free(&r);
	recording_free(&d);
	buf_free(&b);
}
END_TEST

START_TEST(cut_answers_and_other_numbers_are_refused)
{
	struct recording r = {0};
	struct buf b = {0};
	struct err e;
	size_t n;

	two_locations(&r);
	answer_encode(&r, &b);
	for (n = 0; n <= b.n; n++) {
		struct recording d = {0};
		char *cut = xmalloc(n + 1);

		memcpy(cut, b.p, n);
		ck_assert_int_eq(answer_decode(cut, n, 2, &d, &e), n == b.n ? 0 : -1);
		free(cut);
		recording_free(&d);
	}
	{
		struct recording d = {0}, more = {0};

		ck_assert_int_eq(answer_decode(b.p, b.n, 3, &d, &e), -1);
		buf_char(&b, 0);
		ck_assert_int_eq(answer_decode(b.p, b.n, 2, &more, &e), -1);
		recording_free(&d);
		recording_free(&more);
	}
	recording_free(&r);
	buf_free(&b);
}
END_TEST

START_TEST(names_cannot_move_the_cursor)
{
	struct recording r = {0}, d = {0};
	struct buf b = {0};
	struct err e;

	reader_location(&r, reader_function(&r, "a\x1b[2Jb\xff", 0, 1));
	answer_encode(&r, &b);
	ck_assert_msg(!answer_decode(b.p, b.n, 1, &d, &e), "%s", e.text);
	ck_assert_str_eq(d.function.v[0].name, "a\\x1b[2Jb\\xff");
	recording_free(&r);
	recording_free(&d);
	buf_free(&b);
}
END_TEST

START_TEST(instructions_fill_the_range)
{
	/* two of 2 and 1 bytes, the first with a source */
	static const uint8_t good[] = {2, 2, 1, 'a', 1, 1, 's', 9, 1, 1, 'b', 1, 10};
	struct symbols_insn *insn;
	struct arena mem = {0};
	struct err e;
	size_t n;

	ck_assert_msg(
	    !instructions_decode(good, sizeof good, 16, 19, &mem, &insn, &n, &e), "%s", e.text);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(insn[1].offset, 18);
	ck_assert_str_eq(insn[1].text, "b");
	ck_assert_str_eq(insn[1].source, "s");
	ck_assert_uint_eq(insn[0].line, 9);
	ck_assert_int_eq(instructions_decode(good, sizeof good, 16, 20, &mem, &insn, &n, &e), -1);
	ck_assert_int_eq(instructions_decode(good, sizeof good, 16, 18, &mem, &insn, &n, &e), -1);
	for (n = 0; n < sizeof good; n++) {
		size_t count;

		ck_assert_int_eq(instructions_decode(good, n, 16, 19, &mem, &insn, &count, &e), -1);
	}
	arena_free(&mem);
}
END_TEST

/* ---- texts ---- */

static const char *name_at(const struct recording *r, size_t i)
{
	const struct recording_location *l = &r->location.v[i];

	return l->nframe ? r->function.v[r->frame.v[l->frame].function].name : "";
}

START_TEST(kallsyms_are_read)
{
	static const char text[] = "ffffffff81000000 T first\n"
				   "ffffffff81000010 t second\n"
				   "ffffffff81000010 d data\n"
				   "ffffffff81000020 D table\n"
				   "nonsense\n"
				   "ffffffffc0000000 t in_module\t[ext4]\n"
				   "ffffffffc0100000 t other\t[xfs]\n"
				   "ffffffffc0100010 t cut";
	static const uint64_t at[] = {0xffffffff80ffffff, 0xffffffff8100000f, 0xffffffff81000010,
	    0xffffffff81000028, 0xffffffffc0000fff, 0xffffffffc0002000, 0xffffffffc0100001,
	    0xffffffffc0100010};
	static const char *const want[] = {
	    "", "first", "second", "", "in_module", "", "other [xfs]", "cut"};
	struct recording_file file = {.kind = RECORDING_KERNEL, .path = "[ext4]"};
	struct request q = {.file = &file, .at = at, .n = 8};
	struct recording r = {0};
	struct err e;
	size_t i;

	ck_assert_msg(!read_kallsyms(&q, text, sizeof text - 1, &r, &e), "%s", e.text);
	ck_assert_uint_eq(r.location.n, 8);
	for (i = 0; i < 8; i++)
		ck_assert_str_eq(name_at(&r, i), want[i]);
	ck_assert_uint_eq(r.function.v[0].start, 0xffffffff81000000);
	ck_assert_uint_eq(r.function.v[0].size, 16);
	recording_free(&r);
}
END_TEST

START_TEST(hidden_addresses_are_reported)
{
	static const char text[] = "0000000000000000 T first\n0000000000000000 t second\n";
	static const uint64_t at[] = {0, 1};
	struct recording_file file = {.kind = RECORDING_KERNEL, .path = "[kernel]"};
	struct request q = {.file = &file, .at = at, .n = 2};
	struct recording r = {0};
	struct err e;

	ck_assert_int_eq(read_kallsyms(&q, text, sizeof text - 1, &r, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "kptr_restrict"));
	recording_free(&r);
}
END_TEST

START_TEST(the_last_line_of_a_map_names)
{
	static const char text[] = "1000 100 old\n"
				   "1040 10 new one\n"
				   "2000 ffffffffffffffff wraps\n"
				   "10 x\n"
				   "3000 8 cut";
	static const uint64_t at[] = {
	    0xfff, 0x1000, 0x103f, 0x1040, 0x1050, 0x1100, 0x2000, 0x3007};
	static const char *const want[] = {"", "old", "old", "new one", "old", "", "", "cut"};
	struct request q = {.at = at, .n = 8};
	struct recording r = {0};
	size_t i;

	read_perfmap(&q, text, sizeof text - 1, &r);
	ck_assert_uint_eq(r.location.n, 8);
	for (i = 0; i < 8; i++)
		ck_assert_str_eq(name_at(&r, i), want[i]);
	recording_free(&r);
}
END_TEST

/* ---- names ---- */

static const struct {
	const char *linkage, *name;
} mangled[] = {
    {"main", "main"},
    {"_init", "_init"},
    {"_ZN3geo3sumILi3EEEiRKSt6vectorIiSaIiEE",
	"int geo::sum<3>(std::vector<int, std::allocator<int> > const&)"},
    {"_ZdlPv@plt", "operator delete(void*)@plt"},
    {"_Z3runi.cold", "run(int) [clone .cold]"},
    {"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
    {"_RNvCs4fqI2P2rA04_7mycrate3foo", "mycrate::foo"},
    {"_RNvCs4fqI2P24A_0oro", "_RNvCs4fqI2P24A_0oro"}, /* its crate's name is empty */
    {"_D3std5stdio7writelnFZv", "std.stdio.writeln()"},
    {"_Znot_a_name", "_Znot_a_name"},
    {"_Dhalf", "_Dhalf"},
};

START_TEST(names_are_demangled)
{
	char *name = symbols_demangle(mangled[_i].linkage);

	ck_assert_str_eq(name, mangled[_i].name);
	free(name);
}
END_TEST

/* Each type is two of the one before, by back references: of C++, of Rust, of D. */
static const char of_c_plus_plus[] =
    "_Z1fSt4pairI1AS0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_ES_IS5_S5_ES_IS6_S6_ES_"
    "IS7_S7_ES_IS8_S8_ES_IS9_S9_ES_ISA_SA_ES_ISB_SB_ES_ISC_SC_ES_ISD_SD_ES_ISE_SE_ES_"
    "ISF_SF_ES_ISG_SG_ES_ISH_SH_ES_ISI_SI_ES_ISJ_SJ_ES_ISK_SK_ES_ISL_SL_ES_ISM_SM_ES_"
    "ISN_SN_ES_ISO_SO_ES_ISP_SP_ES_ISQ_SQ_ES_ISR_SR_ES_ISS_SS_ES_IST_ST_ES_ISU_SU_ES_"
    "ISV_SV_ES_ISW_SW_ES_ISX_SX_ES_ISY_SY_ES_ISZ_SZ_ES_IS10_S10_ES_IS11_S11_ES_IS12_S"
    "12_ES_IS13_S13_ES_IS14_S14_E";
static const char of_rust[] =
    "_RINvC1a1bTuuETB7_B7_ETBb_Bb_ETBj_Bj_ETBr_Br_ETBz_Bz_ETBH_BH_ETBP_BP_ETBX_BX_ETB"
    "15_B15_ETB1d_B1d_ETB1n_B1n_ETB1x_B1x_ETB1H_B1H_ETB1R_B1R_ETB21_B21_ETB2b_B2b_ETB"
    "2l_B2l_ETB2v_B2v_ETB2F_B2F_ETB2P_B2P_ETB2Z_B2Z_ETB39_B39_ETB3j_B3j_ETB3t_B3t_ETB"
    "3D_B3D_ETB3N_B3N_ETB3X_B3X_ETB47_B47_ETB4h_B4h_ETB4r_B4r_ETB4B_B4B_ETB4L_B4L_ETB"
    "4V_B4V_ETB55_B55_ETB5f_B5f_ETB5p_B5p_ETB5z_B5z_ETB5J_B5J_ETB5T_B5T_ETB63_B63_EE";
static const char of_d[] =
    "_D1a1fFiHQcQeHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQ"
    "gQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiZv";
static const char *const bombs[] = {of_c_plus_plus, of_rust, of_d};

START_TEST(bombs_do_not_explode)
{
	char *name = symbols_demangle(bombs[_i]);

	ck_assert_str_eq(name, bombs[_i]);
	free(name);
}
END_TEST

START_TEST(deep_names_do_not_fill_the_stack)
{
	struct buf b = {0};
	char *name;

	buf_str(&b, "_Z1f");
	memset(buf_grow(&b, 16000), 'P', 16000);
	buf_str(&b, "i");
	name = symbols_demangle(buf_cstr(&b));
	ck_assert_str_eq(name, b.p);
	free(name);
	buf_free(&b);
}
END_TEST

/* What no file names. */
START_TEST(pieces_of_the_recording_name)
{
	struct recording r = {0};
	struct symbols_options o = {.debug = "/nonexistent"};
	uint32_t file = recording_file(&r, RECORDING_ELF, "/gone", NULL, 0);
	uint32_t other = recording_file(&r, RECORDING_ELF, "/gone too", NULL, 0);
	static const struct {
		uint64_t at;
		const char *name;
	} want[] = {{0xff, ""}, {0x100, "run(int)"}, {0x10f, "run(int)"}, {0x110, ""},
	    {0x205, "main"}, {0x300, "run(int)"}};
	size_t i;

	recording_piece(&r, file, 0x300, 8, "_Z3runi");
	recording_piece(&r, other, 0x0, 0x1000, "not this");
	recording_piece(&r, file, 0x200, 0x10, "main");
	recording_piece(&r, file, 0x100, 0x10, "_Z3runi");
	for (i = 0; i < sizeof want / sizeof *want; i++)
		recording_location(&r, file, want[i].at);
	symbols_resolve(&r, &o);
	for (i = 0; i < sizeof want / sizeof *want; i++)
		ck_assert_str_eq(name_at(&r, i), want[i].name);
	ck_assert_uint_eq(r.function.n, 2);
	recording_free(&r);
}
END_TEST

/* ---- children ---- */

static char dir[] = "/tmp/morph-symbols-XXXXXX";
static char *path;

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	chmod(dir, 0755);
	path = xasprintf("%s/file", dir);
	ck_assert(!publish_bytes(path, "one\n\ttwo\nthree", 14, 0644, NULL));
}

static void teardown(void)
{
	dir_remove(dir, NULL);
	free(path);
}

static int say(void *arg, struct buf *answer, struct err *e)
{
	return reader_bytes(1000, answer, e);
}

static int refuse(void *arg, struct buf *answer, struct err *e)
{
	return err_set(e, "no use");
}

static int crash(void *arg, struct buf *answer, struct err *e)
{
	__builtin_trap();
}

static int hang(void *arg, struct buf *answer, struct err *e)
{
	for (;;)
		__asm__ volatile("");
}

static int flood(void *arg, struct buf *answer, struct err *e)
{
	static char chunk[1 << 20];

	while (write(CONFINED_ANSWER, chunk, sizeof chunk) > 0)
		;
	return 0;
}

static bool landlock;

/* What a captured child would like to do. */
static int escape(void *arg, struct buf *answer, struct err *e)
{
	const char *file = arg;

	buf_char(answer, landlock && open("/etc/passwd", O_RDONLY) >= 0 ? '!' : 'r');
	buf_char(answer, open(file, O_WRONLY) < 0 ? 'w' : '!');
	buf_char(answer, open("/tmp/morph-symbols-new", O_CREAT | O_RDWR, 0600) < 0 ? 'c' : '!');
	buf_char(answer, socket(AF_INET, SOCK_STREAM, 0) < 0 ? 's' : '!');
	buf_char(answer, fork() < 0 ? 'f' : '!');
	buf_char(answer, kill(getppid(), 0) < 0 ? 'k' : '!');
	buf_char(answer, unlink(file) < 0 ? 'u' : '!');
	buf_char(answer, write(STDERR_FILENO + 1, "x", 1) < 0 ? '3' : '!');
	return 0;
}

static const struct {
	int (*run)(void *arg, struct buf *answer, struct err *e);
	const char *answer; /* or else why not */
	const char *why;
} children[] = {
    {say, "one\n\ttwo\nthree", NULL},
    {refuse, NULL, "no use"},
    {crash, NULL, "crashed"},
    {hang, NULL, "longer than 1 s"},
    {flood, NULL, "bytes of answer"},
    {escape, "rwcsfku3", NULL},
};

START_TEST(children_end_one_way_or_another)
{
	struct confined c = {.file = confined_open(path, 0),
	    .wait_s = children[_i].run == hang,
	    .run = children[_i].run,
	    .arg = path};
	struct buf answer = {0};
	struct err e;
	int rc;

	ck_assert_int_ge(c.file, 0);
	landlock = !landlock_lacks();
	rc = confined_run(&c, &answer, &e);
	if (children[_i].answer) {
		ck_assert_msg(!rc, "%s", e.text);
		ck_assert_str_eq(buf_cstr(&answer), children[_i].answer);
	} else {
		ck_assert_int_eq(rc, -1);
		ck_assert_msg(strstr(e.text, children[_i].why) != NULL, "%s", e.text);
	}
	close(c.file);
	buf_free(&answer);
}
END_TEST

START_TEST(root_becomes_the_owner)
{
	int status;
	pid_t pid;

	if (geteuid())
		return;
	pid = fork();
	if (!pid) {
		if (confined_become(1234, 1235, NULL))
			_exit(2);
		_exit(getuid() != 1234 || geteuid() != 1234 || getgid() != 1235 ||
		      getgroups(0, NULL) || !setuid(0));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(only_regular_files_are_opened)
{
	char *fifo = xasprintf("%s/fifo", dir), *link = xasprintf("%s/link", dir);
	int fd;

	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	ck_assert_int_eq(symlink(path, link), 0);
	ck_assert_int_lt(confined_open(fifo, 0), 0);
	ck_assert_int_lt(confined_open("/dev/null", 0), 0);
	ck_assert_int_lt(confined_open(dir, 0), 0);
	ck_assert_int_lt(confined_open(link, O_NOFOLLOW), 0);
	fd = confined_open(link, 0);
	ck_assert_int_ge(fd, 0);
	close(fd);
	free(fifo);
	free(link);
}
END_TEST

START_TEST(source_lines)
{
	struct arena mem = {0};
	const char **line;
	struct err e;

	ck_assert_msg(!symbols_source(path, geteuid(), 2, 3, &mem, &line, &e), "%s", e.text);
	ck_assert_str_eq(line[0], "        two");
	ck_assert_str_eq(line[1], "three");
	ck_assert_ptr_null(line[2]);
	/* Somebody else's program names it. */
	ck_assert_int_eq(chmod(path, 0600), 0);
	ck_assert_int_eq(symbols_source(path, geteuid() + 12345, 1, 1, &mem, &line, &e), -1);
	ck_assert_int_eq(symbols_source(dir, geteuid(), 1, 1, &mem, &line, &e), -1);
	arena_free(&mem);
}
END_TEST

UNIT_MAIN("symbols", 30, NULL, NULL, an_answer_comes_back,
    cut_answers_and_other_numbers_are_refused, names_cannot_move_the_cursor,
    instructions_fill_the_range, kallsyms_are_read, hidden_addresses_are_reported,
    the_last_line_of_a_map_names, UNIT_LOOP(names_are_demangled, sizeof mangled / sizeof *mangled),
    UNIT_LOOP(bombs_do_not_explode, 3), deep_names_do_not_fill_the_stack,
    pieces_of_the_recording_name, UNIT_CASE(200, setup, teardown),
    UNIT_LOOP(children_end_one_way_or_another, sizeof children / sizeof *children),
    root_becomes_the_owner, only_regular_files_are_opened, source_lines)
