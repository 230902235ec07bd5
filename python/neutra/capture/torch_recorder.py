"""The recorder of PyTorch: installs itself once the script has imported torch, and imports nothing before."""

from __future__ import annotations

from types import ModuleType

from .calls import CallLog
from .recording import NotCaptured, Session


def install(session: Session, log: CallLog, torch: ModuleType) -> None:
    """Watches a torch that was just imported. Raises NotCaptured for versions without what this needs."""
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2] if part.isdigit())
    if version < (2, 0):
        raise NotCaptured(f"found torch {torch.__version__}; allowed: 2.0 and later")
    from .torch_watch import TorchRecorder

    TorchRecorder(session, log, torch).start()


#: Module of a framework -> what installs the recorder.
HOOKS = {"torch": install}
