"""Calls a function right after the script has imported a module."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

Hook = Callable[[ModuleType], None]


class ImportHooks(MetaPathFinder):
    """Finders of Python with functions behind some modules. A module that is there already has its function called at
    once. Used with `with`, it takes itself away at the end."""

    def __init__(self, hooks: Mapping[str, Hook]):
        self._hooks = dict(hooks)

    def __enter__(self) -> ImportHooks:
        for name in list(self._hooks):
            module = sys.modules.get(name)
            if module is not None:
                self._hooks.pop(name)(module)
        sys.meta_path.insert(0, self)
        return self

    def __exit__(self, *_: object) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, fullname: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The spec that the other finders have, with the function behind its loader."""
        if fullname not in self._hooks:
            return None
        spec = self._others(fullname, path, target)
        loader = spec.loader if spec else None
        if spec is None or loader is None or not hasattr(loader, "exec_module"):
            return spec
        plain = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module  # the loader is itself again, whatever happens
            plain(module)
            if (hook := self._hooks.pop(fullname, None)) is not None:
                hook(module)

        # A spec may only be looked at: the function waits for the module to run.
        loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec

    def _others(self, fullname: str, path: Any, target: ModuleType | None) -> ModuleSpec | None:
        for finder in sys.meta_path:
            if finder is not self and (spec := finder.find_spec(fullname, path, target)) is not None:
                return spec
        return None
