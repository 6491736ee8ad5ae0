/*
 * cov >= 300
 * What children say about code, and the texts that name it. First byte 0: an answer of as many
 * locations as the next byte says, which must encode again; 1: instructions; 2: kallsyms; 3: a
 * JIT compiler's map; 4: a name to demangle.
 */
#include "morphctl/report/symbols/answer.h"
#include "morphctl/report/symbols/instructions.h"
#include "morphctl/report/symbols/readers.h"

#include <stdlib.h>
#include <string.h>

static void answer(const uint8_t *p, size_t n)
{
	struct recording r = {0}, again = {0};
	struct buf b = {0};
	struct err e;

	if (n && !answer_decode(p + 1, n - 1, *p, &r, &e)) {
		answer_encode(&r, &b);
		if (answer_decode(b.p, b.n, *p, &again, &e) || again.frame.n != r.frame.n ||
		    again.function.n != r.function.n)
			abort();
	}
	recording_free(&r);
	recording_free(&again);
	buf_free(&b);
}

static void text(bool kernel, const char *p, size_t n)
{
	static const uint64_t at[] = {0, 1, 0x10, 0x11, 0x100, 0x1000, 0xfff0, UINT64_MAX - 1};
	struct recording_file file = {.path = "[a]"};
	struct request q = {.file = &file, .at = at, .n = sizeof at / sizeof *at};
	struct recording r = {0};
	struct err e;
	int rc = 0;

	if (kernel)
		rc = read_kallsyms(&q, p, n, &r, &e);
	else
		read_perfmap(&q, p, n, &r);
	if (!rc && r.location.n != q.n)
		abort();
	recording_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct symbols_insn *insn;
	struct arena mem = {0};
	struct err e;
	size_t count;
	char *s;

	if (!n)
		return 0;
	if (*p == 0)
		answer(p + 1, n - 1);
	else if (*p == 1)
		instructions_decode(p + 1, n - 1, 0x1000, 0x1010, &mem, &insn, &count, &e);
	else if (*p == 2 || *p == 3)
		text(*p == 2, (const char *)p + 1, n - 1);
	else if (*p == 4) {
		s = symbols_demangle(arena_strndup(&mem, (const char *)p + 1, n - 1));
		free(s);
	}
	arena_free(&mem);
	return 0;
}
