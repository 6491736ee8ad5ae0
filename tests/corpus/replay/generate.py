#!/usr/bin/python3
"""Prints a function of random instructions as a compiler would print it: all
that replay follows, in all widths, with every condition behind it.
    generate.py SEED BLOCKS [FLAG…]      FLAG: of the processor, popcnt, abm …"""
import random
import sys

R = random.Random(int(sys.argv[1]))
BLOCKS = int(sys.argv[2])
CPU = set(sys.argv[3:])

Q = "rax rbx rcx rdx rsi rdi rbp r8 r9 r10 r11 r12 r13 r14 r15".split()
NAMES = {
    "q": Q,
    "l": "eax ebx ecx edx esi edi ebp r8d r9d r10d r11d r12d r13d r14d r15d".split(),
    "w": "ax bx cx dx si di bp r8w r9w r10w r11w r12w r13w r14w r15w".split(),
    "b": "al bl cl dl sil dil bpl r8b r9b r10b r11b r12b r13b r14b r15b".split(),
}
LEGACY, HIGH = ["al", "bl", "cl", "dl"], ["ah", "bh", "ch", "dh"]
CONDITIONS = "o no b ae e ne be a s ns p np l ge le g".split()
BITS = {"b": 8, "w": 16, "l": 32, "q": 64}


def reg(size):
    return "%" + R.choice(NAMES[size])


def imm(size):
    bits = min(BITS[size], 32)
    v = R.choice([0, 1, -1, 2, 7, 100, (1 << bits - 1) - 1, -(1 << bits - 1), R.getrandbits(bits - 1)])
    return f"${v}"


def mem():
    return f"{8 * R.randrange(32) + R.choice([0, 0, 0, 1, 2, 4])}(%rsp)"


def pair(size):
    """Two operands, source and destination."""
    how = R.randrange(7)
    if size == "b" and how == 0:  # registers that need no prefix
        return f"%{R.choice(LEGACY + HIGH)}, %{R.choice(LEGACY + HIGH)}"
    return {1: f"{imm(size)}, {reg(size)}", 2: f"{mem()}, {reg(size)}", 3: f"{reg(size)}, {mem()}",
            4: f"{imm(size)}, {mem()}"}.get(how, f"{reg(size)}, {reg(size)}")


def any_size():
    return R.choice("bwlq")


def wide_size():
    return R.choice("wlq")


def two():
    s = any_size()
    return [f"{R.choice('add sub adc sbb and or xor cmp cmp test mov'.split())}{s} {pair(s)}".replace(
        "test" + s + " " + "(", "test" + s + " (")]


def fix_test(line):
    """test has no form with memory as its source but the turned one."""
    op, _, args = line.partition(" ")
    if op.startswith("test"):
        a, b = args.rsplit(", ", 1)
        if "(" in a:
            return f"{op} {b}, {a}"
    return line


def one():
    s = any_size()
    return [f"{R.choice('inc dec neg not'.split())}{s} {R.choice([reg(s), reg(s), mem()])}"]


def shift():
    s = any_size()
    count = R.choice([f"${R.randrange(0, 70)}", "$1", "%cl", None])
    to = R.choice([reg(s), reg(s), mem()])
    op = R.choice("shl sal shr sar rol ror".split()) + s
    return [f"{op} {count}, {to}" if count else f"{op} {to}"]


def double_shift():
    s = wide_size()
    limit = 16 if s == "w" else 70
    return [f"{R.choice(['shld', 'shrd'])}{s} ${R.randrange(limit)}, {reg(s)}, {reg(s)}"]


def multiply():
    s = wide_size()
    return [R.choice([f"imul{s} {R.choice([reg(s), mem()])}, {reg(s)}",
                      f"imul{s} {imm(s)}, {R.choice([reg(s), mem()])}, {reg(s)}",
                      f"imul{s} {reg(s)}", f"mul{s} {R.choice([reg(s), mem()])}"])]


def divide():
    s = wide_size()
    a, d = {"w": ("ax", "dx"), "l": ("eax", "edx"), "q": ("rax", "rdx")}[s]
    by = R.choice([r for r in NAMES[s] if r not in (a, d)])
    if R.randrange(2):
        return [f"xorl %edx, %edx", f"or{s} $1, %{by}", f"div{s} %{by}"]
    return [{"w": "cwtd", "l": "cltd", "q": "cqto"}[s], f"and{s} $127, %{by}", f"or{s} $2, %{by}",
            f"idiv{s} %{by}"]


def lea():
    s = R.choice("lq")
    b, i = R.choice(Q), R.choice(Q)
    return [f"lea{s} {R.randrange(-200, 200)}({R.choice(['', '%' + b])},%{i},{R.choice([1, 2, 4, 8])}), {reg(s)}",
            ] if R.randrange(3) else [f"lea{s} {R.randrange(-200, 200)}(%{b}), {reg(s)}"]


def widen():
    kind, a, b = R.choice([(k, x, y) for k in "sz" for x, y in ("bw", "bl", "bq", "wl", "wq")] + [("s", "l", "q")])
    return [f"mov{kind}{a}{b} {R.choice([reg(a), mem()])}, {reg(b)}"]


def bits():
    s = wide_size()
    op = R.choice("bt bts btr btc".split()) + s
    return [R.choice([f"{op} ${R.randrange(BITS[s])}, {R.choice([reg(s), mem()])}", f"{op} {reg(s)}, {reg(s)}"])]


def scan():
    s = wide_size()
    ops = ["bsf", "bsr", "rep bsf"]
    ops += ["popcnt"] if "popcnt" in CPU else []
    ops += ["lzcnt"] if "abm" in CPU else []
    r = reg(s)
    return [f"or{s} ${1 << R.randrange(14)}, {r}"] * R.randrange(2) + [f"{R.choice(ops)}{s} {r}, {reg(s)}"]


def condition():
    c = R.choice(CONDITIONS)
    if R.randrange(2):
        return [f"set{c} {R.choice([reg('b'), '%' + R.choice(HIGH), mem()])}"]
    s = wide_size()
    return [f"cmov{c} {R.choice([reg(s), mem()])}, {reg(s)}"]


def swap():
    s = any_size()
    return [R.choice([f"xchg{s} {reg(s)}, {R.choice([reg(s), mem()])}",
                      f"xadd{s} {reg(s)}, {R.choice([reg(s), mem()])}",
                      f"cmpxchg{s} {reg(s)}, {R.choice([reg(s), mem()])}",
                      f"lock xadd{s} {reg(s)}, {mem()}", f"lock add{s} {imm(s)}, {mem()}",
                      f"lock cmpxchg{s} {reg(s)}, {mem()}"])]


def stack():
    a, b = reg("q"), reg("q")
    return R.choice([[f"pushq {a}", f"popq {b}"], [f"pushq ${R.randrange(-500, 500)}", f"popq {b}"],
                     [f"pushq {mem()}", f"popq {b}"], [f"pushw {reg('w')}", f"popw {reg('w')}"],
                     [f"leaq {8 * R.randrange(20)}(%rsp), {a}", f"movq {b}, ({a})", f"movl 4({a}), {reg('l')}"],
                     [f"movq {b}, {mem()}"]])


def signs():
    return [R.choice("cltq cwtl cbtw cwtd cltd cqto".split())]


def vector():
    return [R.choice([f"movq {reg('q')}, %xmm1", f"movd %xmm1, {reg('l')}", f"movq %xmm1, {reg('q')}",
                      "ucomisd %xmm1, %xmm0", "addsd %xmm1, %xmm0", f"movups %xmm1, {8 * R.randrange(28)}(%rsp)",
                      f"cvtsi2sdq {reg('q')}, %xmm0", f"pmovmskb %xmm1, {reg('l')}", "pxor %xmm0, %xmm0",
                      f"movq %xmm0, {mem()}"])]


def other():
    return [R.choice([f"bswapl {reg('l')}", f"bswapq {reg('q')}", "nop", "endbr64",
                      f"movabsq ${R.getrandbits(64)}, {reg('q')}", f"movl {reg('l')}, {reg('l')}",
                      f"movq ${R.randrange(-1000, 1000)}, {reg('q')}"])]


MAKERS = [two] * 8 + [one, one, shift, shift, double_shift, multiply, divide, lea, widen, widen, bits, scan,
                      condition, condition, swap, stack, stack, signs, vector, other]
PUSHED = {"pushq": 8, "popq": -8, "pushw": 2, "popw": -2}
SAVED = "rbx rbp r12 r13 r14 r15".split()

out = ['\t.file\t"random.c"', "\t.text", "\t.p2align 4", "\t.globl\trandom_blocks",
       "\t.type\trandom_blocks, @function", "random_blocks:", ".LFB0:", "\t.cfi_startproc"]
for k, r in enumerate(SAVED):
    out += [f"\tpushq\t%{r}", f"\t.cfi_def_cfa_offset {16 + 8 * k}", f"\t.cfi_offset %{r}, -{16 + 8 * k}"]
out += ["\tsubq\t$264, %rsp", f"\t.cfi_def_cfa_offset {16 + 8 * 5 + 264}"]
for k in range(32):
    out += [f"\tmovq\t{8 * (k % 16)}(%rdi), %rax", f"\tmovq\t%rax, {8 * k}(%rsp)"]
for k, r in enumerate(Q):
    if r != "rdi":
        out.append(f"\tmovq\t{8 * k}(%rdi), %{r}")
out += ["\tmovq\t120(%rdi), %rdi", "\ttestq\t%rdi, %rdi"]
for b in range(BLOCKS):
    out.append(f".L{b}:")
    for _ in range(R.randrange(1, 6)):
        for line in R.choice(MAKERS)():
            op, _, args = fix_test(line).partition(" ")
            out.append(f"\t{op}\t{args}".rstrip())
            if op in PUSHED:
                out.append(f"\t.cfi_adjust_cfa_offset {PUSHED[op]}")
    if b + 2 < BLOCKS:
        out.append(f"\tj{R.choice(CONDITIONS)}\t.L{R.choice([b + 2, min(b + 3, BLOCKS - 1)])}")
out += ["\tmovq\t8(%rsp), %rax", "\taddq\t$264, %rsp", "\t.cfi_def_cfa_offset 56"]
for k, r in reversed(list(enumerate(SAVED))):
    out += [f"\tpopq\t%{r}", f"\t.cfi_def_cfa_offset {8 + 8 * k}"]
out += ["\tret", "\t.cfi_endproc", ".LFE0:", "\t.size\trandom_blocks, .-random_blocks",
        '\t.ident\t"GCC: (random) 12"', '\t.section\t.note.GNU-stack,"",@progbits']
print("\n".join(out))
