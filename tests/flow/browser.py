"""A headless Chromium, asked by its DevTools protocol over a WebSocket (RFC 6455) of our own."""
import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time

from monitor import fail


class WebSocket:
    def __init__(self, port, path):
        self.s = socket.create_connection(("127.0.0.1", port), 60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.s.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            "Upgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        head = b""
        while b"\r\n\r\n" not in head:
            more = self.s.recv(1)
            if not more:
                fail("the browser closed its DevTools")
            head += more
        if b" 101 " not in head:
            fail(f"no WebSocket: {head}")

    def read(self, n):
        b = b""
        while len(b) < n:
            more = self.s.recv(n - len(b))
            if not more:
                fail("the browser closed its DevTools")
            b += more
        return b

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        n = len(data)
        size = (
            bytes([0x80 | n])
            if n < 126
            else b"\xfe" + struct.pack(">H", n)
            if n < 65536
            else b"\xff" + struct.pack(">Q", n)
        )
        self.s.sendall(b"\x81" + size + mask + bytes(c ^ mask[i & 3] for i, c in enumerate(data)))

    def receive(self):
        out = b""
        while True:
            first, n = self.read(2)
            n &= 127
            if n == 126:
                (n,) = struct.unpack(">H", self.read(2))
            elif n == 127:
                (n,) = struct.unpack(">Q", self.read(8))
            data = self.read(n)
            if first & 15 in (0, 1):
                out += data
                if first & 128:
                    return out.decode()


class Browser:
    """One tab. Raises AssertionError where the page's scripts do."""

    def __init__(self, width=1280, height=900):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if not program:
            raise FileNotFoundError("chromium")
        self.folder = tempfile.mkdtemp(prefix="morph-browser-")
        self.p = subprocess.Popen(
            [
                program,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-extensions",
                "--mute-audio",
                "--hide-scrollbars",
                f"--window-size={width},{height}",
                "--remote-debugging-port=0",
                f"--user-data-dir={self.folder}",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=dict(os.environ, HOME=self.folder),
        )
        port = int(self.port_file().split("\n")[0])
        self.ws = WebSocket(port, self.target(port))
        self.last, self.events = 0, []
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def port_file(self):
        end = time.time() + 60
        while time.time() < end:
            try:
                text = open(self.folder + "/DevToolsActivePort").read()
                if "\n" in text:
                    return text
            except FileNotFoundError:
                pass
            time.sleep(0.05)
        fail("chromium does not start")

    def target(self, port):
        import urllib.request

        for _ in range(100):
            for t in json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=30)):
                if t["type"] == "page":
                    return "/devtools/page/" + t["id"]
            time.sleep(0.05)
        fail("chromium has no page")

    def call(self, method, **params):
        self.last += 1
        self.ws.send(json.dumps({"id": self.last, "method": method, "params": params}))
        while True:
            m = json.loads(self.ws.receive())
            if m.get("id") == self.last:
                if "error" in m:
                    fail(f"{method}: {m['error']}")
                return m["result"]
            self.events.append(m)

    def eval(self, script):
        """The value of an expression, awaited."""
        r = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in r:
            fail(f"{script}: {r['exceptionDetails'].get('exception', {}).get('description', r)}")
        return r["result"].get("value")

    def wait(self, script, what, seconds=120):
        end = time.time() + seconds
        while time.time() < end:
            v = self.eval(f"Boolean({script})")
            if v:
                return v
            time.sleep(0.05)
        fail(
            f"{what}: not within {seconds} s; the page shows: "
            + self.eval("document.body.innerText")[:1500]
        )

    def go(self, url):
        self.call("Page.navigate", url=url)

    def size(self, width, height, scale=1, mobile=False):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=mobile,
        )

    def scheme(self, value):
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": value}],
        )

    def key(self, key, text=None):
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                **({"text": text} if text and kind == "keyDown" else {}),
            )

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def screenshot(self, path, **clip):
        r = self.call(
            "Page.captureScreenshot",
            format="png",
            **({"clip": dict(clip, scale=1)} if clip else {}),
        )
        with open(path, "wb") as f:
            f.write(base64.b64decode(r["data"]))

    def complaints(self):
        """What scripts threw and the console was told."""
        self.eval("0")
        out = []
        for m in self.events:
            p = m.get("params", {})
            if m.get("method") == "Runtime.exceptionThrown":
                out.append(
                    p["exceptionDetails"]
                    .get("exception", {})
                    .get("description", p["exceptionDetails"]["text"])
                )
            if m.get("method") == "Log.entryAdded" and p["entry"]["level"] == "error":
                out.append(p["entry"]["text"])
        return out

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.ws.send(json.dumps({"id": 0, "method": "Browser.close"}))
            self.p.wait(15)
        except (OSError, subprocess.TimeoutExpired):
            self.p.kill()
            self.p.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
