/* hooks/sdt: probes written out assemble to the bytes of the probes; any other text is left. */
#include "hooks/sdt.h"
#include "common/publish.h"
#include "common/spawn.h"
#include "tests/unit/unit.h"

#include <string.h>
#include <unistd.h>

/* As gcc prints a probe with three arguments: int, const char *, double; and one without. */
#define MACROS \
	".altmacro\n" \
	".macro _SDT_SIGN x\n.iflt \\x\n.ascii \"-\"\n.endif\n.endm\n" \
	".macro _SDT_SIZE_ x\n.ascii \"\\x\"\n.endm\n" \
	".macro _SDT_SIZE x\n_SDT_SIZE_ %((-(-\\x*((-\\x>0)-(-\\x<0))))>>8)\n.endm\n" \
	".macro _SDT_TYPE_ x\n.ifc 8,\\x\n.ascii \"f\"\n.endif\n.ascii \"@\"\n.endm\n" \
	".macro _SDT_TYPE x\n_SDT_TYPE_ %((\\x)&(0xff))\n.endm\n"
#define FORGET \
	".purgem _SDT_SIGN\n.purgem _SDT_SIZE_\n.purgem _SDT_SIZE\n.purgem _SDT_TYPE_\n" \
	".purgem _SDT_TYPE\n"
#define USE(n) "_SDT_SIGN " #n "\n_SDT_SIZE " #n "\n_SDT_TYPE " #n "\n"
#define PROBE(arguments) \
	"\t" MACROS "990: nop\n.pushsection .note.stapsdt,\"?\",\"note\"\n.balign 4\n" \
	".4byte 992f-991f,994f-993f,3\n991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte " \
	"990b\n.asciz \"prov\"\n" arguments ".ascii \"\\x00\"\n" FORGET \
	"994: .balign 4\n.popsection\n"

static struct buf assembled(const char *text, size_t n)
{
	char source[] = "/tmp/morph-sdt-XXXXXX", object[] = "/tmp/morph-sdt-XXXXXX";
	const char *argv[] = {"as", "--64", "-o", object, source, NULL};
	int in = mkstemp(source), out = mkstemp(object);
	struct buf b = {0};
	struct err e;

	ck_assert(in >= 0 && out >= 0 && file_write_all(in, text, n) == 0);
	ck_assert_int_eq(spawn_run(&(struct spawn){.argv = argv}, NULL), 0);
	ck_assert_int_eq(file_read(object, 0, &b, &e), 0);
	close(in);
	close(out);
	unlink(source);
	unlink(object);
	return b;
}

START_TEST(same_bytes)
{
	static const char text[] = "\tret\n" PROBE(
	    USE(-1025) ".ascii \"%edi\"\n" USE(2053) ".ascii \"4(%rsp)\"\n" USE(2056) USE(-2056)
		USE(0) USE(264) USE(-248)) "\tnop\n" PROBE("") "\tret\n";
	struct buf in = {.p = (char *)text, .n = sizeof text - 1}, out = {0}, a, b;

	ck_assert(sdt_expand(&in, &out));
	ck_assert_ptr_null(strstr(buf_cstr(&out), "macro"));
	ck_assert_ptr_null(strstr(buf_cstr(&out), "_SDT_"));
	ck_assert_ptr_nonnull(strstr(buf_cstr(&out), "\"stapsdt\""));
	a = assembled(text, in.n);
	b = assembled(out.p, out.n);
	ck_assert(a.n == b.n && !memcmp(a.p, b.p, a.n));
	buf_free(&a);
	buf_free(&b);
	buf_free(&out);
}
END_TEST

static const char *const others[] = {"", "\tret\n", "\t.altmacro\n", "\t" MACROS, MACROS "x" FORGET,
    PROBE("_SDT_SIGN <0; .inc!bin \"x\">\n"), PROBE("_SDT_SIGN 1;nop\n"), PROBE("_SDT_SIGN \n"),
    PROBE("_SDT_SIGN 1-1\n"), PROBE("_SDT_SIGN 99999999999999\n"), PROBE("_SDT_SIZE_ 3\n"),
    PROBE("nop; _SDT_SIGN 3\n"), PROBE("_SDT_SIGN"), PROBE(MACROS), PROBE("") "\t" MACROS};

START_TEST(left)
{
	struct buf in = {.p = (char *)others[_i], .n = strlen(others[_i])}, out = {0};

	ck_assert(!sdt_expand(&in, &out));
	ck_assert_uint_eq(out.n, 0);
}
END_TEST

UNIT_MAIN("sdt", 0, NULL, NULL, same_bytes, UNIT_LOOP(left, sizeof others / sizeof *others))
