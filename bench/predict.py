"""What the model of the front end predicts, beside what the clock says."""
import json
import math
import re
import subprocess
import tempfile

from rig import Unavailable, pairs, progress, run, tool

HEAD = ["program, layout", "predicted", "measured", "quartiles", "error", "misses predicted",
        "counted"]


def layouts(p, test):
    """[(name, how morph-edit makes it)], the plain build first."""
    train = p.counts("train", p.train(p.short))
    few = p.sample_lines("ideal-3000", p.ideal(train, 3000))
    return [("-O2 as built", None), ("complete profile of the test", test),
            ("complete profile of training", train), ("3,000 ideal samples of training", few),
            ("random 1", ("--random", "1")), ("random 2", ("--random", "2")),
            ("random 3", ("--random", "3"))]


def misses(p, build):
    """Misses of an instruction cache of 32 KB per 1000 instructions, by callgrind."""
    with tempfile.TemporaryDirectory() as tmp:
        r = subprocess.run(
            ["valgrind", "--tool=callgrind", "--cache-sim=yes", "--I1=32768,8,64",
             f"--callgrind-out-file={tmp}/out", build, *p.test(p.short)[1:]], env=p.env, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    found = [re.search(what + r"\s*:?\s+([\d,]+)", r.stderr) for what in (r"I\s+refs", r"I1\s+misses")]
    if r.returncode or not all(found):
        raise Unavailable(f"callgrind: {r.stderr.strip()[-300:]}")
    refs, missed = (int(f.group(1).replace(",", "")) for f in found)
    return 1000 * missed / refs


def root_mean_square(errors):
    return math.sqrt(sum(e * e for e in errors) / len(errors)) if errors else 0


def manager_gain(p, test):
    """What the manager would see: the gain of the best layout by 15,000 samples
    alone, and the build that gives."""
    samples = p.sample_lines("ideal-test", p.ideal(test, 15000))
    score = json.loads(run([tool("morph-edit"), "--artifact", p.artifact, *samples, "--score",
                            "--json"]))["score"]
    return score["after"]["cost"]["cycles"] / score["before"]["cost"]["cycles"], \
        p.edit("predict-samples", samples)[0]


def rows(p, rounds):
    """(rows of the table, errors of layouts from profiles, of random ones)"""
    test = p.counts("test", p.test(p.short))
    made = [(name, p.edit(f"predict{k}", how)[0] if how else p.module, how)
            for k, (name, how) in enumerate(layouts(p, test))]
    by_samples, build = manager_gain(p, test)
    made.append(("15,000 ideal samples of the test, by them alone", build, test))
    ratio = pairs.compare([[b] + p.test(p.timed)[1:] for _, b, _ in made], rounds,
                          lambda i, n: progress(f"{p.name}: round {i} of {n}"), env=p.env)
    out, useful, wild, base = [], [], [], None
    for (name, build, how), r in zip(made, ratio):
        cost = p.score(test, build)["cost"]
        base = base or cost["cycles"]
        predicted = by_samples if build == made[-1][1] else cost["cycles"] / base
        error = predicted - r["median"]
        if how:
            (wild if how[0] == "--random" else useful).append(error)
        out.append([f"{p.name}, {name}", f"{predicted:.3f}", f"{r['median']:.3f}",
                    f"{r['low']:.3f} … {r['high']:.3f}", f"{error:+.3f}",
                    f"{1000 * cost['l1i']:.2f}", f"{misses(p, build):.2f}"])
    return out, useful, wild
