"""What the tests of the page share: morph-web in a private folder, and a made-up manager of many
modules: docs/API.md over a Unix socket, one module of a million blocks, names that are markup.
As a program it serves that until Ctrl-C, for a look at the page: webmanager.py [FUNCTIONS]."""
import json
import math
import os
import random
import re
import shutil
import socketserver
import subprocess
import sys
import tempfile
import threading
import http.server
import urllib.parse

from monitor import check, fail
from webusage import Usage

BUILD = os.path.realpath(os.environ.get("MORPH_BUILD", "build"))
EVIL = "<img src=x onerror=document.title='owned'>\u001b[2J\u202egnp"
LINE = 64


def ident(i):
    return f"{0x1000000000000000 + i:016x}"


# ---- what it knows ----


def made_up_module(i, rnd):
    artifact = i % 10 != 9
    laid_out = artifact and i % 3 == 0
    samples = 4e6 / (i + 1) ** 1.1 if artifact else 0
    gain = rnd.gauss(0.04, 0.03)
    promised = gain + rnd.gauss(0, 0.015)
    path = f"/usr/lib/{'tools' if i % 2 else 'apps'}/program-{i:04d}"
    if i == 2:
        path = "/home/ann/bin/" + EVIL
    m = {
        "id": ident(i),
        "path": path,
        "uid": 1000,
        "state": "laid-out" if laid_out else "original" if artifact else "no-artifact",
        "text": "runs in its second layout"
        if laid_out
        else "runs as it was built"
        if artifact
        else "has no artifact",
        "build_id": f"{i + 7:040x}" if laid_out else f"{i:040x}",
        "origin": f"{i:040x}",
        "layout_at": "2026-03-02T10:00:00Z" if laid_out else None,
        "artifact": path + ".morph" if artifact else None,
        "first_seen": "2026-03-01T12:00:00Z",
        "last_seen": "2026-03-09T12:00:00Z",
        "held": None,
        "held_until": None,
        "samples": samples,
        "mapped": int(samples * 1.1),
        "stale": 0,
        "outside": 310,
        "mapped_share": 0.98,
        "rollback": laid_out,
        "fetch": None,
        "predicted": {
            "gain": promised,
            "low": promised - 0.008,
            "high": promised + 0.008,
            "missed": 0.004,
            "samples": samples,
            "taken_before": 812.5,
            "taken_after": 330.0,
            "at": "2026-03-02T09:59:00Z",
        }
        if artifact
        else None,
        "measured": None,
        "decision": decision(i, path) if artifact else None,
    }
    if laid_out:
        m["measured"] = {
            "by": "use",
            "randomised": True,
            "verdict": "faster",
            "gain": gain,
            "low": gain - 0.012,
            "high": gain + 0.012,
            "promised": promised,
            "model": promised + 0.01,
            "old": {"runs": 600, "crashes": 0, "cpu_s": 31.2, "cycles": None, "work": 0},
            "new": {"runs": 640, "crashes": 0, "cpu_s": 31.9, "cycles": None, "work": 0},
            "began": "2026-03-02T11:00:00Z",
            "ended": "2026-03-03T11:00:00Z",
            "text": f"gain {100 * gain:.1f} % over 1,240 runs",
        }
    return m


def decision(i, path):
    return {
        "at": "2026-03-09T12:00:00Z",
        "since": "2026-03-09T10:00:00Z",
        "times": 12,
        "module": ident(i),
        "path": path,
        "verdict": "wait",
        "rung": 5,
        "reason": "low-gain",
        "text": "gains 1.1 % more at most; 4 % are asked for",
    }


LADDER = [
    {"rung": r, "name": n, "outcome": "passed" if r < 5 else "stopped" if r == 5 else "not reached"}
    for r, n in enumerate(
        [
            "excluded",
            "held",
            "low-coverage",
            "taken-back",
            "low-gain",
            "cool-down",
            "budget",
            "busy",
        ],
        1,
    )
]
LADDER[2] |= {
    "text": "98 % of the samples are in functions that can be laid out",
    "value": 0.98,
    "limit": 0.5,
}
LADDER[4] |= {"text": "gains 1.1 % more at most; 4 % are asked for", "value": 0.011, "limit": 0.04}


def events(i):
    path = f"/usr/lib/apps/program-{i:04d}"
    rows = [
        ("2026-03-01T12:00:00Z", "learned", None),
        ("2026-03-02T10:00:00Z", "swapped", 0.051),
        ("2026-03-03T11:00:00Z", "measured", 0.043),
        ("2026-03-04T08:30:00Z", "rolled-back", None),
        ("2026-03-05T02:00:00Z", "failed", None),
        ("2026-03-06T02:00:00Z", "swapped", 0.047),
    ]
    return [
        {
            "at": at,
            "module": ident(i),
            "path": path,
            "event": kind,
            "from": "01",
            "to": "02",
            "change": None,
            "text": f"{kind}, by the policy",
            "samples": 15000.0,
            "gain": gain,
            "seconds": 2.4 if gain else None,
            "size_before": 290112 if gain else None,
            "size_after": 291008 if gain else None,
        }
        for at, kind, gain in reversed(rows)
    ]


class Program:
    """Functions of a program, what lies in each line in the order of the original, and by heat."""

    def __init__(self, functions, seed):
        rnd = random.Random(seed)
        self.functions = []
        for f in range(functions):
            hot = rnd.random() < 0.06
            self.functions.append(
                {
                    "name": EVIL
                    if f == 3
                    else f"{rnd.choice(['parse', 'walk', 'fold', 'emit', 'scan'])}_{f}",
                    "tu": f"unit{f // 40}.c",
                    "key": f"{f:032x}",
                    "lines": rnd.randint(4, 80),
                    "heat": math.exp(rnd.gauss(0, 1.8)) if hot else 0,
                }
            )
        order = range(functions)
        self.layout = {
            "original": self.lay_out([(f, False) for f in order], whole=True),
            "now": self.lay_out(
                [
                    (f, True)
                    for f in sorted(order, key=lambda f: -self.functions[f]["heat"])
                    if self.functions[f]["heat"]
                ]
                + [(f, False) for f in order],
                whole=False,
            ),
        }

    def lay_out(self, order, whole):
        """[(function, its line, samples)] for each line, three blocks in each."""
        lines = []
        for f, hot_part in order:
            x = self.functions[f]
            hot = [n for n in range(x["lines"]) if x["heat"] and (n * 2654435761 + f) % 100 < 35]
            if whole:
                lines += [
                    (f, n, x["heat"] * 40 / (1 + n % 7) if n in hot else 0)
                    for n in range(x["lines"])
                ]
            elif hot_part:
                lines += [(f, n, x["heat"] * 40 / (1 + n % 7)) for n in hot]
            else:
                lines += [(f, n, 0) for n in range(x["lines"]) if n not in hot]
        return lines

    def code(self, q):
        lines = self.layout[q.get("build", "now")]
        begin, end = 4096, 4096 + len(lines) * LINE
        start = max(begin, int(q.get("from", begin)) // LINE * LINE)
        to = min(end, -(-int(q.get("to", end)) // LINE) * LINE)
        first, last = (start - begin) // LINE, (to - begin) // LINE
        per = -(-(last - first) // int(q.get("lines", 1024))) or 1
        names, index = [], {}

        def name(f):
            if f not in index:
                index[f] = len(names)
                names.append({k: self.functions[f][k] for k in ("name", "tu", "key")})
            return index[f]

        cells = {"bytes": [], "samples": [], "function": []}
        for at in range(first, last, per):
            part = lines[at : min(at + per, last)]
            hottest = max(part, key=lambda x: x[2])
            cells["bytes"].append(LINE * len(part))
            cells["samples"].append(sum(x[2] for x in part))
            cells["function"].append(name(hottest[0]) if hottest[2] else None)
        answer = {
            "module": ident(0),
            "path": "/usr/lib/apps/program-0000",
            "build_id": "07",
            "begin": begin,
            "end": end,
            "from": start,
            "to": to,
            "cell": per * LINE,
            "samples": sum(x[2] for x in lines),
            "within": sum(cells["samples"]),
            "blocks_within": 3 * (last - first),
            "cells": cells,
            "functions": names,
            "blocks": None,
            "edges": [],
            "parts": self.parts(lines, begin, q.get("function")),
        }
        if last - first <= 682:
            answer["blocks"] = [
                {
                    "function": name(lines[n][0]),
                    "block": 3 * lines[n][1] + b,
                    "offset": begin + n * LINE + 21 * b,
                    "size": 22 if b == 2 else 21,
                    "samples": lines[n][2] * (0.5, 0.3, 0.2)[b],
                }
                for n in range(first, last)
                for b in range(3)
            ]
            answer["edges"] = [
                {
                    "function": x["function"],
                    "block": x["block"],
                    "to": to,
                    "outcomes": x["samples"] / 3,
                }
                for x in answer["blocks"]
                if x["samples"]
                for to in (x["block"] + 1, max(0, x["block"] * 5 % 31))
            ]
        return answer

    def parts(self, lines, begin, key):
        out = []
        for n, (f, _, _) in enumerate(lines if key else []):
            if self.functions[f]["key"] != key:
                continue
            if out and out[-1]["to"] == begin + n * LINE:
                out[-1]["to"] += LINE
            else:
                out.append({"from": begin + n * LINE, "to": begin + (n + 1) * LINE})
        return out[:64]

    def profile(self, q):
        sums = {}
        for f, _, samples in self.layout["now"]:
            sums[f] = sums.get(f, 0) + samples
        total = sum(sums.values())
        hottest = sorted((f for f in sums if sums[f]), key=lambda f: -sums[f])
        functions = []
        for f in hottest[: int(q.get("functions", 20))]:
            x = self.functions[f]
            functions.append(
                {
                    "name": x["name"],
                    "tu": x["tu"],
                    "key": x["key"],
                    "samples": sums[f],
                    "share": sums[f] / total,
                    "blocks": 3 * x["lines"],
                    "blocks_sampled": x["lines"],
                    "opaque": None,
                }
            )
            if q.get("blocks"):
                functions[-1]["hot"] = [
                    {
                        "block": b,
                        "samples": sums[f] / 2 ** (b + 1),
                        "share": 0.5 ** (b + 1),
                        "outcomes": 512.0,
                        "successors": [
                            {"block": b + 1, "share": 0.93},
                            {"block": 0, "share": 0.07},
                        ],
                    }
                    for b in range(min(int(q["blocks"]), 6))
                ]
                functions[-1]["callers"] = [
                    {"name": "main", "block": 3, "samples": 700.0, "share": 0.61}
                ]
        return {
            "module": ident(0),
            "path": "/usr/lib/apps/program-0000",
            "samples": total,
            "understood": total * 0.97,
            "functions_sampled": len(hottest),
            "functions_total": len(self.functions),
            "functions": functions,
        }


class Knowledge:
    def __init__(self, modules=1000, functions=8000):
        rnd = random.Random(1)
        self.modules = [made_up_module(i, rnd) for i in range(modules)]
        self.large, self.small = Program(functions, 1), Program(120, 2)
        self.asked = []
        self.usage = None

    def use(self, folder):
        """From now on there is a program that spends time, which is built in a folder."""
        self.usage = Usage(folder, EVIL)
        self.modules[1]["path"] = self.usage.program

    def status(self):
        return {
            "version": "0.1.0",
            "pid": 812,
            "mode": "user",
            "uid": 1000,
            "started": "2026-03-01T12:00:00Z",
            "now": "2026-03-09T12:00:00Z",
            "state_dir": "/",
            "policy": None,
            "monitor": {"connected": True, "source": "tick", "period_s": 0.004, "last_batch": None},
            "samples": {
                "taken": 91234,
                "mapped": 70111,
                "outside": 20901,
                "stale": 12,
                "dropped": 210,
                "outside_by": {},
            },
            "registers": {},
            "idle": {"idle": False, "text": "14 % of the processors idle, policy requires 70 %"},
            "working": None,
            "modules": len(self.modules),
        }

    def answer(self, path, q):
        """The result of a route, or None."""
        self.asked.append((path, q))
        if path == "/v1/status":
            return self.status()
        if path == "/v1/modules":
            return self.modules[: int(q.get("limit", 100))]
        if path == "/v1/files":
            return self.usage and self.usage.files(q)
        if path == "/v1/addresses":
            return self.usage and self.usage.addresses(q)
        if path == "/v1/history":
            return events(int(q["module"], 16) & 0xFFFF)
        m = re.fullmatch(r"/v1/modules/([0-9a-f]{16})(?:/(\w+))?", path)
        i = int(m[1], 16) - 0x1000000000000000 if m else -1
        if not 0 <= i < len(self.modules):
            return None
        program = self.small if i else self.large
        return {
            None: lambda: self.modules[i],
            "code": lambda: program.code(q),
            "profile": lambda: program.profile(q),
            "explain": lambda: {
                "module": self.modules[i],
                "decision": self.modules[i]["decision"],
                "ladder": LADDER,
            },
        }.get(m[2], lambda: None)()


# ---- the socket ----


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        try:
            result = self.server.knowledge.answer(url.path, dict(urllib.parse.parse_qsl(url.query)))
        except ValueError:
            result = None
        status = 200 if result is not None else 404
        text = isinstance(result, str)
        body = result.encode() if text else json.dumps(
            {"type": "sync", "status-code": 200, "result": result}
            if status == 200
            else {
                "type": "error",
                "status-code": 404,
                "result": {"kind": "not-found", "message": "no route"},
            }
        ).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain" if text else "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

    def address_string(self):
        return "unix"


class UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def serve(path, knowledge):
    server = UnixServer(path, Handler)
    server.knowledge = knowledge
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


# ---- morph-web ----


class Web:
    """morphctl web in a folder of its own, of the page's files or of those given."""

    def __init__(self, *options, files=None, knowledge=None, env=None):
        self.folder = tempfile.mkdtemp(prefix="morph-web-")
        for d in ("bin", "libexec"):
            shutil.copytree(os.path.join(BUILD, d), os.path.join(self.folder, d), symlinks=True)
        page = os.path.join(self.folder, "share/morph/web")
        if files is None:
            shutil.copytree(os.path.join(BUILD, "share/morph/web"), page)
        else:
            os.makedirs(page)
            for name, text in files.items():
                with open(os.path.join(page, name), "w") as f:
                    f.write(text)
        self.socket = os.path.join(self.folder, "api.sock")
        self.manager = serve(self.socket, knowledge) if knowledge else None
        self.log = os.path.join(self.folder, "hooks.log")
        env = dict(
            {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")},
            HOME=self.folder,
            MORPH_HOOKS_LOG=self.log,
            **(env or {}),
        )
        self.p = subprocess.Popen(
            [os.path.join(self.folder, "bin/morphctl"), "web", "--socket", self.socket, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
            cwd=self.folder,
        )
        self.url = None
        if "--listen" not in options:
            self.url = self.p.stdout.readline().strip()
            m = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})", self.url)
            check(
                m,
                f"a link is printed {'' if m else self.url + self.p.stderr.read()}",
            )
            self.port, self.token = int(m[1]), m[2]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.p.terminate()
        try:
            self.p.wait(20)
        except subprocess.TimeoutExpired:
            self.p.kill()
            fail("morphctl web does not end with SIGTERM")
        finally:
            self.p.stdout.close()
            self.p.stderr.close()
            if self.manager:
                self.manager.shutdown()
                self.manager.server_close()
            shutil.rmtree(self.folder, ignore_errors=True)


if __name__ == "__main__":
    made_up = Knowledge(functions=int(sys.argv[1]) if len(sys.argv) > 1 else 8000)
    with Web(knowledge=made_up) as web:
        made_up.use(web.folder)
        with open(web.log, "w") as f:
            for n in range(300):
                f.write(
                    json.dumps(
                        {
                            "time": "2026-11-21T05:10:00Z",
                            "tool": "ld",
                            "output": f"/src/prog{n}",
                            "reason": "crt1.o: kept as an object: "
                            + (EVIL if n == 5 else "no map"),
                        }
                    )
                    + "\n"
                )
        print(web.url, flush=True)
        web.p.wait()
