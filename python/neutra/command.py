"""Calls the command `neutra` and reads the JSON that it prints."""

from __future__ import annotations

import contextlib
import enum
import json
import logging
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any, Union

from .bundled import bundled_command, environment

PathLike = Union[str, "os.PathLike[str]"]
#: A value of an option: True sets a flag, a sequence gives all of its values, None leaves it out.
Option = Union[None, bool, int, float, PathLike, Sequence[Union[int, float, PathLike]]]

#: Options that take the words on and off; every other bool is a flag.
ON_OFF = frozenset(("curtail", "early", "patches", "reuse_epochs", "share_identical", "skip_dead", "speculate"))

#: Options that take their values in one word, with commas between them; others are given several times.
LISTS = frozenset(("rows", "sizes"))

_log = logging.getLogger("neutra")
_forbidden: str | None = None  # why nothing may be called now


class ExitCode(enum.IntEnum):
    """What the command ends with (docs/reference/exit_codes.md)."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    BAD_INPUT = 3
    INTERRUPTED = 75


class NeutraError(Exception):
    """The command can't be found, or failed.

    `message` is what it said, `code` its exit code (above 128: killed by signal code - 128; None: it didn't
    run), `command` its words.
    """

    def __init__(self, message: str, code: int | None = None, command: Sequence[str] = ()):
        super().__init__(message if code is None else f"{message} (exit code {code})")
        self.message = message
        self.code = code
        self.command = list(command)


def find_command(command: PathLike | None = None) -> str:
    """The path of the command: `command` if given, else that of the environment variable NEUTRA, else the
    one that came with the package, else the one in PATH. Raises NeutraError where there is none."""
    named = os.environ.get("NEUTRA")
    for place, wanted in (("command", command), ("NEUTRA", named)):
        if wanted:
            found = shutil.which(os.path.expanduser(wanted))
            if found is None or starts_this_package(found):
                raise NeutraError(
                    f"{place}: found {os.fspath(wanted)}; allowed: the command, a program that can be started"
                )
            return os.path.abspath(found)
    found = bundled_command() or _in_path()
    if found is None:
        raise NeutraError(
            "no command neutra in PATH; name it in the environment variable NEUTRA or in the argument command"
        )
    return os.path.abspath(found)


def _in_path() -> str | None:
    """The first command in PATH that is not the start script of this package, which would look for it again."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found = shutil.which("neutra", path=folder) if folder else None
        if found and not starts_this_package(found):
            return found
    return None


def starts_this_package(file: str) -> bool:
    """Is it the script that pip makes for neutra.__main__?"""
    try:
        with open(file, "rb") as script:
            return b"neutra.__main__" in script.read(4096)
    except OSError:
        return False


def option_words(options: dict[str, Option]) -> list[str]:
    """Words of the command line: budget_time="2h" becomes --budget-time=2h. A trailing underscore is dropped,
    as in as_="fault", and so are flags that are False."""
    words = []
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is None or (value is False and name not in ON_OFF):
            continue
        if value is True and name not in ON_OFF:
            words.append(flag)
        elif isinstance(value, bool):
            words.append(f"{flag}={'on' if value else 'off'}")
        elif isinstance(value, (list, tuple)) and name.rstrip("_") in LISTS:
            words.append(f"{flag}={','.join(map(str, value))}")
        elif isinstance(value, (list, tuple)):
            words += [f"{flag}={item}" for item in value]
        else:
            words.append(f"{flag}={value}")
    return words


@contextlib.contextmanager
def forbidden(reason: str) -> Iterator[None]:
    """No command can be called inside: NeutraError with this reason."""
    global _forbidden
    _forbidden = reason
    try:
        yield
    finally:
        _forbidden = None


class Call:
    """The command at work.

    It reads nothing from standard input; what it prints goes to temporary files, so that it never waits for
    a reader.
    """

    def __init__(
        self,
        verb: str,
        words: Sequence[PathLike],
        options: dict[str, Option],
        command: PathLike | None,
    ):
        if _forbidden:
            raise NeutraError(_forbidden)
        # A form that is asked for is not JSON; --version takes nothing beside --json.
        self._json = options.get("format", "json") == "json"
        flags = option_words(options) + ["--json"] * self._json + ["--quiet"] * (verb != "--version")
        names = [os.fspath(word) for word in words]
        # A file's name may look like an option.
        named_like_one = any(name.startswith("-") for name in names)
        rest = [*flags, "--", *names] if named_like_one else [*names, *flags]
        self._words = [find_command(command), verb, *rest]
        self._texts: tuple[str, str] | None = None
        with contextlib.ExitStack() as files:
            self._out = files.enter_context(tempfile.TemporaryFile())
            self._err = files.enter_context(tempfile.TemporaryFile())
            try:
                self._process = subprocess.Popen(
                    self._words,
                    stdin=subprocess.DEVNULL,
                    stdout=self._out,
                    stderr=self._err,
                    env=environment() if self._words[0] == bundled_command() else None,
                )
            except OSError as error:
                raise NeutraError(f"{self._words[0]}: {error.strerror}", command=self._words) from None
            files.pop_all()

    @property
    def code(self) -> int | None:
        """Its exit code, below 0 for a signal; None while it runs."""
        return self._process.poll()

    def wait(self, seconds: float) -> bool:
        """Waits until it has ended, at most so long. Has it?"""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _end(self) -> None:
        # Without a limit, a signal just before the wait would be seen only after it.
        while not self.wait(60):
            pass

    def stop(self) -> None:
        """Has it save what can go on later, and waits for its end. An exception meanwhile kills it."""
        # A Ctrl-C may have reached it already: a second SIGINT would end it at once, SIGUSR2 doesn't.
        if self.code is None:
            self._process.send_signal(signal.SIGUSR2)
        try:
            self._end()
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise
        finally:
            self._printed()

    def _printed(self) -> tuple[str, str]:
        """Standard output and error, after its end."""
        if self._texts is None:
            with self._out, self._err:
                for file in (self._out, self._err):
                    file.seek(0)
                out, err = (file.read().decode("utf-8", "replace") for file in (self._out, self._err))
            self._texts = out.strip(), err.strip()
        return self._texts

    def result(self) -> Any:
        """What it printed, read from JSON unless another format is asked for; None if nothing. Waits for its end;
        an exception meanwhile, such as KeyboardInterrupt, stops it. Raises NeutraError where it failed."""
        try:
            self._end()
        except BaseException:
            self.stop()
            raise
        out, err = self._printed()
        code = self._process.returncode
        # With exit code 1 and a result, the result says what wasn't as it should be.
        if code == ExitCode.DONE or (code == ExitCode.FAILED and out):
            for line in err.splitlines():
                _log.warning("%s", line)
            try:
                return json.loads(out) if self._json and out else out or None
            except json.JSONDecodeError as error:
                raise NeutraError(f"{self._words[0]}: what it printed is no JSON: {error}", code, self._words) from None
        if code < 0:
            code = 128 - code
            err = err or f"killed by signal {code - 128}"
        elif code == ExitCode.INTERRUPTED:
            err = err or "interrupted; the same call goes on from what is saved"
        message = "\n".join(line.removeprefix("neutra: error: ") for line in err.splitlines())
        raise NeutraError(message or "it failed and said nothing", code, self._words)


def run(verb: str, *words: PathLike, command: PathLike | None = None, **options: Option) -> Any:
    """Runs `neutra VERB WORDS --json` and returns what it printed, read from JSON; with format="tsv" and the
    like the text itself.

    Options are those of the command with underscores for hyphens: run("train", "D7", replicas=3). Raises
    NeutraError where the command fails; a result that comes with exit code 1 (a run of a tool broke, a
    threshold was not met) is returned, since it says so itself. Warnings go to the logger "neutra".
    """
    return Call(verb, words, options, command).result()
