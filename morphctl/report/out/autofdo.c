/*
 * What create_gcov and create_llvm_prof read with --profiler=text: three lists, each a line with
 * its length and that many lines, of places in hexadecimal and counts.
 *
 *	FROM-TO:N    straight-line code, from its first to its last instruction
 *	PLACE:N      samples
 *	FROM->TO:N   branches, within the executable
 *
 * Places are offsets in the file: AutoFDO makes addresses of them by the program headers of the
 * executable segments (before 0.20 by the first segment's, which is the same but with lld).
 */
#include "common/publish.h"
#include "morphctl/report/confined/confined.h"
#include "morphctl/report/out/addresses.h"
#include "morphctl/report/out/formats.h"

#include <string.h>
#include <unistd.h>

#define LL(v) (unsigned long long)(v)

static bool is_inside(const struct address_pair *b)
{
	return b->from != ADDRESS_OUTSIDE && b->to != ADDRESS_OUTSIDE;
}

static void put_lists(struct buf *out, const struct addresses *a)
{
	size_t i, inside = 0;

	buf_printf(out, "%zu\n", a->range.n);
	for (i = 0; i < a->range.n; i++)
		buf_printf(out, "%llx-%llx:%llu\n", LL(a->range.v[i].from), LL(a->range.v[i].to),
		    LL(a->range.v[i].n));
	buf_printf(out, "%zu\n", a->sample.n);
	for (i = 0; i < a->sample.n; i++)
		buf_printf(out, "%llx:%llu\n", LL(a->sample.v[i].address), LL(a->sample.v[i].n));
	for (i = 0; i < a->branch.n; i++)
		inside += is_inside(&a->branch.v[i]);
	buf_printf(out, "%zu\n", inside);
	for (i = 0; i < a->branch.n; i++)
		if (is_inside(&a->branch.v[i]))
			buf_printf(out, "%llx->%llx:%llu\n", LL(a->branch.v[i].from),
			    LL(a->branch.v[i].to), LL(a->branch.v[i].n));
}

int write_autofdo(
    const struct recording *r, const struct out_options *o, struct buf *out, struct err *e)
{
	struct addresses a;
	int status = offsets_read(&a, r, o, e);

	if (!status)
		put_lists(out, &a);
	addresses_free(&a);
	return status;
}

/* call *OPERAND: FF /2 after legacy prefixes and REX. */
static bool is_indirect_call(const uint8_t *insn, size_t n)
{
	size_t i = 0;

	while (i < n && (memchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf2\xf3", insn[i], 10) ||
			    (insn[i] & 0xf0) == 0x40))
		i++;
	return i + 1 < n && insn[i] == 0xff && (insn[i + 1] >> 3 & 7) == 2;
}

static void drop_indirect_calls(struct addresses *a, int fd)
{
	uint8_t insn[15];
	size_t i, n = 0;
	ssize_t got;

	for (i = 0; i < a->branch.n; i++) {
		got = is_inside(&a->branch.v[i])
			  ? pread(fd, insn, sizeof insn, (off_t)a->branch.v[i].from)
			  : 0;
		if (got <= 0 || !is_indirect_call(insn, (size_t)got))
			a->branch.v[n++] = a->branch.v[i];
	}
	a->branch.n = n;
}

int write_autofdo_direct(
    const struct recording *r, const struct out_options *o, struct buf *out, struct err *e)
{
	struct executable m;
	struct addresses a;
	int fd, status;

	if (executable_open(&m, r, o, e))
		return -1;
	fd = confined_open(m.path, 0);
	status = offsets_read(&a, r, o, e);
	if (!status && fd < 0)
		status = err_sys(e, "%s", m.path);
	if (!status) {
		drop_indirect_calls(&a, fd);
		put_lists(out, &a);
	}
	fd_close(&fd);
	addresses_free(&a);
	executable_close(&m);
	return status;
}
