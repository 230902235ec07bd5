"""Makes a program of a training script: it runs the script with recorders on its framework.

`python -m neutra.capture SCRIPT` on the command line; `with neutra.capture("fault.json") as c:` in a notebook, which is
why this module can be called.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .recording import NotCaptured

if TYPE_CHECKING:
    from .notebook import Capture


__all__ = ["NotCaptured"]


class _Callable(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Capture:
        """A Capture with these arguments, for `with`."""
        from .notebook import Capture

        return Capture(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
