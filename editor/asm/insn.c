#include "editor/asm/insn.h"

enum { JCC_MAX = 8 };

/* Two mnemonics that are each other's inverse, filled up with NULs. */
static const char jcc_pair[][2][JCC_MAX] = {
    {"ja", "jbe"},
    {"jae", "jb"},
    {"jc", "jnc"},
    {"je", "jne"},
    {"jg", "jle"},
    {"jge", "jl"},
    {"jna", "jnbe"},
    {"jnae", "jnb"},
    {"jng", "jnle"},
    {"jnge", "jnl"},
    {"jo", "jno"},
    {"jp", "jnp"},
    {"jpe", "jpo"},
    {"js", "jns"},
    {"jz", "jnz"},
};

const char *insn_inverse(struct str m)
{
	char jcc[JCC_MAX] = {0};
	size_t i;

	if (m.n < 2 || m.n >= JCC_MAX || *m.p != 'j')
		return NULL;
	memcpy(jcc, m.p, m.n);
	for (i = 0; i < sizeof jcc_pair / sizeof jcc_pair[0]; i++) {
		if (!memcmp(jcc, jcc_pair[i][0], sizeof jcc))
			return jcc_pair[i][1];
		if (!memcmp(jcc, jcc_pair[i][1], sizeof jcc))
			return jcc_pair[i][0];
	}
	return NULL;
}

static struct str skip_word(struct str s, uint32_t n)
{
	s.p += n;
	s.n -= n;
	while (s.n && (*s.p == ' ' || *s.p == '\t')) {
		s.p++;
		s.n--;
	}
	return s;
}

static enum insn_class classify_jump(struct str m, struct str arg, struct str *operand)
{
	static const char *const shorts[] = {
	    "jcxz", "jecxz", "jrcxz", "loop", "loope", "loopne", "loopz", "loopnz", "xbegin"};
	size_t i;

	*operand = arg;
	if (*m.p != 'j' && !str_starts(m, "loop") && !str_is(m, "xbegin"))
		return INSN_PLAIN;
	if (str_is(m, "jmp") || str_is(m, "jmpq"))
		return arg.n && *arg.p == '*' ? INSN_JMP_IND : INSN_JMP;
	if (insn_inverse(m))
		return INSN_JCC;
	for (i = 0; i < sizeof shorts / sizeof shorts[0]; i++)
		if (str_is(m, shorts[i]))
			return INSN_SHORT;
	return INSN_PLAIN;
}

enum insn_class insn_classify(const struct stmt *st, struct str *operand)
{
	struct str m = st->op, arg = st->arg;
	uint32_t n;

	*operand = arg;
	while (str_is(m, "notrack") || str_is(m, "bnd") || str_is(m, "rep") || str_is(m, "repz")) {
		for (n = 0; n < arg.n && arg.p[n] != ' ' && arg.p[n] != '\t'; n++)
			;
		m = (struct str){arg.p, n};
		arg = skip_word(arg, n);
		*operand = arg;
		if (!n)
			return INSN_PLAIN;
	}
	if (!m.n)
		return INSN_PLAIN;
	switch (*m.p) {
	case 'j':
	case 'l':
	case 'x':
		return classify_jump(m, arg, operand);
	case 'c':
		return str_is(m, "call") || str_is(m, "callq") ? INSN_CALL : INSN_PLAIN;
	case 'r':
		return str_is(m, "ret") || str_is(m, "retq") ? INSN_RET : INSN_PLAIN;
	case 'i':
		return str_is(m, "iretq") || str_is(m, "iret") ? INSN_RET : INSN_PLAIN;
	case 's':
		return str_is(m, "sysretq") || str_is(m, "sysret") ? INSN_RET : INSN_PLAIN;
	case 'u':
		return str_is(m, "ud2") ? INSN_STOP : INSN_PLAIN;
	case 'h':
		return str_is(m, "hlt") ? INSN_STOP : INSN_PLAIN;
	}
	return INSN_PLAIN;
}

struct str symbol_of(struct str s)
{
	const char *at = memchr(s.p, '@', s.n);

	if (at)
		s.n = (uint32_t)(at - s.p);
	return s;
}

bool insn_noreturn(struct str callee)
{
	static const char *const names[] = {"abort", "exit", "_exit", "_Exit", "quick_exit",
	    "__assert_fail", "__stack_chk_fail", "__chk_fail", "__fortify_fail", "longjmp",
	    "_longjmp", "siglongjmp", "__longjmp_chk", "pthread_exit", "err", "errx", "verr",
	    "verrx", "__cxa_throw", "__cxa_rethrow", "_Unwind_Resume", "__cxa_bad_cast",
	    "__cxa_bad_typeid", "__cxa_throw_bad_array_new_length", "_ZSt9terminatev"};

	return str_is_any(symbol_of(callee), names, sizeof names / sizeof names[0]);
}

bool insn_returns(struct str callee)
{
	static const char *const names[] = {"__ctype_b_loc", "__ctype_tolower_loc",
	    "__ctype_toupper_loc", "__errno_location", "__tls_get_addr", "memchr", "memcmp",
	    "memcpy", "memmove", "memrchr", "memset", "rawmemchr", "strcasecmp", "strchr",
	    "strchrnul", "strcmp", "strcpy", "strcspn", "strlen", "strncasecmp", "strncmp",
	    "strncpy", "strnlen", "strpbrk", "strrchr", "strspn", "strstr"};

	return str_is_any(symbol_of(callee), names, sizeof names / sizeof names[0]);
}

/* The width after a mnemonic does not matter: "add" is addb, addw, addl, addq. */
static bool is_op(struct str m, const char *op)
{
	size_t n = strlen(op);

	return str_starts(m, op) && (m.n == n || (m.n == n + 1 && strchr("bwlq", m.p[n])));
}

enum insn_flags insn_flags(const struct stmt *st)
{
	static const char *const use[] = {"j", "set", "cmov", "fcmov", "adc", "sbb", "rcl", "rcr",
	    "lahf", "pushf", "cmc", "adox", "loop", "ccmp", "ctest", "cfcmov", "into"};
	static const char *const set[] = {
	    "add", "sub", "cmp", "test", "and", "or", "xor", "neg", "imul", "mul"};
	static const char *const compare[] = {
	    "comisd", "comiss", "ucomisd", "ucomiss", "vcomisd", "vcomiss", "vucomisd", "vucomiss"};
	struct str operand;
	size_t i;

	switch (insn_classify(st, &operand)) {
	case INSN_JMP:
	case INSN_JMP_IND:
		return FLAGS_KEEP;
	case INSN_CALL:
	case INSN_RET:
	case INSN_STOP:
		return FLAGS_SET; /* no calling convention passes flags */
	case INSN_JCC:
	case INSN_SHORT:
		return FLAGS_USE;
	case INSN_PLAIN:
		break;
	}
	if (str_starts_any(st->op, use, sizeof use / sizeof use[0]))
		return FLAGS_USE;
	for (i = 0; i < sizeof set / sizeof set[0]; i++)
		if (is_op(st->op, set[i]))
			return FLAGS_SET;
	for (i = 0; i < sizeof compare / sizeof compare[0]; i++)
		if (str_is(st->op, compare[i]))
			return FLAGS_SET;
	return FLAGS_KEEP;
}

uint32_t insn_bytes(const struct stmt *st, enum insn_class class)
{
	switch (class) {
	case INSN_RET:
		return 1;
	case INSN_JMP:
	case INSN_JCC:
	case INSN_SHORT:
	case INSN_STOP:
		return 2;
	case INSN_CALL:
		return 5;
	case INSN_JMP_IND:
		return 3;
	case INSN_PLAIN:
		break;
	}
	if (str_starts(st->op, "push") || str_starts(st->op, "pop"))
		return 2;
	if (memchr(st->arg.p, '(', st->arg.n))
		return 5;
	return memchr(st->arg.p, '$', st->arg.n) ? 4 : 3;
}
