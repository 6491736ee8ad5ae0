/*
 * Golden edits: prints the unit of a file with the layouts that its first
 * lines ask for, after the output check.
 *	# layout: FUNCTION RANK BLOCK… [| COLD BLOCK…]
 *	# count: edges|blocks [atomic|thread]          all functions, in their order
 * A block may come twice: a copy. BLOCK:4 is aligned to 16 bytes, BLOCK! hops;
 * "pad:N" leaves N bytes, "offset:N" begins so many behind a
 * boundary of 64. Functions that are not named stay.
 * Prints "refused: …" for a foreign unit.
 */
#include "common/publish.h"
#include "editor/count/count.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t TU = 0x1122334455667788;

static void read_layout(struct unit *u, struct unit_placement *placement, char *line)
{
	char *save, *name = strtok_r(line, " ", &save), *word;
	size_t room = strlen(save);
	struct unit_placement *p = NULL;
	uint32_t i, n = 0;

	for (i = 0; i < u->nfunc; i++)
		if (!strcmp(u->func[i].name, name))
			p = &placement[i];
	if (!p) {
		fprintf(stderr, "no function %s\n", name);
		exit(2);
	}
	p->edit = true;
	p->rank = (uint32_t)atoi(strtok_r(NULL, " ", &save));
	p->layout.order = calloc(room, sizeof(uint32_t));
	p->layout.align = calloc(room, 1);
	p->layout.hop = calloc(room, 1);
	while ((word = strtok_r(NULL, " ", &save))) {
		if (!strcmp(word, "|"))
			p->layout.nhot = n;
		else if (!strncmp(word, "pad:", 4))
			p->padding = (uint8_t)atoi(word + 4);
		else if (!strncmp(word, "offset:", 7)) {
			p->layout.entry_offset = (uint8_t)atoi(word + 7);
			p->layout.entry_align = 6;
		} else {
			if (strchr(word, ':'))
				p->layout.align[n] = (uint8_t)atoi(strchr(word, ':') + 1);
			p->layout.hop[n] = strchr(word, '!') != NULL;
			p->layout.order[n++] = (uint32_t)atoi(word);
		}
	}
	if (!p->layout.nhot)
		p->layout.nhot = n;
	p->layout.n = n;
	if (n < u->func[p - placement].cfg.nblock) {
		fprintf(stderr, "%s has %u blocks, the layout names %u\n", name,
		    u->func[p - placement].cfg.nblock, n);
		exit(2);
	}
}

static void describe(const struct unit *u, struct buf *out)
{
	static const char *const kind[] = {"fall", "jump", "taken", "not", "indirect", "throw"};
	const struct unit_func *f;
	uint32_t i, k;

	for (i = 0; i < u->nfunc; i++) {
		f = &u->func[i];
		buf_printf(out, "# %s: %u blocks%s%s%s%s\n", f->name, f->cfg.nblock,
		    f->opaque ? ", opaque: " : "", f->opaque ? f->opaque : "",
		    f->one_part ? ", one part" : "", f->movable ? "" : ", stays");
		for (k = 0; k < f->cfg.nedge; k++)
			buf_printf(out, "#   %u -> %u %s\n", f->cfg.edge[k].src, f->cfg.edge[k].dst,
			    kind[f->cfg.edge[k].kind]);
	}
}

static bool read_count(
    struct unit *u, struct unit_placement *placement, struct probes **probes, const char *line)
{
	struct unit_counting how = {.edges = strstr(line, "edges") != NULL,
	    .kind = strstr(line, "atomic")   ? COUNTERS_ATOMIC
		    : strstr(line, "thread") ? COUNTERS_THREAD
					     : COUNTERS_PLAIN};
	struct err e;

	if (unit_count(u, &how, placement, probes, &e))
		printf("not counted: %s\n", e.text);
	return true;
}

int main(int argc, char **argv)
{
	bool counting = false;
	struct unit_placement *placement;
	struct probes **probes;
	struct buf in = {0}, out = {0};
	struct arena a = {0};
	char *line, *copy;
	struct unit *u;
	struct err e;
	size_t from;

	if (argc != 2 || file_read(argv[1], 0, &in, &e))
		return 2;
	u = unit_parse(&a, in.p, in.n, &e);
	if (!u) {
		printf("refused: %s\n", e.text);
		return 0;
	}
	placement = calloc(u->nfunc + 1, sizeof *placement);
	probes = calloc(u->nfunc + 1, sizeof *probes);
	copy = strdup(buf_cstr(&in));
	for (line = strtok(copy, "\n"); line && *line == '#'; line = strtok(NULL, "\n"))
		if (!strncmp(line, "# layout: ", 10))
			read_layout(u, placement, strdup(line + 10));
		else if (!strncmp(line, "# count: ", 9))
			counting = read_count(u, placement, probes, line);
	describe(u, &out);
	from = out.n;
	unit_emit_counting(u, placement, probes, TU, &out);
	if (counting ? unit_check_counting(u, probes, TU, out.p + from, out.n - from, &e)
		     : unit_check(u, out.p, out.n, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	fwrite(out.p, 1, out.n, stdout);
	return 0;
}
