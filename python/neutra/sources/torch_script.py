"""Changes of a PyTorch script."""

from __future__ import annotations

from .keras_script import KerasScript


class TorchScript(KerasScript):
    pass
