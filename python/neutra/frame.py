"""Frames that show their useful columns whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import pandas as pd


class Frame(pd.DataFrame):
    """A pandas frame that prints the columns that tell most, each of them whole, and names the others below.

    Only what is printed differs: all columns are there. A frame that lacks one of the columns to print, since
    others were picked of it, prints all that it has. `pd.DataFrame(frame)` prints as pandas does."""

    _metadata: ClassVar[list[str]] = ["printed"]  # goes over to what is made of a frame
    printed: tuple[str, ...]

    @property
    def _constructor(self) -> Callable[..., Frame]:
        return Frame

    def __repr__(self) -> str:
        # pandas cuts texts at 50 characters and leaves out columns in the middle.
        with pd.option_context("display.max_colwidth", None, "display.max_columns", None, "display.width", 1000):
            text = repr(pd.DataFrame(self[self._columns_to_print()]))
        rest = self._rest()
        return f"{text}\n{rest}" if rest else text

    def _repr_html_(self) -> str:
        with pd.option_context("display.max_colwidth", None, "display.max_columns", None):
            html: Any = pd.DataFrame(self[self._columns_to_print()])._repr_html_()  # type: ignore[operator]
        rest = self._rest()
        return f"{html}<p>{rest}</p>" if rest else str(html)

    def _columns_to_print(self) -> list[Any]:
        printed = getattr(self, "printed", ())
        whole = bool(printed) and all(name in self.columns for name in printed)
        return list(printed) if whole else list(self.columns)

    def _rest(self) -> str:
        shown = set(self._columns_to_print())
        rest = [str(name) for name in self.columns if name not in shown]
        return f"columns that are not printed: {', '.join(rest)}" if rest else ""


def frame_of(data: Any, printed: Sequence[str] = ()) -> Frame:
    """A frame of `data`, as pandas takes it, which prints those of the columns `printed` that it has; none
    named: all."""
    frame = Frame(data)
    frame.printed = tuple(name for name in printed if name in frame.columns)
    return frame
