"""Watches calls of a framework: who made an object, with which arguments; methods that are wrapped and given back.

Nothing of a framework is imported here: classes come in as they are.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .frames import first, stack
from .recording import Frame, Site

_Parameter = inspect.Parameter
_OPEN = (_Parameter.VAR_POSITIONAL, _Parameter.VAR_KEYWORD)


@dataclass
class Call:
    """A call that the script made, directly or through a library: `arguments` has every argument by name, with the
    defaults of the callable, `given` those that the call passed, `through` the functions of libraries between the
    script's own line and the call."""

    name: str
    frames: list[Frame]
    arguments: dict[str, Any] = field(default_factory=dict)
    parameters: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    through: list[str] = field(default_factory=list)

    @property
    def direct(self) -> bool:
        """The script made the call itself: no function of a library stands between."""
        return not [name for name in self.through if name != "__new__"]

    @property
    def frame(self) -> Frame | None:
        """The innermost line of the user."""
        return first(self.frames)

    def site(self, path: str, arguments: dict[str, str]) -> Site:
        """As a site of a recording."""
        return Site(self.name, path, self.frames, arguments, self.parameters, self.given)


def bind(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], bound: bool = True
) -> tuple[dict[str, Any], list[str], list[str]]:
    """The arguments of a call by name with their defaults, the names of the positional parameters, and the names that
    were passed. `bound`: the first parameter (self) is not among `args`. A call that does not fit has what is named."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return dict(kwargs), [], list(kwargs)
    parameters = list(signature.parameters.values())
    if bound:
        parameters = parameters[1:]
    positional = [each.name for each in parameters if each.kind not in (*_OPEN, _Parameter.KEYWORD_ONLY)]
    try:
        found = signature.replace(parameters=parameters).bind(*args, **kwargs)
    except TypeError:
        return dict(kwargs), positional, list(kwargs)
    given = dict(found.arguments)
    found.apply_defaults()
    every = dict(found.arguments)
    for parameter in parameters:
        if parameter.kind == _Parameter.VAR_KEYWORD:
            every.update(every.pop(parameter.name, {}))
            given.update(given.pop(parameter.name, {}))
        elif parameter.kind == _Parameter.VAR_POSITIONAL:
            every.pop(parameter.name, None)
            given.pop(parameter.name, None)
    return every, positional, list(given)


#: Watched classes and who wants their calls. The watch stays in its place: Python cannot take a __new__ away again
#: (https://github.com/python/cpython/issues/49572).
_LOGS: dict[type, list[CallLog]] = {}
_WATCHED: set[type] = set()


def _watch(base: type, logs: list[CallLog], skip: tuple[type, ...]) -> None:
    plain: Any = base.__new__

    def made(cls: Any, *args: Any, **kwargs: Any) -> Any:
        instance = plain(cls) if plain is object.__new__ else plain(cls, *args, **kwargs)
        if logs and not issubclass(cls, skip):
            arguments, parameters, given = bind(cls.__init__, args, kwargs)
            frames, through = stack()
            call = Call(cls.__name__, frames, arguments, parameters, given, through)
            for log in logs:
                log.note(instance, call)
        return instance

    functools.update_wrapper(made, plain, assigned=("__doc__", "__name__", "__qualname__"), updated=())
    base.__new__ = staticmethod(made)  # type: ignore[assignment,method-assign]


class CallLog:
    """The calls that made objects, and what has to be given back at the end."""

    def __init__(self) -> None:
        self._calls: dict[int, tuple[Callable[[], Any], Call]] = {}
        self._undo: list[Callable[[], None]] = []

    def note(self, made: Any, call: Call) -> None:
        """Keeps the call that made an object, as long as the object lives."""
        key = id(made)
        try:
            self._calls[key] = (weakref.ref(made, lambda _: self._calls.pop(key, None)), call)
        except TypeError:
            self._calls[key] = ((lambda: made), call)

    def of(self, made: Any) -> Call | None:
        """The call that made an object; None where it was made before capture began."""
        found = self._calls.get(id(made))
        return found[1] if found and found[0]() is made else None

    def drop(self, made: Any) -> None:
        """Forgets the call that made an object: it was the capture's own."""
        self._calls.pop(id(made), None)

    def watch_class(self, base: type, skip: tuple[type, ...] = ()) -> None:
        """Keeps the call of every constructor of `base` and of its subclasses, but for those of `skip`."""
        logs = _LOGS.setdefault(base, [])
        if not logs and base not in _WATCHED:
            _WATCHED.add(base)
            _watch(base, logs, skip)
        logs.append(self)
        self._undo.append(lambda: logs.remove(self))

    def replace(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Puts `make(the old one)` in the place of an attribute of a class or module; nothing where it has none."""
        if not hasattr(owner, name):
            return
        old = getattr(owner, name)
        own = name in vars(owner)
        kept = vars(owner).get(name)
        new = make(old)
        functools.update_wrapper(new, old)
        setattr(owner, name, new)

        def back() -> None:
            if own:
                setattr(owner, name, kept)
            else:
                delattr(owner, name)

        self._undo.append(back)

    def give_back(self) -> None:
        """Takes all wrappers away, the last one first."""
        while self._undo:
            self._undo.pop()()
