"""The command line of capture with a recorder for the stand-in framework."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from neutra.capture.calls import CallLog
from neutra.capture.cli import main
from neutra.capture.frames import first, user_frames
from neutra.capture.recording import NotCaptured, Recording, Session, Site


def install(session: Session, log: CallLog, module: ModuleType) -> None:
    def wrap(plain: Callable[..., Any]) -> Callable[..., Any]:
        def fit(model: Any, x: Any, y: Any, epochs: int = 1) -> Any:
            frames = [frame for frame in user_frames() if frame.file != __file__]
            if session.is_child(first(frames)):
                return plain(model, x, y, epochs)
            if session.done:
                session.again("fit is called", first(frames))
                session.stop()
            elif model.units < 1:
                session.refused(NotCaptured(f"found {model.units} units; allowed: 1 or more", first(frames)))
            else:
                session.captured(recorded(model, x, y, epochs, Site("fit", "/fit", frames)))
            return plain(model, x, y, epochs)

        return fit

    log.watch_class(module.Model)
    log.replace(module.Model, "fit", wrap)


def recorded(model: Any, x: Any, y: Any, epochs: int, site: Site) -> Recording:
    import numpy

    layer = {"class_name": "Dense", "config": {"units": model.units}}
    program = {
        "format": "neutra-program",
        "version": 1,
        "model": {"class_name": "Sequential", "config": {"layers": [layer]}},
        "compile": {"optimizer": "sgd", "loss": "mse"},
        "fit": {"epochs": epochs},
        "data": {"test": "train"},
    }
    arrays = {"x": numpy.array(x, "float32"), "y": numpy.array(y, "float32")}
    return Recording("standframe 1", program, arrays, sites=[site])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], {"standframe": install}))
