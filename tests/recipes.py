"""What the runs of recipes share (tests/packages/run, tests/legacy/run): pieces of sh that are tried in
a folder of their own, and what each came to, kept in docs so that a run that was stopped goes on.

A recipe sets variables, among them source (a Debian source package) and needs (Debian packages), and has
functions. What a program came to is current while neither its recipe nor the tested sources change."""
import functools
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

TESTS = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(TESTS)
BUILD = os.path.realpath(os.environ.get("MORPH_BUILD", os.path.join(TOP, "build")))
SOURCES = os.path.join(BUILD, "src")
TIME = 3600  # seconds that a function of a recipe may take

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TOP, "bench"))


class Failed(Exception):
    pass


class Unavailable(Failed):
    """Nothing can be said of it here."""


def tool(name):
    return os.path.join(BUILD, "bin", name)


def content(path):
    with open(path, "rb") as f:
        return f.read()


def do(argv, **more):
    r = subprocess.run([str(a) for a in argv], capture_output=True, text=True, errors="replace", **more)
    if r.returncode:
        raise Failed(f"{os.path.basename(str(argv[0]))}: {(r.stderr or r.stdout).strip()[-400:]}")
    return r.stdout


@functools.cache
def sources(folders):
    """All C of the folders."""
    all_of = []
    for folder in folders:
        for d, inner, files in os.walk(os.path.join(TOP, folder)):
            inner.sort()
            all_of += [content(os.path.join(d, f)) for f in sorted(files) if f.endswith((".c", ".h"))]
    return b"".join(all_of)


class Set:
    """The recipes of a folder, and their records."""

    def __init__(self, name, tested):
        self.recipes = os.path.join(TESTS, name, "recipes")
        self.records, self.kept, self.tested = os.path.join(TOP, "docs", name), os.path.join(BUILD, name), tested

    def names(self):
        return sorted(os.listdir(self.recipes))

    def recipe(self, name):
        return os.path.join(self.recipes, name)

    def fingerprint(self, name):
        """What a result depends on."""
        return hashlib.sha256(content(self.recipe(name)) + sources(self.tested)).hexdigest()

    def record_of(self, name):
        return os.path.join(self.records, name + ".json")

    def recorded(self, name):
        try:
            with open(self.record_of(name)) as f:
                return json.load(f)
        except (OSError, ValueError):
            return None

    def is_current(self, fact):
        return fact["of"] == self.fingerprint(fact["name"])

    def store(self, fact):
        os.makedirs(self.records, exist_ok=True)
        with open(self.record_of(fact["name"]), "w") as f:
            json.dump(fact, f, indent=1, sort_keys=True)
            f.write("\n")

    def tried(self, name, record, make):
        """What a recipe came to; make(name) gives the Recipe that is run where that is not known."""
        old = self.recorded(name) if record else None
        if old and self.is_current(old):
            return old
        recipe = make(name)
        recipe.fact["result"] = "ok"
        try:
            recipe.run()
        except Unavailable as e:
            recipe.fact.update(result=str(e), skipped=True)
            return recipe.fact
        except Failed as e:
            recipe.fact["result"] = str(e)
        if record:
            self.store(recipe.fact)
        shutil.rmtree(recipe.tree, ignore_errors=True)
        return recipe.fact

    def main(self, args, make, line, page):
        """The program: [--record] [NAME…], or --table. line(fact): cells of a row; page(facts): the table's page."""
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup has suites' programs ignore it
        names = [a for a in args if not a.startswith("-")] or self.names()
        if "--table" in args:
            with open(self.records + ".md", "w") as f:
                f.write(page([x for x in map(self.recorded, names) if x]))
            return 0
        ok = skipped = 0
        for n in names:
            fact = self.tried(n, "--record" in args, make)
            ok += fact["result"] == "ok"
            skipped += "skipped" in fact
            word = "ok     " if fact["result"] == "ok" else "skipped" if "skipped" in fact else "FAILED "
            print(word, *[str(c) for c in line(fact) if c != ""], sep="  ", flush=True)
        print(f"{ok} of {len(names)} as they should be, {skipped} skipped")
        if ok + skipped < len(names):
            return 1
        return 0 if ok else 77

    def date(self, fact):
        return fact["on"] + ("" if self.is_current(fact) else " (older sources)")


class Recipe:
    """One that is run in .dir, on a copy of its source in .tree; what is found goes to .fact."""

    def __init__(self, all_of, name, *variables):
        self.name, self.path = name, all_of.recipe(name)
        self.dir = os.path.join(all_of.kept, name)
        self.tree = os.path.join(self.dir, "tree")
        wanted = "source", "needs", *variables
        said = subprocess.run(["sh", "-c", '. "$0"; for v; do eval "printf \'%s\\0\' \\"\\$$v\\""; done', self.path, *wanted],
                              capture_output=True, text=True, check=True).stdout.split("\0")
        self.of = dict(zip(wanted, said))
        self.fact = {"name": name, "of": all_of.fingerprint(name), "on": time.strftime("%Y-%m-%d")}
        os.makedirs(self.dir, exist_ok=True)

    def log(self, step):
        return os.path.join(self.dir, step + ".log")

    def shell(self, step, function, wrap=(), cwd=None, **env):
        """(status, CPU seconds) of a function of the recipe; what it prints is in its log."""
        argv = [*wrap, "sh", "-c", f'set -e; . "$0"; {function}', self.path]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(self.log(step), "w") as out:
            try:
                status = subprocess.run(argv, cwd=cwd or self.tree, env={**os.environ, "JOBS": str(os.cpu_count()), "HOME": self.dir,
                                                                         # redis asks in which state our clone is.
                                                                         "GIT_CEILING_DIRECTORIES": self.dir,
                                                                         "LC_ALL": "C.UTF-8", **env},
                                        stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, timeout=TIME).returncode
            except subprocess.TimeoutExpired:
                status = 124
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return status, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def fetch(self):
        """What it needs is installed; its source, where it has one, is at .original."""
        if self.of["needs"]:
            listed = os.path.join(self.dir, "needs")
            with open(listed, "w") as f:
                f.write("\n".join(self.of["needs"].split()) + "\n")
            if subprocess.run([os.path.join(TOP, "config/install-deps"), listed], capture_output=True).returncode:
                raise Unavailable(f"needs {self.of['needs']}")
        if not self.of["source"]:
            return
        fetched = subprocess.run([os.path.join(TOP, "bench/fetch-source"), self.of["source"], SOURCES], capture_output=True)
        if fetched.returncode:
            raise Unavailable("no source of it is to be had here")
        self.original = os.path.join(SOURCES, self.of["source"])

    def fresh(self):
        """.tree as the source is; empty without one."""
        shutil.rmtree(self.tree, ignore_errors=True)
        if self.of["source"]:
            do(["cp", "-a", self.original, self.tree])
        else:
            os.makedirs(self.tree)


def reasons(found, most=3):
    """{why: how many} in words, the most frequent first."""
    return ", ".join(f"{r} ({n})" for r, n in sorted(found.items(), key=lambda x: -x[1])[:most])


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else ""


def table(head, rows):
    rows = [head, ["---"] * len(head)] + [[str(c).replace("|", "\\|") for c in r] for r in rows]
    return "\n".join("| " + " | ".join(r) + " |" for r in rows)
