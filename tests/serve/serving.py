"""Starts neutra serve for the checks of scripts/check_serve."""
import contextlib
import os
import signal
import subprocess

NEUTRA = os.environ["NEUTRA"]


class Serving:
    """The command on a folder; `url` without the slash at its end."""

    def __init__(self, folder, *options):
        self.process = subprocess.Popen([NEUTRA, "serve", str(folder), *options], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip().rstrip("/")
        self.port = int(self.url.rpartition(":")[2])

    def end(self):
        """Its exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        self.process.stdout.close()
        return code

    def __enter__(self):
        return self

    def __exit__(self, *error):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.end()
        self.process.kill()


def start_search(fault, store, evaluations):
    """A search with one worker; it may be ended at any time."""
    return subprocess.Popen([NEUTRA, "search", fault, "--store", str(store), "--budget-evaluations", str(evaluations), "--workers", "1", "--quiet"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
