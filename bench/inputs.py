"""Inputs the workloads read, made here: the same bytes every time."""
import random
import subprocess


def texts(files, size):
    """Source text out of a package, and a table of numbers behind it."""
    rnd = random.Random(1)
    text = b"".join(open(f, "rb").read() for f in files)[:size]
    rows = "".join(f"{rnd.randrange(10000)};{rnd.random():.4f};{rnd.choice('abc') * 3}\n"
                   for _ in range(size // 64))
    return text + rows.encode()


def log_and_image(size):
    """What a server writes, and a picture's raw bytes behind it."""
    rnd, out = random.Random(2), []
    for i in range(size // 200):
        out.append(f"10.0.{rnd.randrange(4)}.{rnd.randrange(256)} - - [{i // 3600:02}:{i // 60 % 60:02}:"
                   f"{i % 60:02}] \"GET /{rnd.choice(['index', 'img', 'api/v1'])}/{rnd.randrange(500)} "
                   f"HTTP/1.1\" {rnd.choice([200, 200, 304, 404])} {rnd.randrange(60000)}\n")
    return "".join(out).encode() + picture(3, 512, size // 2 // 1536)


def picture(seed, width, height):
    """RGB bytes: soft waves, edges and grain, other ones for each seed."""
    rnd, out = random.Random(seed), bytearray()
    waves = [(rnd.randrange(5, 90), rnd.randrange(5, 90), rnd.randrange(256)) for _ in range(3)]
    grain = rnd.randbytes(width * 3 + 7919)
    boxes = [(rnd.randrange(width), rnd.randrange(height), rnd.randrange(10, width // 3),
              rnd.randrange(10, max(11, height // 3)), rnd.randbytes(3)) for _ in range(12)]
    for y in range(height):
        row = bytearray()
        at = y * 641 % 7919
        for x in range(width):
            for c, (p, q, r) in enumerate(waves):
                tri = (x * 256 // p + y * 256 // q + r) & 511
                row.append((min(tri, 511 - tri) * 15 >> 4) + (grain[at + x * 3 + c] & 15))
        for left, top, w, h, colour in boxes:
            if top <= y < top + h:
                n = min(w, width - left)
                row[left * 3:(left + n) * 3] = colour * n
        out += row
    return bytes(out)


def ppm(path, seed, width, height, times):
    """A picture repeated downwards."""
    rows = picture(seed, width, height)
    with open(path, "wb") as f:
        f.write(b"P6\n%d %d\n255\n" % (width, height * times))
        for _ in range(times):
            f.write(rows)


def video(path, seed, frames, options, width=352, height=288):
    """MPEG-2 of a window that wanders over a picture while a box crosses it."""
    rnd = random.Random(seed)
    wide, high = width * 2, height * 2
    luma = picture(seed, wide, high)[1::3]
    chroma = picture(seed + 1, wide // 2, high // 2)
    blue, red = chroma[0::3], chroma[2::3]
    dx, dy = rnd.randrange(1, 5), rnd.randrange(1, 4)
    encoder = subprocess.Popen(["mpeg2enc", "-v", "0", "-M", "0", *options, "-o", path],
                               stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    with encoder.stdin as f:
        f.write(b"YUV4MPEG2 W%d H%d F25:1 Ip A1:1 C420mpeg2\n" % (width, height))
        for i in range(frames):
            f.write(b"FRAME\n")
            for plane, by in (luma, 1), (blue, 2), (red, 2):
                w, h, across = width // by, height // by, wide // by
                x, y = dx * i % width // by, dy * i % height // by
                rows = [bytearray(plane[(y + k) * across + x:(y + k) * across + x + w])
                        for k in range(h)]
                side, at = 48 // by, i * 7 % (width - 48) // by
                for k in range(h // 3, h // 3 + side):
                    rows[k][at:at + side] = bytes([180 - i % 90]) * side
                f.write(b"".join(rows))
    if encoder.wait():
        raise OSError(f"mpeg2enc: exit status {encoder.returncode}")


def c_source(seed, functions, kinds):
    """C that prints a checksum of so many functions; kinds names the statements they are made of."""
    rnd = random.Random(seed)
    kinds, ops = kinds.split(), ["+", "-", "*", "^", "|", "&", ">>", "<<"]
    out = ["int printf(const char *, ...);", "struct part { unsigned size, at[16]; struct part *next; };",
           "static struct part parts[64];"]

    def value(depth=2):
        if not depth or rnd.random() < .3:
            return rnd.choice(["a", "b", "c", f"{rnd.randrange(1000)}u", hex(rnd.randrange(1 << 16))])
        op = rnd.choice(ops)
        return f"({value(depth - 1)} {op} {rnd.randrange(1, 31) if op in ('>>', '<<') else value(depth - 1)})"

    def statement(k, depth=2):
        kind = rnd.choice(kinds) if depth else "set"
        inner = [statement(k, depth - 1) for _ in range(2)] if kind in ("loop", "if", "switch") else []
        if kind == "loop":
            i = "ij"[depth % 2]
            return f"for ({i} = 0; {i} < {rnd.randrange(1, 4)}; {i}++) {{ {inner[0]} {inner[1]} }}"
        if kind == "if":
            return f"if ({value()} {rnd.choice(['<', '>', '==', '!='])} {value(1)}) {{ {inner[0]} }} else {{ {inner[1]} }}"
        if kind == "switch":
            return f"switch ({value(1)} & 3) {{ case 0: {inner[0]} break; case 2: {inner[1]} break; default: a++; }}"
        if kind == "member":
            return f"p = p->next; p->size += {value()}; b ^= p->size;"
        if kind == "array":
            return f"p->at[{value(1)} & 15] = {value()}; c += p->at[{rnd.randrange(16)}];"
        if kind == "call" and k:
            return f"{rnd.choice('abc')} += f{rnd.randrange(k - 7, k)}(i & 1, 0, 0);" if k % 8 == 0 else "a++;"
        return f"{rnd.choice('abc')} {rnd.choice(['=', '+=', '^='])} {value()};"

    for k in range(functions):
        body = "\n\t".join(statement(k) for _ in range(rnd.randrange(4, 10)))
        out.append(f"/* number {k} */\nunsigned f{k}(unsigned a, unsigned b, unsigned c)\n{{\n"
                   f"\tunsigned i = 0, j = 0;\n\tstruct part *p = &parts[{k % 64}];\n\n\t{body}\n"
                   "\treturn a + b * 3 + c + i + j;\n}\n")
    sums = "".join(f"\tsum = sum * 31 + f{k}({k}, sum, 7);\n" for k in range(0, functions, 5))
    out.append("int main(void)\n{\n\tunsigned sum = 1, i;\n\n\tfor (i = 0; i < 64; i++)\n"
               f"\t\tparts[i].next = &parts[i * 7 + 1 & 63];\n{sums}\tprintf(\"%u\\n\", sum);\n\treturn 0;\n}}\n")
    return "\n".join(out)


def assembly(seed, lines_, rich):
    """So many lines for an assembler of Intel's syntax; rich: with macros, data and vectors."""
    rnd = random.Random(seed)
    regs = "rax rbx rcx rdx rsi rdi r8 r9 r10 r11 r12 r13".split()
    out = ["bits 64", "org 0x400000"]
    if rich:
        out += ["%define SIZE 24", "%macro store 3", "\tmov [%1 + SIZE * %2], %3", "\t%if %2 > 3",
                "\tadd %1, %2", "\t%endif", "%endmacro"]

    def memory():
        return f"[{rnd.choice(regs)} + {rnd.choice(regs[:6])} * {rnd.choice([1, 2, 4, 8])} + {rnd.randrange(4096)}]"

    for k in range(lines_):
        a, b, pick = rnd.choice(regs), rnd.choice(regs), rnd.random()
        if k % 16 == 0:
            out.append(f"part{k // 16}:\t; number {k}")
        if rich and pick < .25:
            out.append(f"\tstore {a}, {rnd.randrange(8)}, {b}")
        elif rich and pick < .45:
            out.append(f"\tvaddps ymm{rnd.randrange(16)}, ymm{rnd.randrange(16)}, {memory()}" if pick < .35 else
                       f"\tpxor xmm{rnd.randrange(16)}, xmm{rnd.randrange(16)}")
        elif rich and pick < .65:
            out.append(rnd.choice([f"\tdd {rnd.randrange(1 << 30)}, part{k // 16} - $$", f"\tdb 'text {k}', 0",
                                   f"\ttimes {rnd.randrange(1, 5)} dw {rnd.randrange(999)} * 2 + 1"]))
        elif pick < .75:
            out.append(rnd.choice([f"\tmov {a}, {b}", f"\tmov {a}, {memory()}", f"\tlea {a}, {memory()}",
                                   f"\tadd {a}, {rnd.randrange(5000)}", f"\txor {a}, {b}", f"\timul {a}, {b}",
                                   f"\tcmp {a}, {rnd.randrange(200)}", f"\tshl {a}, {rnd.randrange(1, 9)}"]))
        else:
            to = min(lines_ - 1, max(0, k + rnd.randrange(-90, 90))) // 16
            out.append(f"\t{rnd.choice(['je', 'jne', 'jmp', 'ja', 'call'])} part{to}")
    return "\n".join(out) + "\n"


WORDS = ("order time branch block of the and light paper house under river where call number first system "
         "between profile a to measure layout in water machine was that program garden").split()


def prose(rnd, words):
    return " ".join(rnd.choices(WORDS, k=words)).capitalize() + "."


def html(seed, parts, rich):
    """A valid page of so many parts; rich: tables, forms and entities."""
    rnd = random.Random(seed)
    out = ["<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>A page</title></head>\n<body>"]
    for k in range(parts):
        out.append(f"<h2 id=\"part{k}\">{prose(rnd, 4)}</h2>")
        if rich:
            rows = "".join(f"<tr class=\"r{i % 2}\"><td>{rnd.randrange(999)}</td><td>{prose(rnd, 3)} &lt; &eacute; &amp;"
                           f"</td><td><b>{rnd.random():.3f}</b></td></tr>\n" for i in range(rnd.randrange(2, 7)))
            out.append(f"<table><tbody>\n{rows}</tbody></table>\n<form action=\"/find{k}\"><p><label>{WORDS[k % 20]} "
                       f"<input type=\"text\" name=\"n{k}\" value=\"&quot;{k}&quot;\"></label></p></form>")
        else:
            items = "".join(f"<li>{prose(rnd, 5)}</li>\n" for _ in range(rnd.randrange(2, 6)))
            out.append(f"<p>{prose(rnd, 30)} <a href=\"#part{k // 2}\">{prose(rnd, 3)}</a> <em>{prose(rnd, 9)}</em></p>"
                       f"\n<ul>\n{items}</ul>")
    return "\n".join(out) + "\n</body>\n</html>\n"


def xml(seed, parts, rich):
    """A document of so many parts; rich: name spaces, entities, CDATA, comments, mixed content."""
    rnd = random.Random(seed)
    out = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>"]
    if rich:
        out.append("<!DOCTYPE d:all [<!ENTITY who \"the garden &amp; the house\"><!ENTITY long \"&who; under &who;\">]>")
    out.append("<d:all xmlns:d=\"urn:d\" xmlns=\"urn:e\">" if rich else "<all>")
    for k in range(parts):
        if rich:
            out.append(f"<d:part d:n=\"{k}\" note='x &#x41; &gt; {k}'><!-- {prose(rnd, 6)} --><p>{prose(rnd, 12)} &long; "
                       f"<i>{prose(rnd, 3)}</i> and <b d:k=\"é\">{prose(rnd, 2)}</b>&#233;</p>"
                       f"<![CDATA[ if (a < b && {k}) ]]><?do it {k}?></d:part>")
        else:
            out.append(f"<record id=\"r{k}\" kind=\"{rnd.choice(WORDS)}\"><name>{prose(rnd, 2)}</name><size>"
                       f"{rnd.randrange(99999)}</size><text>{prose(rnd, 15)}</text><list>" +
                       "".join(f"<v>{rnd.random():.4f}</v>" for _ in range(rnd.randrange(1, 8))) + "</list></record>")
    return "\n".join(out) + ("\n</d:all>\n" if rich else "\n</all>\n")


def tune(seed, samples=44100):
    """A second of sound, stereo, 16 bits: three voices that step, and some noise."""
    rnd = random.Random(seed)
    voices = [[rnd.randrange(40, 400) for _ in range(8)] for _ in range(3)]
    phase, out = [0, 0, 0], bytearray()
    for i in range(samples):
        sides = [0, 0]
        for k, steps in enumerate(voices):
            phase[k] = (phase[k] + steps[i * 8 // samples] * 2) & 0xffff
            wave = min(phase[k], 0xffff - phase[k]) - 0x4000
            sides[k & 1] += wave // 3
            sides[~k & 1] += wave // 7
        for side in sides:
            out += (side + rnd.randrange(-40 * seed, 40 * seed)).to_bytes(2, "little", signed=True)
    return bytes(out)


def manifest(seed, parts, rich):
    """What ninja reads, of so many compiles; rich: variables, escapes, pools and all kinds of inputs."""
    rnd = random.Random(seed)
    out = ["ninja_required_version = 1.3", "flags = -O2 -Wall -Iinclude",
           "rule cc", "  command = cc $flags $more -MD -MF $out.d -c $in -o $out", "  depfile = $out.d",
           "  description = CC $out", "rule ar", "  command = rm -f $out && ar crs $out $in",
           "rule link", "  command = cc -o $out $in $libs"]
    if rich:
        out += ["pool few", "  depth = 4", "rule make", "  command = ./make $$HOME $in > $", "    $out", "  pool = few",
                "  restat = 1"]
    for k in range(parts):
        unit = f"{rnd.choice(WORDS)}/{rnd.choice(WORDS)}{k}"
        if not rich:
            out += [f"build obj/{unit}.o: cc src/{unit}.c", f"  more = -D{rnd.choice(WORDS).upper()}={k}"]
        elif k % 3:
            out += [f"where{k % 9} = $flags {prose(rnd, 3)}",
                    f"build obj/{unit}$:x$ y.o | obj/{unit}.map: cc ${{where{k % 9}}}/{unit}.c | gen{k // 3 * 3}.h || all$ of$ it",
                    f"  flags = ${{where{k % 9}}} -D{k} $", f"      -I{rnd.choice(WORDS)}"]
        else:
            out += [f"build gen{k}.h: make {unit}.in | tools/{rnd.choice(WORDS)}", "build all$ of$ it%d: phony gen%d.h" % (k, k)]
        if not rich and k % 20 == 19:
            objects = " ".join(line.split()[1][:-1] for line in out[-40::2])
            out += [f"build lib/{k}.a: ar {objects}", f"build bin/{k}: link lib/{k}.a | lib/{k}.a", "  libs = -lm"]
    return "\n".join(out) + "\n"


def yaml(seed, parts, rich):
    """A document of so many parts; rich: flow style, quotes, anchors and aliases, block scalars."""
    rnd = random.Random(seed)
    out = ["---"]
    for k in range(parts):
        if rich:
            out += [f"- &n{k} {{id: {k}, name: \"{prose(rnd, 2)} \\\"\\u00e9\\n{k}\\\"\", at: [{rnd.random():.3f}, -1e{k % 9}, ~],",
                    f"   'it''s': {{a: [{', '.join(rnd.choices(WORDS, k=6))}], b: !!str {k}}}}}",
                    f"- like: *n{rnd.randrange(max(0, k - 20), k + 1)}", "  text: |", f"    {prose(rnd, 8)}", "", f"      {prose(rnd, 6)}",
                    "  more: >-", f"    {prose(rnd, 9)}", f"    {prose(rnd, 5)}  # no comment", "  ? [key, 1]", f"  : {k}"]
        else:
            out += [f"part{k}:", f"  name: {prose(rnd, 3)}", f"  size: {rnd.randrange(99999)}", f"  share: {rnd.random():.4f}",
                    f"  on: {rnd.choice(['yes', 'no', 'true'])}  # {rnd.choice(WORDS)}", "  list:"]
            out += [f"    - {rnd.choice(WORDS)}-{rnd.randrange(99)}" for _ in range(rnd.randrange(1, 7))]
            out += ["  deeper:"] + [f"    {w}{i}:\n      - value: {rnd.randrange(999)}\n        unit: {rnd.choice(WORDS)}"
                                    for i, w in enumerate(rnd.choices(WORDS, k=3))]
    return "\n".join(out) + "\n"
