"""The system's manager in a mount namespace of its own, with users of its own: for flow tests
that root runs."""
import subprocess
import sys

from manager import *

MORPH = 64900


class System(Manager):
    """morphd without --user, as root."""

    def start(self):
        self.log = open(self.place / "morphd.log", "a")
        self.p = subprocess.Popen([self.place / "bin/morphd", "-v", "-c",
                                   self.place / "policy.yaml"], stderr=self.log, env=self.env)
        self.wait("the system's manager answers", self.answers, 20)

    def answers(self):
        if self.p.poll() is not None:
            fail(f"morphd ended with {self.p.returncode}:\n{self.said()}")
        try:
            return self.get("/v1/status")
        except OSError:
            return None


def private_users(script):
    """This process's own /etc/passwd, with a user morph."""
    if os.geteuid() != 0:
        skip("needs root")
    if "MORPH_TEST_PRIVATE" not in os.environ:
        if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
            skip("needs a mount namespace of its own")
        os.environ["MORPH_TEST_PRIVATE"] = "1"
        os.execvp("unshare", ["unshare", "-m", sys.executable, script])
    with tempfile.NamedTemporaryFile("w", prefix="morph-passwd-") as f:
        f.write("".join(l for l in open("/etc/passwd") if not l.startswith("morph")))
        f.write(f"morph:x:{MORPH}:{MORPH}::/nonexistent:/usr/sbin/nologin\n")
        f.write(f"morph-edit:x:{MORPH + 1}:{MORPH + 1}::/nonexistent:/usr/sbin/nologin\n")
        f.flush()
        os.chmod(f.name, 0o644)
        if subprocess.run(["mount", "--bind", f.name, "/etc/passwd"]).returncode:
            skip("cannot mount")
