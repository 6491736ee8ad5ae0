"""A server of artifacts by build-id on this machine, that may be as bad as a test wants it."""
import http.server
import os
import subprocess
import threading
import time

from manager import check, skip


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        s = self.server
        s.asked.append(self.path)
        what = s.files.get(self.path)
        if callable(what):
            what(self)
        elif what is None:
            self.send_error(404)
        else:
            self.answer(what)

    def answer(self, body, length=None):
        self.send_response(200)
        self.send_header("Content-Length", str(length or len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server:
    """files: path -> bytes, or what answers for it; asked: the paths, in order. With two keys."""

    def __init__(self, folder):
        if not any(os.access(d + "/minisign", os.X_OK) for d in os.environ["PATH"].split(":")):
            skip("no minisign here")
        self.folder = folder
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.files, self.asked = {}, []
        self.http.files, self.http.asked = self.files, self.asked
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        for key in "good", "bad":
            self.minisign("-G", "-W", "-p", key + ".pub", "-s", key + ".sec")
        self.key = open(os.path.join(folder, "good.pub")).read().split("\n")[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def minisign(self, *argv):
        r = subprocess.run(["minisign", *argv], cwd=self.folder, capture_output=True, text=True)
        check(r.returncode == 0, "minisign " + argv[0] + r.stderr)

    def put(self, ident, body, key="good"):
        """Serves it for this build-id, signed; the path."""
        with open(os.path.join(self.folder, "file"), "wb") as f:
            f.write(body)
        self.minisign("-S", "-s", key + ".sec", "-m", "file")
        path = f"/buildid/{ident}/morph"
        self.files[path] = body
        self.files[path + ".minisig"] = open(os.path.join(self.folder, "file.minisig"), "rb").read()
        return path

    def instead(self, path, what):
        self.files[path] = what

    @staticmethod
    def truncated(body):
        return lambda h: h.answer(body[:len(body) // 2], len(body))

    @staticmethod
    def moved(to):
        def answer(h):
            h.send_response(302)
            h.send_header("Location", to)
            h.end_headers()
        return answer

    @staticmethod
    def slow(h):
        """A byte now and then, without end."""
        h.send_response(200)
        h.end_headers()
        try:
            while True:
                h.wfile.write(b"S")
                h.wfile.flush()
                time.sleep(0.2)
        except OSError:
            pass
