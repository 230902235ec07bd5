"""The command that a wheel brings inside the package. Nothing else is imported: a start costs little."""

from __future__ import annotations

import os

COMMAND = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_native", "bin", "neutra")


def bundled_command() -> str | None:
    """Its path; None where the package was installed without it."""
    return COMMAND if os.path.exists(COMMAND) else None


def environment() -> dict[str, str]:
    """What it is started with: NEUTRA_TORCH says where LibTorch is, which belongs to Python's torch."""
    variables = dict(os.environ)
    if "NEUTRA_TORCH" not in variables:
        import importlib.util

        found = importlib.util.find_spec("torch")  # doesn't import it
        folder = os.path.join(os.path.dirname(found.origin), "lib") if found and found.origin else ""
        if os.path.isdir(folder):
            variables["NEUTRA_TORCH"] = folder
    return variables
