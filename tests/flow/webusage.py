"""What the made-up manager says of all code: GET /v1/files and /v1/addresses, of a program that is
compiled here, so that morphctl finds names, lines and instructions, and of files that are not."""
import os
import re
import subprocess
import threading

SOURCE = """
#include <stdio.h>
static inline __attribute__((always_inline)) unsigned mix(unsigned x)
{
	x ^= x << 13;
	return x ^ x >> 17;
}
__attribute__((noinline)) unsigned walk(unsigned n)
{
	unsigned sum = 1;
	while (n--)
		sum = mix(sum) + n;
	return sum;
}
__attribute__((noinline)) unsigned fold(unsigned n)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < n; i++)
		sum += i % 7 ? i / 3 : i;
	return sum;
}
int main(int argc, char **argv)
{
	printf("%u\\n", walk((unsigned)argc) + fold((unsigned)argc));
	return 0;
}
"""
LAID_OUT = "/usr/lib/apps/program-0000"


class Usage:
    """Before (a range with an end) the program's time went to walk(), now to fold()."""

    def __init__(self, folder, evil):
        self.program = os.path.join(folder, "program-0001")
        source = os.path.join(folder, "spender.c")
        with open(source, "w") as f:
            f.write(SOURCE)
        os.chmod(folder, 0o755)
        subprocess.run(["cc", "-O2", "-g", "-o", self.program, source], check=True)
        self.evil = evil.replace("\u001b", "?")
        self.answers = threading.Event()
        self.answers.set()
        self.functions = {}
        symbols = subprocess.run(
            ["nm", "-S", self.program], capture_output=True, text=True, check=True
        ).stdout
        for line in symbols.splitlines():
            f = line.split()
            if len(f) == 4 and f[3] in ("walk", "fold", "main"):
                self.functions[f[3]] = (self.offset(int(f[0], 16)), int(f[1], 16))

    def offset(self, address):
        text = subprocess.run(
            ["readelf", "-lW", self.program], capture_output=True, text=True, check=True
        ).stdout
        for m in re.finditer(r"LOAD\s+0x(\w+) 0x(\w+) 0x\w+ 0x(\w+)", text):
            at, begin, size = (int(x, 16) for x in m.groups())
            if begin <= address < begin + size:
                return address - begin + at
        raise ValueError(f"{address:#x}: not in {self.program}")

    def samples(self, q):
        """[(id, kind, pid, path, {address: samples}, the rest)], most first."""
        old = "until" in q
        share = {"walk": 700 if old else 100, "fold": 100 if old else 900, "main": 3}
        code = {}
        for name, (begin, size) in self.functions.items():
            for i in range(share[name]):
                at = begin + i * i % size
                code[at] = code.get(at, 0) + 1
        made_up = [
            (f"{0x20 + i:016x}", "file", 0, f"/usr/lib/libmade-{i:02}.so", {}, 200 // (i + 1))
            for i in range(12)
        ]
        return [
            (f"{1:016x}", "file", 0, self.program, code, 0),
            (f"{2:016x}", "file", 0, LAID_OUT, {4096: 150, 8192: 50}, 0),
            (f"{3:016x}", "kernel", 0, "[kernel]", {}, 120),
            (f"{4:016x}", "file", 0, "/home/ann/bin/" + self.evil, {64: 60}, 0),
            (f"{5:016x}", "anonymous", 812, "", {0x7F0000001000: 40}, 0),
            *made_up,
        ]

    def addresses(self, q):
        self.answers.wait(60)
        lines = ["range 1795677000 1795680600"]
        for ident, kind, pid, path, code, rest in self.samples(q):
            n = sum(code.values()) + rest
            lines.append(f"file {ident} {kind} - - 1000 {pid} {n} {n * 4000000} {path}")
            lines += [f"{at:#x} {code[at]}" for at in sorted(code)]
        return "\n".join(lines) + "\n"

    def files(self, q):
        return [
            {
                "id": ident,
                "kind": kind,
                "path": path,
                "build_id": None,
                "origin": None,
                "uid": 1000,
                "pid": pid,
                "samples": sum(code.values()) + rest,
                "cpu_s": (sum(code.values()) + rest) * 0.004,
            }
            for ident, kind, pid, path, code, rest in self.samples(q)
        ]
