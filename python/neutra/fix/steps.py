"""Runs the steps of a fix: each is a process, which is told to save and end where this one is."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

from ..command import ExitCode, NeutraError, find_command

_POLL = 0.05  # seconds


class Interrupted(BaseException):
    """Somebody asked this process to end."""


class Failed(Exception):
    """A step failed; it has said why. `code` is the exit code of the whole."""

    def __init__(self, code: int, message: str = ""):
        super().__init__(message)
        self.code = code
        self.message = message


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP raise Interrupted inside; those that are ignored stay ignored."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise Interrupted

    before = {}
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def say(text: str) -> None:
    """A line of ours, on standard error."""
    print(f"neutra: {text}", file=sys.stderr, flush=True)


def run_process(
    words: Sequence[str], *, limit: float | None = None, wakes: bool = False, **streams: Any
) -> subprocess.CompletedProcess[bytes]:
    """Runs a process to its end. After `limit` seconds, and where this process is interrupted, it is told to save and
    end; `wakes`: by SIGUSR2, since a Ctrl-C of a terminal has reached it already. Raises Interrupted."""
    begin = time.monotonic()
    interrupted = False
    told = False
    with subprocess.Popen(list(words), **streams) as process:
        while True:
            try:
                late = limit is not None and time.monotonic() - begin > limit
                if (late or interrupted) and not told:
                    told = True
                    process.send_signal(signal.SIGUSR2 if wakes else signal.SIGINT)
                out, _ = process.communicate(timeout=_POLL if not told and limit is not None else 1)
                break
            except subprocess.TimeoutExpired:
                continue
            except Interrupted:
                if interrupted:
                    process.kill()
                interrupted = True
    if interrupted:
        raise Interrupted
    return subprocess.CompletedProcess(list(words), process.returncode, out or b"")


def call(verb: str, *words: str, quiet: bool, limit: float | None = None) -> tuple[int, Any]:
    """Runs a verb of the command with --json, with its progress on standard error. Returns its exit code and what it
    printed, None where it printed nothing."""
    all_words = [find_command(), verb, *words, "--json", *(["--quiet"] if quiet else [])]
    done = run_process(all_words, limit=limit, wakes=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    text = done.stdout.decode("utf-8", "replace")
    try:
        return done.returncode, json.loads(text) if text.strip() else None
    except ValueError:
        raise NeutraError(f"what neutra {verb} printed is no JSON", done.returncode, all_words) from None


def needed(verb: str, *words: str, quiet: bool) -> Any:
    """The same for a step without which nothing goes on. Raises Failed."""
    return checked(verb, *call(verb, *words, quiet=quiet))


def checked(verb: str, code: int, found: Any) -> Any:
    """What a verb printed, if it did its work. Raises Failed, Interrupted."""
    if code == ExitCode.INTERRUPTED:
        raise Interrupted
    if code != ExitCode.DONE or found is None:
        raise Failed(code if code > 0 else ExitCode.FAILED, f"neutra {verb} failed")
    return found
