#include "editor-driver/link/runtime.h"
#include "editor/probe/probes.h"

__asm__(".section .rodata\n"
	"counting_text: .incbin \"" COUNTING_TEXT "\"\n"
	"counting_text_end: .byte 0\n"
	".text\n");
extern const char counting_text[], counting_text_end[];

/* At a program's entry only the stack pointer and rdx are defined. */
static void entry_text(struct buf *out)
{
	buf_str(out,
	    "\t.text\n\t.globl " RUNTIME_ENTRY "\n\t.hidden " RUNTIME_ENTRY "\n" RUNTIME_ENTRY ":\n"
	    "\tendbr64\n\tpushq %rdx\n\tpushq %rdx\n"
	    "\tcall morph_counting_begin_live\n"
	    "\tpopq %rdx\n\tpopq %rdx\n"
	    "\t.hidden " RUNTIME_GOES_ON "\n\tjmp " RUNTIME_GOES_ON "\n");
}

/* Gives a thread its counters, called at the beginning of a function: all registers that a call may
 * change are saved, and the stack may be misaligned by 8. No unwind information: this is linked
 * after crtend.o, which ends that of a program. */
static void threads_text(struct buf *out)
{
	static const char *const reg[] = {
	    "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11"};
	size_t i, n = sizeof reg / sizeof reg[0];

	buf_str(out,
	    "\t.section .tbss,\"awT\",@nobits\n"
	    "\t.globl " PROBES_SEEN "\n\t.hidden " PROBES_SEEN "\n" PROBES_SEEN ":\n\t.zero 1\n"
	    "\t.text\n"
	    "\t.globl " PROBES_ENTER "\n\t.hidden " PROBES_ENTER "\n" PROBES_ENTER ":\n"
	    "\tpushq %rbp\n\tmovq %rsp, %rbp\n");
	for (i = 0; i < n; i++)
		buf_printf(out, "\tpushq %%%s\n", reg[i]);
	buf_printf(out,
	    "\tandq $-16, %%rsp\n"
	    "\tcall morph_counting_thread\n"
	    "\tmovb $1, %%fs:" PROBES_SEEN "@tpoff\n"
	    "\tleaq -%zu(%%rbp), %%rsp\n",
	    8 * n);
	for (i = n; i-- > 0;)
		buf_printf(out, "\tpopq %%%s\n", reg[i]);
	buf_str(out, "\tpopq %rbp\n\tret\n");
}

void runtime_first(struct buf *out)
{
	buf_str(out, "\t.section .morph.counters,\"aw\",@nobits\n\t.p2align 3\n"
		     "\t.globl morph_counters_begin\n\t.hidden morph_counters_begin\n"
		     "morph_counters_begin:\n"
		     "\t.section .morph.counted,\"a\",@progbits\n\t.p2align 3\n"
		     "\t.globl morph_counted_begin\n\t.hidden morph_counted_begin\n"
		     "morph_counted_begin:\n");
}

void runtime_text(
    const struct build_id *origin, const char *name, bool bare, bool threads, struct buf *out)
{
	size_t i;

	buf_add(out, counting_text, (size_t)(counting_text_end - counting_text));
	buf_printf(out, "\t.section .rodata\nmorph_counting_origin:\n\t.byte %u\n", origin->n);
	for (i = 0; i < sizeof origin->b; i++)
		buf_printf(out, "\t.byte %u\n", i < origin->n ? origin->b[i] : 0);
	buf_str(out, "morph_counting_name:\n");
	for (; *name; name++)
		buf_printf(
		    out, "\t.byte %u\n", *name == '/' || *name == '%' ? '_' : (uint8_t)*name);
	buf_printf(out, "\t.byte 0\nmorph_counting_threads:\n\t.byte %d\n", threads);
	if (threads)
		threads_text(out);
	if (bare)
		entry_text(out);
}
