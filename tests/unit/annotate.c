#include "morphctl/report/show/annotate.h"
#include "tests/unit/unit.h"

#include <math.h>

/* Two blocks: a loop of four instructions, which an earlier jump and its own lead to, and a return.
 */
static const struct symbols_insn code[] = {{0x100, 2, "jmp 0x104", NULL, 0},
    {0x102, 2, "nop", NULL, 0}, {0x104, 3, "add %rax, %rcx", NULL, 0},
    {0x107, 4, "mov (%rdi), %rax", NULL, 0}, {0x10b, 3, "dec %rsi", NULL, 0},
    {0x10e, 2, "jnz 0x104", NULL, 0}, {0x110, 5, "call 0x102", NULL, 0},
    {0x115, 1, "ret", NULL, 0}};
enum { N = sizeof code / sizeof *code };

static void sample(struct recording *r, uint32_t file, uint64_t offset, uint64_t n)
{
	recording_sample(
	    r, &(struct recording_sample){.event = recording_event(r, "tick", "ns"),
		   .task = RECORDING_NONE,
		   .stack = recording_stack(r, RECORDING_NONE, recording_location(r, file, offset)),
		   .n = n,
		   .period = n});
}

START_TEST(samples_and_stalls_by_block)
{
	struct annotate_line line[N];
	struct recording r = {0};
	uint32_t file = recording_file(&r, RECORDING_ELF, "/bin/x", NULL, 0);
	uint32_t other = recording_file(&r, RECORDING_ELF, "/bin/y", NULL, 0);
	size_t i;

	sample(&r, file, 0x107, 60);
	sample(&r, file, 0x10a, 10); /* within the instruction */
	sample(&r, file, 0x10b, 10);
	sample(&r, file, 0x115, 1);
	sample(&r, file, 0x116, 5); /* beyond the function */
	sample(&r, file, 0xff, 5);
	sample(&r, other, 0x107, 100);
	annotate_make(line, code, N, &r, 0, file);
	for (i = 0; i < N; i++) {
		static const bool leader[N] = {true, true, true, false, false, false, true, false};
		static const uint64_t n[N] = {0, 0, 0, 70, 10, 0, 0, 1};

		ck_assert_int_eq(line[i].leader, leader[i]);
		ck_assert_uint_eq(line[i].n, n[i]);
	}
	ck_assert_double_eq_tol(line[3].stall, 3.5, 1e-9);
	ck_assert_double_eq_tol(line[4].stall, 0.5, 1e-9);
	ck_assert(isnan(line[7].stall)); /* too few to say */
	recording_free(&r);
}
END_TEST

UNIT_MAIN("annotate", 0, NULL, NULL, samples_and_stalls_by_block)
