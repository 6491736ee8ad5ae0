#include "editor-driver/runtime.h"

__asm__(".section .rodata\n"
	"counting_text: .incbin \"" COUNTING_TEXT "\"\n"
	"counting_text_end: .byte 0\n"
	".text\n");
extern const char counting_text[], counting_text_end[];

/* At a program's entry only the stack pointer and rdx say something. */
static void entry_text(struct buf *out)
{
	buf_str(out,
	    "\t.text\n\t.globl " RUNTIME_ENTRY "\n\t.hidden " RUNTIME_ENTRY "\n" RUNTIME_ENTRY ":\n"
	    "\tendbr64\n\tpushq %rdx\n\tpushq %rdx\n"
	    "\tcall morph_counting_begin_live\n"
	    "\tpopq %rdx\n\tpopq %rdx\n"
	    "\t.hidden " RUNTIME_GOES_ON "\n\tjmp " RUNTIME_GOES_ON "\n");
}

void runtime_text(const struct build_id *origin, const char *name, bool bare, struct buf *out)
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
	buf_str(out, "\t.byte 0\n");
	if (bare)
		entry_text(out);
}
