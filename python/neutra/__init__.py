"""Faulty deep-learning programs and all the small patches that repair them.

A thin layer over the command `neutra` and the files that it writes: tables are pandas frames, networks are
networkx graphs. The command is looked up in the argument `command`, the environment variable NEUTRA, in the
package itself, which has it where a wheel was installed, and in PATH.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import *  # noqa: F403
    from .capture.notebook import Capture as capture  # noqa: F401

__version__ = "0.1.0"  # that of the command


def __getattr__(name: str) -> Any:
    if name == "capture":
        return importlib.import_module(f"{__name__}.capture")
    # The first name that is asked for brings pandas and networkx: `python -m neutra` needs neither.
    try:
        api = importlib.import_module(f"{__name__}.api")
    except ModuleNotFoundError as error:
        if error.name not in ("h5py", "networkx", "numpy", "pandas"):
            raise
        raise ImportError(
            f"neutra.{name} needs {error.name}: pip install h5py networkx numpy pandas", name=error.name
        ) from None
    if name == "__all__" or name in api.__all__:
        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__getattr__("__all__"), "__version__", "capture"])
