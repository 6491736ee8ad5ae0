#include "morphctl/report/out/out.h"
#include "morphctl/report/out/formats.h"

#include <string.h>

static const struct format {
	const char *name, *summary;
	bool symbols;
	out_writer *write;
	out_preparer *prepare; /* NULL: nothing is to be done */
} formats[] = {
    {"pprof", "pprof's profile.proto, compressed", true, write_pprof},
    {"folded", "stacks in lines, as flamegraph.pl reads them", true, write_folded},
    {"speedscope", "speedscope's JSON", true, write_speedscope},
    {"firefox", "processed profile of the Firefox Profiler", true, write_firefox},
    {"preaggregated", "branches and fall-throughs for perf2bolt -pa", false, write_preaggregated},
    {"fdata", "branches or samples for llvm-bolt -data", false, write_fdata},
    {"autofdo", "for create_gcov and create_llvm_prof --profiler=text", false, write_autofdo},
    {"autofdo-direct", "the same for GCC, without targets of indirect calls", false,
	write_autofdo_direct},
    {"llvm", "clang's sample profile, as text", true, write_llvm, prepare_llvm},
    {"symbol-order", "functions for lld --symbol-ordering-file", true, write_symbol_order},
    {"section-order", "sections for gold --section-ordering-file", true, write_section_order},
    {"blocks", "samples of an artifact's blocks, for morph-edit --samples", false, write_blocks},
};

static const struct format *find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof formats / sizeof *formats; i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	return NULL;
}

const char *out_format_name(unsigned i, const char **summary)
{
	if (i >= sizeof formats / sizeof *formats)
		return NULL;
	if (summary)
		*summary = formats[i].summary;
	return formats[i].name;
}

bool out_needs_symbols(const char *format)
{
	const struct format *f = find(format);

	return f && f->symbols;
}

void out_prepare(struct recording *r, const char *format, const struct out_options *o)
{
	const struct format *f = find(format);

	if (f && f->prepare)
		f->prepare(r, o);
}

int out_write(const struct recording *r, const char *format, const struct out_options *o,
    struct buf *out, struct err *e)
{
	const struct format *f = find(format);

	return f ? f->write(r, o, out, e) : err_set(e, "%s: no such format", format);
}
