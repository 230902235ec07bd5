"""Why a difference of two programs isn't in a patch."""

from __future__ import annotations

from .calls import At


class CannotChange(Exception):
    """A difference that the user's files can't show, with the place where it would have to be."""

    def __init__(self, reason: str, at: At | None = None):
        self.reason = reason
        self.at = at
        super().__init__(f"{at.file.name}:{at.place.line}: {reason}" if at is not None else reason)
