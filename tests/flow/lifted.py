# A small lifter, for tests of what is done with lifted text: it knows the compiler's text.
#	lifted.py TEXT.s PROGRAM FOLDER
# PROGRAM was linked from TEXT.s, of which all labels are among its symbols. Writes the unit of each
# function of TEXT.s (docs/notes/legacy.md) to FOLDER/N.s, N from 0 on in the order of the text.
import os
import re
import subprocess
import sys

text, program, folder = sys.argv[1:]


def lines_of(*command):
    return subprocess.run([*command, program], capture_output=True, text=True, check=True).stdout.splitlines()


def matches(pattern, lines):
    return [m.groups() for m in (re.search(pattern, line) for line in lines) if m]


# TEXT.s was linked first.
symbols = {name: int(at, 16) for at, name in reversed(matches(r"^(\w+) \w ([^@ ]+)\S*$", lines_of("nm", "-n")))}
words = {name: int(at, 16) for at, name in
         matches(r"^(\w+) .*(?:JUMP_SLO\w*|GLOB_DAT) +\w+ ([^@ ]+)", lines_of("readelf", "-rW"))}
NOW = "-z,now" in os.environ.get("HOW", "")
disassembly = lines_of("objdump", "-dw")
stubs = {name: int(at, 16) for at, name in matches(r"^(\w+) <(\S+)@plt>:$", disassembly)}
code = {int(at, 16): bytes.fromhex(b) for at, b in matches(r"^ *(\w+):\t((?:\w\w )+)", disassembly)}
data = {int(at, 16): int(to, 16) for at, to in matches(r"^ *(\w+):\t.*\(%rip\).*# (\w+)", disassembly)}

SYMBOL = re.compile(r"(?<![\w.$%@])[A-Za-z_.][\w.$]*")
source = open(text).read().splitlines()
functions = [m.group(1) for m in (re.match(r"\t\.type\t([^,]+), @function", line) for line in source) if m]
functions = [f for f in functions if not f.endswith(".cold")]
# Of another object's.
weak = {f for f in functions if symbols[f] != symbols[source[source.index(f + ":") + 1][:-1]]}


def body(name):
    """The lines from the function's label to its end, and whether it has a cold part."""
    begin = source.index(name + ":")
    ends = [i for i in range(begin, len(source)) if source[i] in (f"\t.size\t{name}, .-{name}",
                                                                  f"\t.size\t{name}.cold, .-{name}.cold")]
    return source[begin:ends[-1] + 1]


def section(line):
    """Where the lifter puts it: sections of functions are no groups, and have no name of their own."""
    m = re.match(r"\t\.(?:section\t)?\.?(text\.unlikely|text|rodata|gcc_except_table)", line)
    if not m:
        return line
    name = m.group(1)
    flags = "ax" if name == "text.unlikely" else "a"
    return "\t.text" if name == "text" else f"\t.section\t.{name},\"{flags}\",@progbits"


class Unit:
    def __init__(self, name):
        self.name, self.lines, self.sets = name, body(name), {}
        before = source[:source.index(name + ":")]
        self.cold = [line for line in before[-12:] if line.startswith(".LCOLDB")][-1:]
        self.labels = {line[:-1] for line in self.lines if re.match(r"\S+:$", line)}
        self.at = None  # address of the next instruction

    def place(self, name, direct):
        """A symbol's address in the original; direct: where the branch to it goes."""
        if name in self.labels and name != self.name or name == ".":
            return name
        if direct and (name in weak or name not in functions):
            self.sets[name] = direct
            if NOW and name in words:
                self.sets["got." + name] = words[name]
        elif name.startswith("DW.ref."):
            self.sets[name] = symbols[name]
        elif not direct and (name in symbols or name in stubs):
            return "image+%#x" % symbols.get(name, stubs.get(name))
        return name

    def operands(self, rest, direct=None):
        return SYMBOL.sub(lambda m: self.place(m.group(0), direct), rest)

    def instruction(self, line):
        op, rest = re.match(r"\t((?:notrack |rep )?\S+)\s*(.*)", line).groups()
        b, at = code[self.at], self.at
        self.at = end = at + len(b)
        target = data.get(at)
        if any(label in self.labels and label != self.name for label in SYMBOL.findall(rest)):
            return "\t%s\t%s" % (op, self.operands(rest))
        if target:
            rest = re.sub(r"[^\s,*]+\(%rip\)", "image+%#x(%%rip)" % target, rest)
        elif op.startswith(("j", "call")) and rest[0] != "*" and len(b) > 4:
            target = end + int.from_bytes(b[-4:], "little", signed=True)
            rest = self.operands(rest, target)
        elif "(%rip)" in rest:  # ld made a number of it
            rest = re.sub(r"[^\s,*]+\(%rip\)", "$0", rest)
        elif op.startswith("j") and rest[0] != "*":
            return line  # a short one, to another function
        if not target:
            return "\t%s\t%s #=%s" % (op, self.operands(rest), b.hex())
        at = [i for i in range(1, len(b) - 3) if end + int.from_bytes(b[i:i + 4], "little", signed=True) == target][0]
        return "\t%s\t%s #=%s@%s" % (op, rest, b[:at].hex(), b[at + 4:].hex())

    def line(self, line):
        if line in ("\t.value\t0x6666", "\trex64"):  # prefixes of the call that follows
            return None
        if re.match(r"\t\.(loc|file|globl|type\t" + re.escape(self.name) + r",)\b", line) or line.startswith("#"):
            return None
        if re.match(r"\S+:$", line):
            self.at = symbols.get(line[:-1], self.at)
            return line
        if re.match(r"\t\.(text|section)\b", line):
            return section(line)
        if re.match(r"\t\.(long|quad|cfi_personality)\b", line):
            op, _, rest = line.strip().replace(" ", "\t", 1).partition("\t")
            return "\t%s\t%s" % (op, self.operands(rest))
        if re.match(r"\t[a-z]", line):
            return self.instruction(line)
        return line

    def text(self):
        lines = [line for line in map(self.line, self.lines) if line is not None]
        # Not even a jump has room in what is so short.
        if "#APP" in self.lines or self.name in weak or len([x for x in lines if "#=" in x]) < 4:
            self.name += ".weak" if self.name in weak else ""
            lines = [self.name + ":", '\t.stays "for a test"', f"\t.size\t{self.name}, .-{self.name}"]
        head = ["\t.section\t.text.unlikely,\"ax\",@progbits", *self.cold, "\t.text"]
        head += ["\t.set %s, image+%#x" % (name, at) for name, at in sorted(self.sets.items())]
        head += ["\t.p2align 4", "\t.globl\t" + self.name, "\t.type\t%s, @function" % self.name]
        tail = ["\t.ident\t\"GCC: lifted\"", "\t.section\t.note.GNU-stack,\"\",@progbits"]
        return "\n".join(head + lines + tail) + "\n"


os.makedirs(folder)
for n, f in enumerate(functions):
    with open(f"{folder}/{n}.s", "w") as out:
        out.write(Unit(f).text())
print(len(functions), "functions")
