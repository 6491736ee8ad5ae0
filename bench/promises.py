"""What one manager promises of layouts, and what it then measures, program after program: it learns from each,
and then once more of each (bench/run promises)."""
import math
import os
import shlex
import time

from gathered import copied, placed, train
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


def sampled(p, place, manager, module, enough):
    while ((manager.module(module) or {}).get("mapped") or 0) < enough:
        progress(f"{p.name}: samples")
        train(p, place, module, RATE, p.long)


def outcome(p, manager, module, last=None):
    """What came of the module's layout after the trial that began at `last`: (model, promised, gain, low, high)."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        progress(f"{p.name}: measuring")
        m = manager.module(module)
        t, d = m["measured"], m["decision"]
        if t and t["ended"] and t["began"] != last:
            return t["model"], t["promised"], t["gain"], t["low"], t["high"]
        if (not last and d and d["reason"] in ("low-gain", "held") and d["verdict"] == "wait"
                and "estimated from" not in d["text"]):
            raise Unavailable(f"{p.name}: {d['text']}")
        time.sleep(1)
    raise Unavailable(f"{p.name}: no measurement in {WAIT} s")


def once(p, place, manager):
    module = copied(p, place)
    sampled(p, place, manager, module, ENOUGH)
    return outcome(p, manager, module)


def again(p, place, manager):
    """Of its original, from twice the samples: as a person asks for it."""
    module = placed(p, place)
    sampled(p, place, manager, module, 2 * ENOUGH)
    m = manager.module(module)
    if m["state"] == "laid-out":
        manager.change(f"/v1/modules/{m['id']}/rollback")
    manager.change(f"/v1/modules/{m['id']}/reoptimize", '{"force": true}')
    return outcome(p, manager, module, m["measured"]["began"])


def measure(programs, of_each):
    """Of each program's first layout and its second one: (error of the model, of the promise, cells of the table)."""
    with Place() as place:
        named = {name: Named(p) for name, p in programs.items()}
        entries = "".join(f'  - {{path: "{placed(p, place)}", measure: ["{script(place, p)}", "{{build}}"]}}\n'
                          for p in named.values())
        with Manager(place, POLICY % (ENOUGH, entries)) as manager:
            first = dict(of_each(named, lambda name: (name, row(named[name], once(named[name], place, manager)))))
            second = of_each(first, lambda name: row(named[name], again(named[name], place, manager)))
            return list(first.values()), list(second)


class Named:
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
    return math.sqrt(sum(e * e for e in errors) / len(errors))
