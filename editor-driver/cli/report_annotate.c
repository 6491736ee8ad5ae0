#include "editor-driver/cli/cli.h"
#include "common/utf8.h"

#include <stdio.h>

enum { ADDRESS_HEX = 19, INSN_COLUMNS = 56 };

static const char *const KIND[] = {[EDGE_FALL] = "fall",
    [EDGE_JUMP] = "jump",
    [EDGE_TAKEN] = "taken",
    [EDGE_NOTTAKEN] = "not-taken",
    [EDGE_INDIRECT] = "indirect",
    [EDGE_THROW] = "throw"};

/* ---- JSON ---- */

/* null where it is not known. */
static json_t *known(bool is, double v)
{
	return is ? json_real(v) : json_null();
}

static json_t *address(bool is, uint64_t addr)
{
	char hex[ADDRESS_HEX];

	snprintf(hex, sizeof hex, "0x%llx", (unsigned long long)addr);
	return is ? json_string(hex) : json_null();
}

static json_t *edges_json(const struct annotated_block *b)
{
	json_t *list = json_array();
	const struct annotated_edge *e;

	for (e = b->edge; e < b->edge + b->nedge; e++)
		json_array_append_new(
		    list, json_pack("{s:I, s:s, s:f, s:o}", "block", (json_int_t)e->block, "kind",
			      KIND[e->kind], "share", e->share, "resolved",
			      known(e->resolved >= 0, e->resolved)));
	return list;
}

static json_t *insns_json(const struct listing_block *b)
{
	json_t *list = json_array();
	const struct listing_insn *i;

	for (i = b->insn.v; i < b->insn.v + b->insn.n; i++)
		json_array_append_new(list,
		    json_pack("{s:o, s:o, s:o, s:n, s:n}", "text", editanswer_text_json(i->text),
			"file", i->file ? editanswer_text_json(i->file) : json_null(), "line",
			i->file ? json_integer(i->line) : json_null(), "offset", "length"));
	return list;
}

static json_t *block_json(const struct annotation *a, const struct annotated_block *b)
{
	return json_pack("{s:I, s:o, s:o, s:I, s:s, s:b, s:b, s:b, s:b, s:o, s:f, s:f, s:o, s:o, "
			 "s:o, s:o}",
	    "block", (json_int_t)b->id, "address", address(b->present, b->addr), "original",
	    address(b->in_original, b->original), "bytes", (json_int_t)b->bytes, "part",
	    b->cold ? "cold" : "hot", "copy", b->copy, "entry", b->entry, "landing_pad", b->pad,
	    "loop_head", b->loop_head, "samples", known(a->sampled, b->samples), "executions",
	    b->executions, "executions_here", b->here, "cost", known(b->cost >= 0, b->cost),
	    "stall", known(b->stall >= 0, b->stall), "successors", edges_json(b), "instructions",
	    insns_json(&a->listing.block[b->id]));
}

json_t *annotate_json(const struct job *j)
{
	const struct annotation *a = &j->annotation;
	char hex[HASH_HEX], id[BUILD_ID_HEX];
	json_t *blocks = json_array();
	uint32_t i;

	for (i = 0; i < a->nblock; i++)
		json_array_append_new(blocks, block_json(a, &a->block[i]));
	return json_pack("{s:b, s:o, s:s, s:o, s:s, s:o, s:o, s:f, s:o}", "ok", 1, "function",
	    editanswer_text_json(a->func->name), "key", hash_hex(&a->func->key, hex), "unit",
	    editanswer_text_json(a->unit), "build", build_id_hex(&a->build, id), "opaque",
	    a->func->opaque[0] ? editanswer_text_json(a->func->opaque) : json_null(), "samples",
	    known(a->sampled, a->samples), "share", a->share, "blocks", blocks);
}

/* ---- text ---- */

/* What may come from anybody's text, as a terminal can take it; returns its characters. */
static int print_plain(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	int n, columns;

	for (columns = 0; *p; p += n ? n : 1, columns++) {
		n = utf8_printable(p);
		printf("%.*s", n ? n : 1, n ? (const char *)p : *p == '\t' ? " " : "?");
	}
	return columns;
}

static void print_number(bool is, double v, int digits)
{
	if (is)
		printf(" %8.*f", digits, v);
	else
		printf(" %8s", "-");
}

static void print_address(bool is, uint64_t addr)
{
	if (is)
		printf(" %10llx", (unsigned long long)addr);
	else
		printf(" %10s", "-");
}

static void print_edges(const struct annotated_block *b)
{
	const struct annotated_edge *e;

	for (e = b->edge; e < b->edge + b->nedge; e++) {
		printf("%s%u %s %.1f %%", e == b->edge ? "  -> " : ", ", e->block, KIND[e->kind],
		    100 * e->share);
		if (e->resolved >= 0)
			printf(" (%.10g seen)", e->resolved);
	}
}

static void print_insns(const struct listing_block *b)
{
	const struct listing_insn *i;
	int columns;

	for (i = b->insn.v; i < b->insn.v + b->insn.n; i++) {
		printf("%24s", "");
		columns = print_plain(i->text);
		if (i->file) {
			printf("%*s", columns < INSN_COLUMNS ? INSN_COLUMNS - columns : 1, "");
			print_plain(i->file);
			printf(":%u", i->line);
		}
		printf("\n");
	}
}

static void print_block(const struct annotation *a, const struct annotated_block *b)
{
	print_address(b->present, b->addr);
	print_address(b->in_original, b->original);
	printf(" %6u", b->bytes);
	print_number(a->sampled, b->samples, 0);
	printf(" %12.*f", a->sampled ? 2 : 0, b->here);
	print_number(b->cost >= 0, b->cost, 1);
	print_number(b->stall >= 0, b->stall, 2);
	printf("  %u %s%s%s%s%s", b->id, b->cold ? "cold" : "hot", b->copy ? ", copy" : "",
	    b->entry ? ", entry" : "", b->pad ? ", landing pad" : "",
	    b->loop_head ? ", loop head" : "");
	print_edges(b);
	printf("\n");
	print_insns(&a->listing.block[b->id]);
}

void annotate_text(const struct job *j)
{
	const struct annotation *a = &j->annotation;
	char hex[HASH_HEX], id[BUILD_ID_HEX];
	uint32_t i;

	printf("%-12s ", "function");
	print_plain(a->func->name);
	printf("#%s of ", hash_hex(&a->func->key, hex));
	print_plain(a->unit);
	printf("\n%-12s %s\n%-12s %.2f %%\n\n", "build", build_id_hex(&a->build, id), "share",
	    100 * a->share);
	printf(" %10s %10s %6s %8s %12s %8s %8s  %s\n", "address", "original", "bytes", "samples",
	    "executions", "cost", "stall", "block");
	for (i = 0; i < a->nblock; i++)
		print_block(a, &a->block[i]);
}
