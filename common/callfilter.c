#include "common/callfilter.h"

#include <errno.h>

struct callfilter callfilter_begin(uint32_t otherwise)
{
	scmp_filter_ctx ctx = seccomp_init(otherwise);

	return (struct callfilter){.ctx = ctx, .rc = ctx ? 0 : -ENOMEM};
}

void callfilter_set(struct callfilter *f, enum scmp_filter_attr attr, uint32_t value)
{
	if (!f->rc)
		f->rc = seccomp_attr_set(f->ctx, attr, value);
}

void callfilter_list(struct callfilter *f, uint32_t action, const int *call, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		callfilter_rule(f, action, call[i], NULL, 0);
}

void callfilter_rule(
    struct callfilter *f, uint32_t action, int call, const struct scmp_arg_cmp *cond, size_t n)
{
	if (!f->rc)
		f->rc = seccomp_rule_add_array(f->ctx, action, call, (unsigned)n, cond);
}

int callfilter_load(struct callfilter *f, struct err *e)
{
	if (!f->rc)
		f->rc = seccomp_load(f->ctx);
	seccomp_release(f->ctx);
	if (!f->rc)
		return 0;
	errno = -f->rc;
	return err_sys(e, "filter of system calls");
}
