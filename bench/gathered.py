"""Profiles of a program's training as the product itself gathers them.

Sampled: the monitor follows the program, a manager of its own takes samples,
branch outcomes resolved from registers, and sampled calls; morphctl prints them. Complete:
by a counting build.
"""
import json
import os
import shutil
import subprocess
import time

from rig import BENCH, Unavailable, measured, progress, run

from manager import AS_USER, UID, Manager, Place  # of tests/flow, which rig adds

RATE = 1999  # samples per second and CPU, at most: the last run's brings what lacks
HASTE, FAST = 100000, 7993  # more samples than that are gathered by this rate
ENOUGH = .99  # of the number asked for
FIRST = 61  # until the manager knows the program and asks for registers
SECONDS = 900  # for that, which is done when nobody else wants the machine; of cc1 it takes minutes
TRAINED = 4  # short rounds, where every execution is counted
TAKEN_ALONE, TAKEN = 2, 6  # columns of bench/profiles: of the order, with copies besides
POLICY = """profile: {registers: yes, half_life: 3650d}
decide: {every: 1h, min_samples: 4}
idle: {cpu: 0, psi: 1, after: 0s}
modules:
  - {path: "%s", action: optimize}
  - {path: "/**", action: ignore}
"""


def gather(p, n):
    """The profile for morph-edit that about n samples of p's training give."""
    return gather_all(p, [n])[0]


def gather_all(p, numbers):
    """The same of each of these numbers.

    A profile is kept as long as program and workload are the same; beside it lies NAME.seen
    with what the manager counted meanwhile. Those that are missing are gathered in one go:
    the larger ones hold the samples of the smaller ones.
    """
    kept = {n: p.path(f"gathered-{n}.samples") for n in numbers}
    missing = [n for n in sorted(numbers) if not is_kept(kept[n], of(p, n))]
    if missing:
        with Place() as place:
            module = copied(p, place)
            try:
                manager = Manager(place, POLICY % module)
            except SystemExit:  # it has said why
                raise Unavailable("no manager to gather with") from None
            try:
                for n, seen in follow(p, missing, place, module, manager):
                    keep(p, kept[n], n, seen, place.run(place / "bin/morphctl", "profile", "--text", module))
            finally:
                manager.stop()
    return [("--samples", kept[n]) for n in numbers]


def fastest(n):
    """Samples per second and CPU, at most: more than HASTE by a higher rate."""
    return RATE if n <= HASTE else FAST


def of(p, n):
    return json.dumps([p.functions, fastest(n)])


def is_kept(path, what):
    if not os.path.exists(path + ".of"):
        return False
    with open(path + ".of") as f:
        return f.read() == what


def keep(p, path, n, seen, said):
    """Writes what `morphctl profile` said of n samples."""
    if said.returncode:
        raise Unavailable(said.stderr)
    p.write(path, said.stdout)
    p.write(path + ".seen", json.dumps(seen))
    p.write(path + ".of", of(p, n))


def without_registers(p, n):
    """The same, but for what registers told: samples of blocks alone."""
    with open(gather(p, n)[1]) as f:
        blocks = [line for line in f if len(line.split()) == 3]
    return "--samples", p.write(f"gathered-{n}.blocks", "".join(blocks))


def promised(p, samples):
    """The time that samples alone promise for the layout made from them."""
    score = json.loads(run([p.tool("morph-edit"), "--artifact", p.artifact, *samples, "--score",
                            "--json"]))["score"]
    return score["after"]["cost"]["cycles"] / score["before"]["cost"]["cycles"]


def placed(p, place):
    """Where copied() puts its program."""
    return place / "home/" + os.path.basename(p.module)


def copied(p, place):
    module = placed(p, place)
    for suffix in "", ".morph":
        shutil.copy(p.module + suffix, module + suffix)
        os.chown(module + suffix, UID, UID)
    return module


def follow(p, numbers, place, module, manager):
    """Trains until the manager has each of these numbers of samples: yields it and what it counted."""
    trained = p.long // 10 + 1
    train(p, place, module, FIRST, trained)
    end = time.monotonic() + SECONDS
    while not manager.get("/v1/status")["registers"]["wanted"]:
        if time.monotonic() > end:
            raise Unavailable("the manager asks for no registers of the program")
        time.sleep(.1)
    had = manager.module(module)["mapped"]
    each, part = had / trained / FIRST, .5  # of a round, at 1 Hz; by few samples
    for n in numbers:
        while had < ENOUGH * n:
            progress(f"{p.name}: {had} of {n} samples")
            rate = max(1, min(fastest(n), int(part * (n - had) / each / p.long)))
            train(p, place, module, rate, p.long)
            before, had = had, manager.module(module)["mapped"]
            if had == before:
                raise Unavailable("the manager sees nothing of the program")
            each, part = (had - before) / p.long / rate, 1
        yield n, dict(manager.get("/v1/status")["registers"], mapped=had)


def train(p, place, module, rate, rounds):
    """Once on each CPU."""
    followed = [subprocess.Popen(
        [place / "bin/morph-monitor", "--source", "cpu-clock", "--rate", str(rate), "--flush", "1", "--",
         *p.command(module, p.train(rounds))], env=dict(place.env, LC_ALL="C"), cwd=place / "home",
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **AS_USER)
        for _ in range(os.cpu_count())]
    for f in followed:
        said = f.communicate()[1].decode()
        if f.returncode:
            raise Unavailable(said.strip()[-300:])


def complete(p):
    """The profile of every execution of a block or edge."""
    return counted(p, "complete", p.train(TRAINED * p.short))


def counted(p, name, args):
    """The same of a run with these arguments."""
    counting, counts, profile = p.path("counting"), p.path("counting.counts"), p.path(name + ".profile")
    progress(f"{p.name}: counting")
    if os.path.exists(counts):
        os.unlink(counts)
    measured([p.tool("morph-edit"), "--artifact", p.artifact, "--instrument=edges", "-o", counting])
    measured([counting, *args[1:]], env=dict(p.env, MORPH_COUNTS=counts))
    measured([p.tool("morph-edit"), "--artifact", p.artifact, "--read-counts", "-o", profile, counts])
    return "--counts", profile


def worth(p, truth, sampled, best=None):
    """What sampled profiles [(name, profile)] give under a complete one: per profile, after a
    row of the program as built and before one of the complete profile itself, or of `best`, what
    bench/profiles says of it, as text."""
    names = [x for name, profile in sampled for x in (name, f"samples:{profile[1]}")]
    said = run([os.path.join(BENCH, "profiles"), p.artifact, truth[1], *names,
                "complete", f"counts:{(best or truth)[1]}"])
    return [line.split("\t") for line in said.splitlines()]


def share(built, row, best, column):
    """Of the reduction from `built` to `best` in a column of worth()'s, row's."""
    built, taken, best = (float(r[column]) for r in (built, row, best))
    return (built - taken) / (built - best)
