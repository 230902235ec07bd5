"""The command that a wheel brings inside the package. Nothing else is imported: a start costs little."""

from __future__ import annotations

import os

NATIVE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_native")
COMMAND = os.path.join(NATIVE, "bin", "neutra")
#: The release of torch ("2.15") that the eager back end inside is built for; no file: it isn't inside.
TORCH = os.path.join(NATIVE, "torch")


def bundled_command() -> str | None:
    """Its path; None where the package was installed without it."""
    return COMMAND if os.path.exists(COMMAND) else None


def environment() -> dict[str, str]:
    """What it is started with: NEUTRA_TORCH says where LibTorch is, in Python's torch if that is of the release
    that the eager back end is built for."""
    variables = dict(os.environ)
    if "NEUTRA_TORCH" not in variables and os.path.exists(TORCH):
        import importlib.metadata
        import importlib.util

        with open(TORCH, encoding="ascii") as file:
            release = file.read().strip()
        found = importlib.util.find_spec("torch")  # doesn't import it
        if found and found.origin and importlib.metadata.version("torch").startswith(release + "."):
            variables["NEUTRA_TORCH"] = os.path.join(os.path.dirname(found.origin), "lib")
    return variables
