"""What the tests on Lua share: its source, builds of it, its scripts, and the
recorded samples as a feed for any build."""
import glob
import importlib.machinery
import importlib.util
import os
import shutil
import sqlite3
import subprocess
import sys

from manager import *

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
CORPUS = os.path.join(TOP, "tests/corpus/lua")
CFLAGS = "-O2 -Wall -Wextra -DLUA_COMPAT_5_3"

sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("exact", os.path.join(TOP, "bench/exact"))
exact = importlib.util.module_from_spec(importlib.util.spec_from_loader("exact", loader))
loader.exec_module(exact)


def source(place, name="lua"):
    """A fresh copy of Lua's source in the place; skips where there is none."""
    cache = os.path.join(BUILD, "src")
    r = subprocess.run([os.path.join(TOP, "bench/fetch-source"), "lua5.4", cache],
                       capture_output=True, text=True)
    if r.returncode:
        skip(r.stderr.strip().replace("\n", "; "))
    to = place / "home/" + name
    shutil.copytree(os.path.join(cache, "lua5.4", "src"), to)
    if os.geteuid() == 0:
        for base, _, files in os.walk(to):
            for n in [base] + [os.path.join(base, f) for f in files]:
                os.chown(n, UID, UID)
    return to


def make(place, folder, *args, hooked=True, flags=""):
    argv = ["make", "-C", folder, "-j2", f"CFLAGS={CFLAGS} -DLUA_USE_LINUX {flags}", *args]
    if hooked:
        argv = [place / "bin/morphctl", "hooks", "run", "--", *argv]
    r = place.run(*argv)
    check(r.returncode == 0, f"make {' '.join(args)} ({'hooked' if hooked else 'plain'}) {r.stderr[-2000:]}")


STATIC = ("lua", "MYLIBS=-Wl,-E -ldl", "SYSLIBS=-Wl,-E -ldl")


def scripts(place, lua, env=None):
    """What every script of the set prints, in one string."""
    out = []
    for path in sorted(glob.glob(os.path.join(CORPUS, "*.lua"))):
        to = place / "home/" + os.path.basename(path)
        if not os.path.exists(to):
            shutil.copy(path, to)
        r = subprocess.run([lua, os.path.basename(path)], cwd=place / "home",
                           env=dict(place.env, **(env or {})), capture_output=True, text=True,
                           errors="replace", timeout=120, **AS_USER)
        out.append(f"{os.path.basename(path)}: {r.returncode}\n{r.stdout}{r.stderr}")
    return "\n".join(out)


def addresses(build, artifact):
    """{(unit, function, block): (address, size)} of a build."""
    elf = exact.Elf(build)
    db = sqlite3.connect(f"file:{artifact}?mode=ro", uri=True)
    name = {(int.from_bytes(h[:8], "big"), o): (unit, fn) for h, o, unit, fn in db.execute(
        "select hash, ord, tu.name, func.name from func join tu on tu.id = func.tu")}
    out = {}
    for at, size, tu, func, block in exact.block_starts(elf):
        if (tu, func) in name:
            out[(*name[tu, func], block)] = (at, size)
    return out


def recorded(build, artifact, seed=1):
    """The recorded samples as {file offset: count} of this build, and how many
    of them it has no block for."""
    where, elf, rnd = addresses(build, artifact), Elf(build), random.Random(seed)
    out, lost = {}, 0
    for line in open(os.path.join(CORPUS, "train.samples")):
        if line.startswith("#"):
            continue
        unit, fn, block, n = line.split()
        at, size = where.get((unit, fn, int(block)), (0, 0))
        if not size:
            lost += int(n)
            continue
        for _ in range(int(n)):
            off = elf.offset(at) + rnd.randrange(size)
            out[off] = out.get(off, 0) + 1
    return out, lost


def per_function(m, ident):
    p = m.get(f"/v1/modules/{ident}/profile?functions=1000")
    out = {}
    for f in p["functions"]:
        out[f["tu"], f["name"]] = out.get((f["tu"], f["name"]), 0) + f["samples"]
    return out


# ---- the loop ----

LOOP = """
decide: {every: 200ms, min_samples: %d, cool_down: 0}
idle: {cpu: 0, psi: 100%%, after: 0, battery: yes}
"""


def adds_up(m, at_least):
    t = m.get("/v1/status")["samples"]
    check(t["taken"] == t["mapped"] + t["outside"] + t["stale"] + t["dropped"], f"samples add up: {t}")
    check(t["outside"] == sum(t["outside_by"].values()), "and so do those outside")
    check(t["taken"] >= at_least, f"{t['taken']} taken")
    return t


def same_usage(a, b, slack):
    """Shares per function of two sample sets agree within sampling error."""
    na, nb = sum(a.values()), sum(b.values())
    for f in sorted(set(a) | set(b)):
        pa, pb = a.get(f, 0) / na, b.get(f, 0) / nb
        p = (a.get(f, 0) + b.get(f, 0)) / (na + nb)
        error = 5 * (p * (1 - p) * (1 / na + 1 / nb)) ** 0.5
        if abs(pa - pb) > error + slack:
            fail(f"{f}: {pa:.4f} of {na:.0f} samples before, {pb:.4f} of {nb:.0f} after "
                 f"(error {error:.4f})")
    check(True, f"{len(set(a) | set(b))} functions keep their share, {na:.0f} and {nb:.0f} samples")


def minus(a, b):
    return {k: a[k] - b.get(k, 0) for k in a if a[k] - b.get(k, 0) > 0.01}
