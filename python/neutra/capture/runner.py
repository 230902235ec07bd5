"""Runs a script as `python SCRIPT ARGUMENTS` does, in this process, with recorders on the frameworks it imports."""

from __future__ import annotations

import builtins
import contextlib
import importlib.machinery
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType, TracebackType

from . import seeds
from .calls import CallLog
from .frames import is_users
from .hooks import Hook, ImportHooks
from .recording import EndOfCapture, Frame, NotCaptured, Session, shown_file

_OWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")

#: A recorder: installs itself for a session on a module that was just imported.
Recorder = Callable[[Session, CallLog, ModuleType], None]


@dataclass
class Outcome:
    """How a script ended: its exit code; `crash` is its exception in one line, with the place; `ended` says that it
    was ended at its first training step."""

    code: int
    crash: str | None = None
    ended: bool = False


def install(session: Session, recorders: Mapping[str, Recorder]) -> contextlib.ExitStack:
    """Recorders and watchers of seeds, on what is imported already and on what will be. Closing it takes them away."""
    log = CallLog()
    stack = contextlib.ExitStack()
    stack.callback(log.give_back)
    table: dict[str, Hook] = seeds.hooks(session, log)

    def both(recorder: Recorder, seed: Hook | None) -> Hook:
        def hook(module: ModuleType) -> None:
            recorder(session, log, module)
            if seed:
                seed(module)

        return hook

    for name, recorder in recorders.items():
        table[name] = both(recorder, table.get(name))
    stack.enter_context(ImportHooks(table))
    return stack


def run_script(
    script: str,
    arguments: Sequence[str],
    session: Session,
    recorders: Mapping[str, Recorder],
    finish: Callable[[Outcome], None] = lambda _: None,
) -> Outcome:
    """Runs a script to its end, or to its first training step, and calls `finish` with how it ended; also where the
    script ends the process itself with os._exit. Raises NotCaptured where there is no such script or its text is no
    Python."""
    path = os.path.abspath(script)
    code = _compiled(script, path)
    with tempfile.TemporaryFile() as children, install(session, recorders), _as_main(script, path, arguments) as main:
        session.watch_children(children.fileno())
        with _before_exit(lambda status: finish(Outcome(status))):
            outcome = _run(code, main, path)
        session.read_children()
        finish(outcome)
    return outcome


def _compiled(script: str, path: str) -> object:
    try:
        with open(path, "rb") as file:
            return compile(file.read(), path, "exec", dont_inherit=True)
    except OSError as error:
        raise NotCaptured(f"{script}: {error.strerror}; allowed: a Python script") from None
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        raise NotCaptured(f"found {error}; allowed: a Python script", Frame(script, line, "<module>")) from None


@contextlib.contextmanager
def _as_main(script: str, path: str, arguments: Sequence[str]) -> Iterator[ModuleType]:
    """A fresh __main__, sys.argv and sys.path[0], as Python sets them; the old ones come back."""
    main = ModuleType("__main__")
    main.__dict__.update(
        __builtins__=builtins,
        __file__=path,
        __cached__=None,
        __loader__=importlib.machinery.SourceFileLoader("__main__", path),
        __spec__=None,
        __package__=None,
    )
    kept = sys.modules.get("__main__"), sys.argv, sys.path[:]
    sys.modules["__main__"] = main
    sys.argv = [script, *arguments]
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    try:
        yield main
    finally:
        if kept[0] is not None:
            sys.modules["__main__"] = kept[0]
        sys.argv = kept[1]
        sys.path[:] = kept[2]


@contextlib.contextmanager
def _before_exit(finish: Callable[[int], None]) -> Iterator[None]:
    """os._exit of this process, not of a child, calls `finish` first."""
    plain = os._exit
    owner = os.getpid()

    def leave(status: int) -> None:
        if os.getpid() == owner:
            os._exit = plain
            finish(status)
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
        plain(status)

    os._exit = leave  # type: ignore[assignment]
    try:
        yield
    finally:
        os._exit = plain


def _run(code: object, main: ModuleType, path: str) -> Outcome:
    try:
        exec(code, main.__dict__)  # type: ignore[arg-type]
    except EndOfCapture:
        return Outcome(0, ended=True)
    except SystemExit as leaving:
        return _left(leaving)
    except KeyboardInterrupt:
        return Outcome(130, "it was interrupted")
    except BaseException as error:
        own = _users_part(error.__traceback__, path)
        sys.stdout.flush()
        sys.excepthook(type(error), error.with_traceback(own), own)
        lines = [line for line in traceback.extract_tb(own) if is_users(line.filename)]
        place = f"{shown_file(lines[-1].filename)}:{lines[-1].lineno}: " if lines else ""
        first_line = str(error).strip().partition("\n")[0]
        return Outcome(1, f"{place}{type(error).__name__}: {first_line}")
    return Outcome(0)


def _left(leaving: SystemExit) -> Outcome:
    """What sys.exit means: a number, nothing, or a text that goes to standard error."""
    if leaving.code is None:
        return Outcome(0)
    if isinstance(leaving.code, int):
        return Outcome(leaving.code & 0xFF)
    print(leaving.code, file=sys.stderr)
    return Outcome(1)


def _users_part(trace: TracebackType | None, path: str) -> TracebackType | None:
    """A traceback from the script on: without the lines of this package, in front of it and between."""
    here = trace
    while here is not None and here.tb_frame.f_code.co_filename != path:
        here = here.tb_next
    kept = []
    while here is not None:
        if not here.tb_frame.f_code.co_filename.startswith(_OWN):
            kept.append(here)
        here = here.tb_next
    for one, following in zip(kept, [*kept[1:], None]):
        one.tb_next = following
    return kept[0] if kept else trace
