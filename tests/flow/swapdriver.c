/*
 * Swap from the command line, for flow tests:
 *	swapdriver check MODULE
 *	swapdriver commit STATE MODULE STAGED FROM TO
 *	swapdriver rollback STATE MODULE - FROM TO
 *	swapdriver recover STATE
 * Prints the reason of what did not go. Exit status: enum swap_status.
 */
#include "tests/unit/swapping.h"

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
	const char *staged = *argv[1] == 'c' ? argv[4] : NULL;
	struct swap_order o = {.keep = 2};
	enum swap_status s;

	if (build_id_parse(argv[5], &o.from) < 0 || build_id_parse(argv[6], &o.to) < 0) {
		err_set(e, "not a build-id");
		return SWAP_FAILED;
	}
	s = swap_files(argv[2], argv[3], staged, &o, e);
	return s == SWAP_OK && swap_done(argv[2], argv[3], e) < 0 ? SWAP_FAILED : s;
}

static enum swap_status check(const char *module, struct err *e)
{
	struct trusted t;
	int r = trust_open(module, (uid_t)-1, &t, e) < 0 || trust_may_replace(&t, false, e) < 0;

	trust_close(&t);
	return r ? SWAP_REFUSED : SWAP_OK;
}

int main(int argc, char **argv)
{
	struct err e = {""};
	int status = 64;

	if (argc == 3 && !strcmp(argv[1], "check"))
		status = (int)check(argv[2], &e);
	else if (argc == 3 && !strcmp(argv[1], "recover"))
		status = swap_recover(argv[2], settled, argv[2], &e) < 0 ? SWAP_FAILED : SWAP_OK;
	else if (argc == 7)
		status = (int)swap(argv, &e);
	if (status)
		puts(e.text);
	return status;
}
