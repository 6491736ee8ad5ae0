#include "editor/count/liveness.h"

#include "editor/asm/insn.h"
#include "editor/asm/operand.h"
#include "editor/replay/uops.h"

#include <ctype.h>
#include <stdlib.h>

enum {
	ARGUMENTS = 1 << UR_DI | 1 << UR_SI | 1 << UR_DX | 1 << UR_CX | 1 << UR_R8 | 1 << UR_R9 |
		    1 << UR_AX /* how many vector registers */ | 1 << UR_R10 /* static chain */,
	RESULTS = 1 << UR_AX | 1 << UR_DX,
	ALSO_SAVED = 1 << UR_SI | 1 << UR_DI, /* in Microsoft's ABI */
	STRINGS = 1 << UR_AX | 1 << UR_CX | 1 << UR_SI | 1 << UR_DI
};

#define REGCALL "__regcall" /* names of functions with arguments in other registers begin so */

static const struct reg_effect anything = {REGS_ALL, 0, REGS_ALL};

/* In the order of DWARF's numbers. */
static const uint8_t dwarf_reg[] = {UR_AX, UR_DX, UR_CX, UR_BX, UR_SI, UR_DI, UR_BP, UR_SP, UR_R8,
    UR_R9, UR_R10, UR_R11, UR_R12, UR_R13, UR_R14, UR_R15};

/* ---- the unit ---- */

/* Does it take an address, and call nothing? With the large code model, or if an option says so,
 * GCC calls known functions through registers, and then always. */
static bool only_address(const struct regs *r, const struct stmt *st)
{
	struct str to;

	return r->calls_by_name && st->kind == ST_INSN && insn_classify(st, &to) == INSN_PLAIN &&
	       !str_starts(st->op, "movabs");
}

static bool calls_by_name(const struct stmt *st)
{
	struct str to;

	return st->kind == ST_INSN && insn_classify(st, &to) == INSN_CALL && *to.p != '*';
}

/* The function of the unit that a statement calls or goes to by name, of those whose
 * blocks are known; NONE. */
static uint32_t callee(const struct regs *r, const struct stmt *st)
{
	enum insn_class class;
	const struct label *l;
	struct str to;

	class = st->kind == ST_INSN ? insn_classify(st, &to) : INSN_PLAIN;
	if (class != INSN_CALL && class != INSN_JMP && class != INSN_JCC)
		return NONE;
	l = str_starts(to, ".L") ? NULL : label_find(r->u, unquote(symbol_of(to)));
	return l ? l->func : NONE;
}

static bool in_blocks(const struct regs *r, size_t i)
{
	return r->u->stmt_func[i] != NONE && r->u->func.v[r->u->stmt_func[i]].blk;
}

static void note(struct regs *r, const struct stmt *st)
{
	const struct label *l;
	const char *at;
	struct str t;
	bool fresh;

	for (at = st->line.p; token_next(&at, st->line.p + st->line.n, &t);) {
		if (str_starts(t, ".L"))
			continue;
		l = label_find(r->u, t);
		if (l && l->func != NONE)
			r->named[l->func] = 1;
		if (st->kind == ST_DIR)
			htab_put(&r->alias, t.p, t.n, &fresh);
	}
}

static void find_names(struct regs *r)
{
	const struct unit_impl *u = r->u;
	const struct stmt *st;
	size_t i;

	for (i = 0; i < u->stmt.n && !r->calls_by_name; i++)
		r->calls_by_name = calls_by_name(&u->stmt.v[i]);
	for (i = 0; i < u->stmt.n; i++) {
		st = &u->stmt.v[i];
		if (st->kind == ST_ASM || (st->kind == ST_DIR && st->dir == DIR_SET) ||
		    (st->kind == ST_INSN && !only_address(r, st) &&
			!(in_blocks(r, i) && callee(r, st) != NONE)))
			note(r, st);
	}
}

/* ---- one statement ---- */

static bool is_other(struct str name)
{
	static const char *const prefix[] = {"xmm", "ymm", "zmm", "mm", "st"};
	static const char *const whole[] = {"cs", "ds", "es", "fs", "gs", "ss", "rip"};
	size_t i;

	for (i = 0; i < sizeof prefix / sizeof *prefix; i++)
		if (str_starts(name, prefix[i]))
			return true;
	for (i = 0; i < sizeof whole / sizeof *whole; i++)
		if (str_is(name, whole[i]))
			return true;
	return name.n == 2 && *name.p == 'k' && isdigit((unsigned char)name.p[1]);
}

/* All general registers that a text names, REGS_ALL when it names one that is not known. */
static uint16_t named(struct str s)
{
	const char *p = s.p, *end = s.p + s.n;
	uint16_t mask = 0;
	struct str name;
	uint8_t reg;

	while (p < end && (p = memchr(p, '%', (size_t)(end - p)))) {
		name = (struct str){++p, 0};
		for (; p < end && isalnum((unsigned char)*p); p++)
			name.n++;
		if (operand_reg(name, &reg))
			mask |= (uint16_t)(1 << reg);
		else if (!is_other(name))
			return REGS_ALL;
	}
	return mask;
}

/* Where the last operand begins. */
static uint32_t last_operand(struct str arg)
{
	uint32_t i, at = 0;
	int depth = 0;

	for (i = 0; i < arg.n; i++) {
		depth += arg.p[i] == '(';
		depth -= arg.p[i] == ')';
		if (arg.p[i] == ',' && !depth)
			at = i + 1;
	}
	return at;
}

static bool only_writes(uint8_t kind)
{
	switch (kind) {
	case UOP_MOV:
	case UOP_MOVZX:
	case UOP_MOVSX:
	case UOP_LEA:
	case UOP_IMUL3:
	case UOP_POP:
		return true;
	}
	return false;
}

static uint16_t bit_of(uint8_t operand)
{
	return operand < UR_N ? (uint16_t)(1 << operand) : 0;
}

/* What an instruction uses and its text does not name. */
static uint16_t implied(const struct uop *o, int operands)
{
	switch (o->kind) {
	case UOP_MULA:
	case UOP_IMULA:
	case UOP_DIV:
	case UOP_IDIV:
	case UOP_SIGN_DX:
		return 1 << UR_AX | 1 << UR_DX;
	case UOP_CMPXCHG:
		return 1 << UR_AX;
	case UOP_MOVSX: /* cltq */
		return operands ? 0 : 1 << UR_AX;
	case UOP_SHLD:
	case UOP_SHRD:
		return bit_of(o->src);
	case UOP_LEAVE:
		return 1 << UR_BP;
	}
	return 0;
}

/* Is it "xor r, r" of at least four bytes? */
static bool clears(const struct uop *o, const struct operand op[OPERANDS], int n)
{
	return o->kind == UOP_XOR && n == 2 && op[0].class == OP_REG && op[1].class == OP_REG &&
	       op[0].uo == op[1].uo && op[0].size == op[1].size;
}

static struct reg_effect plain(const struct stmt *st)
{
	struct uop o = uop_of_insn(st);
	struct operand op[OPERANDS];
	struct reg_effect e;
	uint32_t last = last_operand(st->arg);
	int n = operands_read(st->arg, op);

	if (o.kind == UOP_STOP || n < 0)
		return anything;
	e.touches = named(st->arg) | implied(&o, n);
	e.reads = e.touches;
	e.kills = 0;
	if (!n || op[n - 1].class != OP_REG || op[n - 1].size < 2 || op[n - 1].uo >= UR_N)
		return e;
	if (clears(&o, op, n)) {
		e.reads = 0;
		e.kills = bit_of(op[1].uo);
	} else if (only_writes(o.kind) && o.dst == op[n - 1].uo) {
		e.reads = named((struct str){st->arg.p, last});
		e.kills = bit_of(o.dst);
	}
	return e;
}

/* "rep stosq" and the like, which uop_of_insn() leaves alone. */
static bool repeats(const struct stmt *st)
{
	static const char *const ops[] = {"stos", "movs", "scas", "cmps", "lods"};

	return (str_is(st->op, "rep") || str_starts(st->op, "repz") || str_is(st->op, "repe") ||
		   str_is(st->op, "repnz") || str_is(st->op, "repne")) &&
	       str_starts_any(st->arg, ops, sizeof ops / sizeof *ops);
}

/* Is it the name of a function that is not of this unit? */
static bool is_elsewhere(const struct regs *r, struct str to)
{
	static const char *const got = "@GOTPCREL(%rip)";
	size_t n = strlen(got);

	if (to.n > n + 1 && *to.p == '*' && !memcmp(to.p + to.n - n, got, n))
		to = (struct str){to.p + 1, to.n - 1};
	to = unquote(symbol_of(to));
	return to.n && *to.p != '*' && !str_starts(to, ".L") && !label_find(r->u, to) &&
	       !htab_get(&r->alias, to.p, to.n);
}

/* Functions of the C library that take so many arguments, in general registers. */
static int library_arguments(struct str name)
{
	static const char *const by_number[][24] = {
	    {"__stack_chk_fail", "abort", "__errno_location", "__ctype_b_loc",
		"__ctype_tolower_loc", "__ctype_toupper_loc"},
	    {"free", "malloc", "strlen", "exit", "_exit", "fclose", "fflush", "ferror", "feof",
		"getc", "putchar", "puts", "perror", "strdup", "time"},
	    {"strcmp", "strcpy", "strchr", "strrchr", "strcat", "strspn", "strcspn", "strpbrk",
		"strstr", "calloc", "realloc", "fputc", "fputs", "putc", "longjmp", "strcoll"},
	    {"memcpy", "memmove", "memset", "memcmp", "memchr", "memrchr", "strncmp", "strncpy",
		"strcasecmp", "strncasecmp", "strtol", "strtoul", "read", "write"},
	    {"fread", "fwrite", "fread_unlocked", "fwrite_unlocked", "__memcpy_chk",
		"__memmove_chk", "__memset_chk", "__strncpy_chk", "__assert_fail", "qsort"}};
	int n, k;

	for (n = 0; n < 5; n++)
		for (k = 0; k < 24 && by_number[n][k]; k++)
			if (str_is(name, by_number[n][k]))
				return n;
	return -1;
}

static struct str callee_name(struct str to)
{
	uint32_t star = to.n && *to.p == '*';

	return symbol_of((struct str){to.p + star, to.n - star});
}

/* What a call reads by way of arguments. */
static uint16_t arguments(const struct regs *r, struct str to, bool elsewhere)
{
	static const uint8_t order[] = {UR_DI, UR_SI, UR_DX, UR_CX};
	const struct label *l;
	uint16_t mask = 0;
	int n;

	if (elsewhere) {
		n = library_arguments(callee_name(to));
		if (n < 0)
			return ARGUMENTS;
		while (n-- > 0)
			mask |= (uint16_t)(1 << order[n]);
		return mask;
	}
	l = *to.p == '*' || memchr(to.p, '@', to.n) ? NULL : label_find(r->u, unquote(to));
	if (!l || l->func == NONE || !(l->flags & LB_START))
		return ARGUMENTS;
	return r->entry[l->func];
}

/*
 * A call to the C library changes all that the ABI lets it. Of others the compiler may know more:
 * what a function of the unit changes (where a call through a register goes, too), that one keeps
 * to another ABI, or is a helper of its own.
 */
static struct reg_effect call(const struct regs *r, struct str to)
{
	static const char *const own[] = {"__x86_", "__fentry__", "mcount", "_mcount",
	    "__morestack", "__asan_", "__hwasan_", "__msan_", "__tsan_", "__sanitizer_", "__llvm_",
	    "__probestack", "__rust_probestack", "__chkstk", "___chkstk", "_dl_", "__tls_",
	    REGCALL};
	bool elsewhere = is_elsewhere(r, to);
	struct reg_effect e = {arguments(r, to, elsewhere) | named(to), 0, REGS_ALL};

	if (str_starts_any(callee_name(to), own, sizeof own / sizeof *own))
		return anything;
	if (elsewhere && library_arguments(callee_name(to)) >= 0)
		e.kills = UR_CALLER_SAVED;
	return e;
}

/* A jump within the function itself. */
static bool stays_inside(const struct unit_impl *u, struct str to)
{
	const struct label *l = str_starts(to, ".L") ? label_find(u, to) : NULL;

	return l && l->func != NONE;
}

struct reg_effect regs_of_stmt(const struct regs *r, const struct stmt *st)
{
	static const struct reg_effect nothing = {0, 0, 0};
	struct reg_effect *known;
	struct str to;

	if (st->kind == ST_ASM || (st->kind == ST_DIR && st->dir == DIR_DATA))
		return anything;
	if (st->kind != ST_INSN)
		return nothing;
	switch (insn_classify(st, &to)) {
	case INSN_CALL:
		return call(r, to);
	case INSN_RET:
		return (struct reg_effect){RESULTS | REGS_CALLEE_SAVED, 0, REGS_ALL};
	case INSN_JMP:
	case INSN_JCC:
		if (stays_inside(r->u, to))
			return nothing;
		return (struct reg_effect){
		    arguments(r, to, is_elsewhere(r, to)) | REGS_CALLEE_SAVED, 0, REGS_ALL};
	case INSN_JMP_IND:
	case INSN_STOP:
	case INSN_SHORT:
		return anything;
	case INSN_PLAIN:
		break;
	}
	if (str_is(st->op, "lahf") || str_is(st->op, "sahf"))
		return (struct reg_effect){1 << UR_AX, 0, 1 << UR_AX};
	if (repeats(st))
		return (struct reg_effect){STRINGS | named(st->arg), 0, STRINGS | named(st->arg)};
	if (st < r->u->stmt.v || st >= r->u->stmt.v + r->u->stmt.n)
		return plain(st);
	known = &r->plain[st - r->u->stmt.v];
	if (!known->touches)
		*known = plain(st);
	return *known;
}

/* ---- a function ---- */

/* Live registers after the last instruction of block k. */
static uint16_t live_after(const struct unit_impl *u, const struct func *f, const struct blk *k)
{
	const struct stmt *st;
	struct str to;
	uint32_t i;

	if (k->term == TERM_INDIRECT)
		return REGS_ALL;
	if (k->term != TERM_END)
		return 0;
	for (i = k->last; i-- > k->first;) {
		st = &u->stmt.v[f->code.v[i]];
		if (st->kind != ST_INSN)
			continue;
		switch (insn_classify(st, &to)) {
		case INSN_CALL: /* only unwinding reads them later */
			return REGS_CALLEE_SAVED &
			       ~(f->has_cfi ? regs_unwound(&u->cfi.v[k->cfi_out]) : 0);
		case INSN_RET:
		case INSN_JMP:
			return 0;
		default:
			return REGS_ALL;
		}
	}
	return REGS_ALL;
}

uint16_t *regs_live(const struct regs *r, const struct func *f, struct arena *a)
{
	const struct cfg *g = &f->pub->cfg;
	uint16_t *live = arena_array(a, f->nblk, sizeof *live);
	uint16_t *keeps = arena_array(a, f->nblk, sizeof *keeps), more;
	const struct blk *k;
	struct reg_effect e;
	bool changed = true;
	uint32_t b, i;

	for (b = 0; b < f->nblk; b++) {
		k = &f->blk[b];
		live[b] = live_after(r->u, f, k);
		keeps[b] = REGS_ALL;
		for (i = k->last; i-- > k->first;) {
			e = regs_of_stmt(r, &r->u->stmt.v[f->code.v[i]]);
			live[b] = (uint16_t)((live[b] & ~e.kills) | e.reads);
			keeps[b] &= (uint16_t)~e.kills;
		}
	}
	while (changed)
		for (changed = false, i = g->nedge; i-- > 0;) {
			more = live[g->edge[i].dst] & keeps[g->edge[i].src] & ~live[g->edge[i].src];
			live[g->edge[i].src] |= more;
			changed |= more != 0;
		}
	return live;
}

/* ---- the unit, opened ---- */

/* Local functions are what a call by their name calls; others may be replaced when linked. */
static void find_entries(struct regs *r)
{
	const struct func *f;
	struct arena scratch = {0};
	uint16_t *entry = xcalloc(r->u->func.n, sizeof *entry);
	size_t i;

	for (i = 0; i < r->u->func.n; i++) {
		f = &r->u->func.v[i];
		entry[i] = ARGUMENTS;
		if (f->blk && !f->pub->global)
			entry[i] &= regs_live(r, f, &scratch)[0];
		arena_free(&scratch);
	}
	free(r->entry);
	r->entry = entry;
}

struct site {
	uint32_t caller, callee;
};
typedef VEC(struct site) sites;

/* What function i changes, its callees, and the registers live after calls of them. */
static void find_sites(struct regs *r, uint32_t i, sites *out)
{
	const struct func *f = &r->u->func.v[i];
	const struct cfg *g = &f->pub->cfg;
	struct arena scratch = {0};
	uint16_t *live = regs_live(r, f, &scratch), *after;
	const struct stmt *st;
	struct reg_effect e;
	uint32_t b, k, to;

	after = arena_array(&scratch, f->nblk, sizeof *after);
	for (k = 0; k < g->nedge; k++)
		after[g->edge[k].src] |= live[g->edge[k].dst];
	for (b = 0; b < f->nblk; b++) {
		after[b] |= live_after(r->u, f, &f->blk[b]);
		for (k = f->blk[b].last; k-- > f->blk[b].first;) {
			st = &r->u->stmt.v[f->code.v[k]];
			e = regs_of_stmt(r, st);
			to = callee(r, st);
			if (to != NONE) {
				r->kept[to] |= after[b];
				vec_push(out, (struct site){i, to});
			}
			r->changes[i] |= e.kills;
			after[b] = (uint16_t)((after[b] & ~e.kills) | e.reads);
		}
	}
	arena_free(&scratch);
}

/* A function that must not change a register calls none that does. */
static void find_kept(struct regs *r)
{
	sites s = {0};
	bool changed = true;
	uint16_t more;
	uint32_t i;

	for (i = 0; i < r->u->func.n; i++)
		if (r->u->func.v[i].blk)
			find_sites(r, i, &s);
	for (i = 0; i < r->u->func.n; i++)
		if (r->named[i])
			r->kept[i] = REGS_ALL;
	while (changed)
		for (changed = false, i = 0; i < s.n; i++) {
			more = r->kept[s.v[i].caller] & ~r->changes[s.v[i].caller] &
			       ~r->kept[s.v[i].callee];
			r->kept[s.v[i].callee] |= more;
			changed |= more != 0;
		}
	vec_free(&s);
}

void regs_open(struct regs *r, const struct unit_impl *u)
{
	size_t i;

	*r = (struct regs){.u = u,
	    .named = xcalloc(u->func.n, 1),
	    .changes = xcalloc(u->func.n, sizeof *r->changes),
	    .kept = xcalloc(u->func.n, sizeof *r->kept),
	    .entry = xcalloc(u->func.n, sizeof *r->entry),
	    .plain = xcalloc(u->stmt.n, sizeof *r->plain)};
	for (i = 0; i < u->func.n; i++)
		r->entry[i] = ARGUMENTS;
	find_names(r);
	find_entries(r);
	find_kept(r);
}

void regs_close(struct regs *r)
{
	htab_free(&r->alias);
	free(r->named);
	free(r->changes);
	free(r->kept);
	free(r->entry);
	free(r->plain);
}

/* ---- what callers allow ---- */

uint16_t regs_unwound(const struct cfi_state *s)
{
	uint16_t mask = UR_CALLER_SAVED;
	uint32_t r;

	for (r = 0; r < sizeof dwarf_reg; r++)
		if (s->rule[r] == RULE_OFFSET)
			mask |= (uint16_t)(1 << dwarf_reg[r]);
	if (s->cfa_reg >= 0 && s->cfa_reg < (int32_t)sizeof dwarf_reg)
		mask &= (uint16_t) ~(1 << dwarf_reg[s->cfa_reg]);
	return mask & ~(1 << UR_SP);
}

/* Does it save caller-saved registers? Then it has another ABI. */
static bool saves_more(const struct unit_impl *u, const struct func *f)
{
	const struct cfi_state *s;
	uint32_t i, r;

	for (i = 0; i < f->code.n; i++) {
		if (u->stmt.v[f->code.v[i]].kind != ST_DIR ||
		    u->stmt.v[f->code.v[i]].dir != DIR_CFI || u->stmt.v[f->code.v[i]].aux == NONE)
			continue;
		s = &u->cfi.v[u->stmt.v[f->code.v[i]].aux];
		for (r = 0; r < sizeof dwarf_reg; r++)
			if (UR_CALLER_SAVED >> dwarf_reg[r] & 1 && s->rule[r] != RULE_INIT)
				return true;
	}
	return false;
}

uint16_t regs_spare(const struct regs *r, const struct func *f)
{
	uint32_t i = (uint32_t)(f - r->u->func.v);
	uint16_t free = UR_CALLER_SAVED & ~(ALSO_SAVED | r->kept[i]);

	if (!f->blk || !f->has_cfi || *f->name.p == '"' || str_starts(f->name, ".L") ||
	    str_starts(f->name, REGCALL) || saves_more(r->u, f))
		return 0;
	return r->changes[i] | free | (REGS_CALLEE_SAVED & ~(1 << UR_SP));
}
