"""What the manager does under load: 500 modules that are decided about every second while each is
sampled every second, and one module of a million blocks."""
import contextlib
import json
import os
import re
import select
import shutil
import statistics
import struct
import subprocess
import sys
import time

from rig import Unavailable, progress, run, table, tool

import manager as flow  # of tests/flow, which rig adds

MODULES, SECONDS, SAMPLES = 500, 60, 20
POLICY = """
decide: {every: 1s, min_samples: 100, min_change: 5%%, edits_per_day: %d}
idle: {cpu: 0, psi: 100%%, after: 0, battery: yes}
"""
UNITS, FUNCTIONS, BRANCHES = 34, 250, 60  # 34 units of 250 functions of 119 blocks: 1,011,500

# Asks in a process of its own, so that nothing else of this one is in its times.
ASKER = """
import json, socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
f, took, end = s.makefile("rb"), [], time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    at = time.monotonic()
    s.sendall(b"GET /v1/status HTTP/1.1\\r\\nHost: morph\\r\\n\\r\\n")
    n = 0
    while (line := f.readline()) != b"\\r\\n":
        n = int(line[15:]) if line.lower().startswith(b"content-length:") else n
    f.read(n)
    took.append(time.monotonic() - at)
    time.sleep(0.005)
print(json.dumps(took))
"""


def own(place, *paths):
    for p in paths:
        if os.geteuid() == 0:
            os.chown(p, flow.UID, flow.UID)


def processes(morphd):
    """{name: pid} of morphd and its manager."""
    out = {"morphd": morphd.p.pid}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            text = open(f"/proc/{pid}/status").read()
        except OSError:
            continue
        if re.search(rf"^PPid:\t{morphd.p.pid}$", text, re.M) and "morph-manager" in text.split("\n")[0]:
            out["morph-manager"] = int(pid)
    if len(out) < 2:
        raise Unavailable("morph-manager is not found")
    return out


def memory(pid):
    """MB it has, and has had at most."""
    text = open(f"/proc/{pid}/status").read()
    return [int(re.search(rf"^{f}:\s*(\d+)", text, re.M)[1]) / 1024 for f in ("VmRSS", "VmHWM")]


def cpu(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def turns(morphd):
    """The manager's longest turn of its loop so far: wall time, CPU time in ms."""
    found = re.findall(r"longest turn of the loop: (\d+) ms, (\d+) ms of CPU", morphd.said())
    return [max((int(t[k]) for t in found), default=20) for k in (0, 1)]


def quantiles(took):
    """Median, 99th percentile and maximum in ms."""
    took = sorted(took)
    return [f"{1000 * t:.1f}" for t in (statistics.median(took), took[len(took) * 99 // 100], took[-1])]


class Asker:
    """The latencies of /v1/status while `with` lasts, at most so many seconds."""

    def __init__(self, place, seconds):
        self.argv = ["python3", "-ISc", ASKER, place / "run/api.sock", str(seconds)]

    def __enter__(self):
        self.p = subprocess.Popen(self.argv, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self.took = json.loads(self.p.communicate()[0] or "[0]")


def feed(sender, frames):
    """The times from a batch to its acknowledgement, a batch a second. In between it reads what
    the manager wants, as a monitor does."""
    took, begin = [], time.monotonic()
    for k, frame in enumerate(frames):
        progress(f"batch {k + 1} of {len(frames)}")
        while (left := begin + k - time.monotonic()) > 0:
            if select.select([sender.s], [], [], left)[0]:
                sender.read(struct.unpack("<4sHHIIQ", sender.read(24))[3])
        at = time.monotonic()
        if not sender.send(frame):
            raise Unavailable("the manager hung up")
        took.append(time.monotonic() - at)
    return took


# ---- many modules ----

def many():
    with flow.Place() as place:
        with contextlib.redirect_stdout(sys.stderr):
            first = place.build()
        paths = [place / f"home/p{i}" for i in range(MODULES)]
        for p in paths:
            for end in "", ".morph":
                shutil.copy(first + end, p + end)
                own(place, p + end)
        elf = flow.Elf(first)
        ident, functions = elf.build_id(), {f for f, _ in elf.blocks()}
        where = [flow.draw(elf, flow.usage(elf, k, functions), SAMPLES, k) for k in range(10)]
        with flow.Manager(place, POLICY % 24) as morphd:
            pids, sender = processes(morphd), flow.Sender(place, flow.hello(1))
            begin, seq = time.monotonic(), 0
            while morphd.get("/v1/status")["modules"] < MODULES:
                if time.monotonic() - begin > 300:
                    raise Unavailable("the modules are not learned in 5 minutes")
                seq += 1
                sender.send(flow.batch(1, seq, [(ident, p, where[0]) for p in paths]))
            learned = time.monotonic() - begin
            frames = [flow.batch(1, seq + 1 + k, [(ident, p, where[(k + j) % 10])
                                                 for j, p in enumerate(paths)]) for k in range(SECONDS)]
            before = {n: cpu(p) for n, p in pids.items()}
            with Asker(place, SECONDS) as asker:
                merged = feed(sender, frames)
            spent = {n: (cpu(p) - before[n]) / SECONDS for n, p in pids.items()}
            wall, used = turns(morphd)
            table(["", "times", "median, ms", "99th", "longest"],
                  [["batch of 500 modules: sent to acknowledged", len(merged), *quantiles(merged)],
                   ["`/v1/status`", f"{len(asker.took):,}", *quantiles(asker.took)],
                   ["turn of the loop, wall time", "", "", "", wall],
                   ["turn of the loop, CPU time", "", "", "", used]])
            table(["", "RSS, MB", "peak, MB", "CPU time of one CPU"],
                  [[n, *(f"{x:.1f}" for x in memory(p)), f"{spent[n]:.1%}"] for n, p in pids.items()])
            print(f"All were learned {learned:.1f} s after their first samples;"
                  f" {len(morphd.events('swapped'))} were laid out meanwhile.\n", flush=True)


# ---- one large module ----

def large_program(work):
    """A program of a million blocks, built once through the hooks: a unit as GCC compiles it, again
    and again under other names."""
    where = os.path.join(work, "million")
    prog = os.path.join(where, "million")
    if os.path.exists(prog + ".morph"):
        return prog
    os.makedirs(where, exist_ok=True)
    source = "extern volatile int v;\n" + "".join(
        f"void f{i}_UNIT(int x) {{ " + "".join(f"if (x & {k}) v = {k}; " for k in range(1, BRANCHES)) + "}\n"
        for i in range(FUNCTIONS))
    unit = subprocess.run(["gcc", "-O1", "-S", "-o", "-", "-xc", "-"], input=source, text=True,
                          capture_output=True, check=True).stdout
    with open(os.path.join(where, "main.c"), "w") as f:
        f.write("volatile int v; int main(void) { return v; }\n")
    for k in range(UNITS):
        with open(os.path.join(where, f"u{k}.s"), "w") as f:
            f.write(unit.replace("_UNIT", f"_{k}"))
    run([tool("morphctl"), "hooks", "run", "--", "gcc", "main.c", *(f"u{k}.s" for k in range(UNITS)),
         "-o", prog], cwd=where)
    return prog


def spread(prog, n):
    """Samples in n functions of each unit, in the code of the file: {offset: count}."""
    off, _, size = flow.Elf(prog).loads[0]
    step = size // (UNITS * n)
    return {off + at: 3 for at in range(size // 20, size - size // 20, step)}


def large(work):
    made = large_program(work)
    with flow.Place() as place:
        prog = place / "home/million"
        for end in "", ".morph":
            shutil.copy(made + end, prog + end)
            own(place, prog + end)
        ident, samples = flow.Elf(prog).build_id(), spread(prog, 20)
        with flow.Manager(place, POLICY % 0) as morphd:
            pids, sender = processes(morphd), flow.Sender(place, flow.hello(1))
            rows, seq = [], 0

            def note(what):
                rss, peak = memory(pids["morph-manager"])
                rows.append([what, f"{rss:.1f}", f"{peak:.1f}", *turns(morphd),
                             f"{memory(pids['morphd'])[0]:.1f}"])

            def send():
                nonlocal seq
                seq += 1
                sender.send(flow.batch(1, seq, [(ident, prog, samples)]))

            note("start")
            with Asker(place, 40) as asker:
                while not morphd.module(prog) or not morphd.module(prog)["samples"]:
                    send()
                note("learned, and a batch")
                with contextlib.redirect_stdout(sys.stderr):
                    morphd.wait("replay table", lambda: "replay table made" in morphd.said(), 60)
                note("its replay table is made")
                for _ in range(8):
                    send()
                    time.sleep(1)
                note("eight batches, each decided about")
                found = morphd.module(prog)
                morphd.get(f"/v1/modules/{found['id']}/profile")
                note("its profile was asked for")
            table(["one module of a million blocks", "RSS, MB", "peak, MB", "longest turn, ms", "its CPU time, ms",
                   "RSS of morphd, MB"], rows)
            table(["", "times", "median, ms", "99th", "longest"],
                  [["`/v1/status` all the while", f"{len(asker.took):,}", *quantiles(asker.took)]])


def measure(work):
    many()
    large(work)
