"""What one manager promises of layouts, and what it then measures, program after program: it learns from each
(bench/run promises)."""
import math
import os
import shlex
import time

from gathered import copied, train
from rig import Unavailable, progress

from manager import UID, Manager, Place  # of tests/flow, which rig adds

ENOUGH = 15000  # samples of each program
RATE = 1999
LEARNED = 10  # edits
WAIT = 1200  # s for an estimate, an edit and a measurement
POLICY = """profile: {registers: yes, half_life: 3650d}
decide: {every: 1s, min_samples: %d, min_gain: 0%%, cool_down: 0s, hold: 1d, edits_per_day: 1000}
idle: {cpu: 0, psi: 100%%, after: 0s, battery: yes}
measure: {switchback: no, pairs: 30}
modules:
%s  - {path: "/**", action: ignore}
"""
HEAD = ["program", "the fitted model", "promised", "measured, 95 %", "error of the model", "error of the promise"]


def script(place, p):
    """The program's test, as the policy's command."""
    path = place / "home/" + p.name + ".test"
    with open(path, "w") as f:
        f.write('#!/bin/sh\nexec "$1" ' + shlex.join(p.test(p.timed)[1:]) + " </dev/null >/dev/null 2>&1\n")
    os.chmod(path, 0o755)
    return path


def one(p, place, manager):
    """What came of the program's layout: (model, promised, gain, low, high)."""
    module = copied(p, place)
    while ((manager.module(module) or {}).get("mapped") or 0) < ENOUGH:
        progress(f"{p.name}: samples")
        train(p, place, module, RATE, p.long)
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        progress(f"{p.name}: measuring")
        m = manager.module(module)
        if m["measured"] and m["measured"]["ended"]:
            t = m["measured"]
            return t["model"], t["promised"], t["gain"], t["low"], t["high"]
        d = m["decision"]
        if d and d["reason"] in ("low-gain", "held") and d["verdict"] == "wait" and "estimated from" not in d["text"]:
            raise Unavailable(f"{p.name}: {d['text']}")
        time.sleep(1)
    raise Unavailable(f"{p.name}: no measurement in {WAIT} s")


def measure(programs, of_each):
    """Rows of the table, and (errors of the model, errors of the promises) in the order of the programs."""
    with Place() as place:
        entries = "".join(f'  - {{path: "{place / "home/base"}-{p.name}", measure: ["{script(place, p)}", "{{build}}"]}}\n'
                          for p in programs.values())
        with Manager(place, POLICY % (ENOUGH, entries)) as manager:
            yield from of_each(programs, lambda name: row(programs[name], one(Placed(programs[name]), place, manager)))


class Placed:
    """A program whose file has a name of its own."""

    def __init__(self, p):
        self.p = p
        self.module = f"{p.module}-{p.name}"
        for suffix in "", ".morph":
            if not os.path.exists(self.module + suffix):
                os.link(p.module + suffix, self.module + suffix)

    def __getattr__(self, name):
        return getattr(self.p, name)


def row(p, found):
    model, promised, gain, low, high = found
    percent = lambda x: f"{100 * x:.1f}"
    return model - gain, promised - gain, [
        p.name, percent(model), percent(promised), f"{percent(gain)} ({percent(low)} … {percent(high)})",
        percent(model - gain), percent(promised - gain)]


def rms(errors):
    return math.sqrt(sum(e * e for e in errors) / len(errors)) if errors else math.nan
