#include "common/log.h"
#include "managerd/inspect/operations.h"
#include "managerd/inspect/sandbox.h"

#include <sqlite3.h>
#include <string.h>

enum { EXIT_NO_ANSWER = 1, EXIT_USAGE = 2, SQLITE_MEMORY = 256 << 20 };

static const struct operation {
	const char *name;
	int (*run)(struct answer *a, struct err *e);
} operations[] = {
    {INSPECT_MODULE, inspect_module},
    {INSPECT_ARTIFACT, inspect_artifact},
    {INSPECT_PAIR, inspect_pair},
    {INSPECT_OUTPUT, inspect_output},
    {INSPECT_TABLE, inspect_table},
    {INSPECT_BYTES, inspect_bytes},
    {INSPECT_LIST, inspect_list},
};

static const struct operation *find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof operations / sizeof *operations; i++)
		if (!strcmp(operations[i].name, name))
			return &operations[i];
	return NULL;
}

int main(int argc, char **argv)
{
	const struct operation *op = argc == 2 ? find(argv[1]) : NULL;
	struct answer answer = {0};
	struct err e;

	log_init("morph-inspect", LOG_LVL_INFO);
	if (!op)
		die(EXIT_USAGE, "morphd runs this program; it is of no use by itself");
	sqlite3_initialize();
	sqlite3_hard_heap_limit64(SQLITE_MEMORY);
	if (inspect_confine(&e))
		die(EXIT_NO_ANSWER, "sandbox: %s", e.text);
	if (op->run(&answer, &e))
		answer_refuse(&answer, &e);
	if (answer_write(&answer, INSPECT_ANSWER, &e))
		die(EXIT_NO_ANSWER, "%s", e.text);
	return 0;
}
