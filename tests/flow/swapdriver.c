/*
 * Swap from the command line, for flow tests:
 *	swapdriver check MODULE
 *	swapdriver commit|rollback STATE MODULE STAGED FROM TO
 *	swapdriver recover STATE
 * Prints the reason of what did not go. Exit status: enum swap_status.
 */
#include "managerd/swap.h"

#include <stdio.h>
#include <string.h>

static void settled(const struct swap_outcome *o, void *arg)
{
	struct err e;

	printf("%s %s\n", o->module, o->end == SWAP_FINISHED ? "finished" : "not finished");
	if (swap_done(arg, o->module, &e) < 0)
		puts(e.text);
}

static enum swap_status swap(char **argv, struct err *e)
{
	struct swap_order o = {.module = argv[3], .staged = argv[4], .keep = 2,
		.staged_by = (uid_t)-1};
	enum swap_status s;

	if (build_id_parse(argv[5], &o.from) < 0 || build_id_parse(argv[6], &o.to) < 0) {
		err_set(e, "not a build-id");
		return SWAP_FAILED;
	}
	s = (*argv[1] == 'c' ? swap_commit : swap_rollback)(argv[2], &o, e);
	return s == SWAP_OK && swap_done(argv[2], o.module, e) < 0 ? SWAP_FAILED : s;
}

int main(int argc, char **argv)
{
	struct err e = {""};
	int status = 64;

	if (argc == 3 && !strcmp(argv[1], "check"))
		status = (int)swap_check(argv[2], &e);
	else if (argc == 3 && !strcmp(argv[1], "recover"))
		status = swap_recover(argv[2], settled, argv[2], &e) < 0 ? SWAP_FAILED : SWAP_OK;
	else if (argc == 7)
		status = (int)swap(argv, &e);
	if (status)
		puts(e.text);
	return status;
}
