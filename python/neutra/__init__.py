"""Faulty deep-learning programs and all the small patches that repair them.

A thin layer over the command `neutra` and the files that it writes: tables are pandas frames, networks are
networkx graphs. The command is looked up in the argument `command`, the environment variable NEUTRA and PATH.
"""

from . import bench
from .command import ExitCode, NeutraError, find_command, run
from .external_tool import Answer, Message, Suspect, Tool, tool
from .searches import Search, Status, search, start_search, status, watch
from .store import Run
from .verbs import (
    Localisation,
    faults,
    localise,
    mutate,
    network,
    operators,
    score,
    show,
    subjects,
    tools,
    train,
    version,
)

__version__ = "0.1.0"  # that of the command
__all__ = [
    "Answer",
    "ExitCode",
    "Localisation",
    "Message",
    "NeutraError",
    "Run",
    "Search",
    "Status",
    "Suspect",
    "Tool",
    "bench",
    "faults",
    "find_command",
    "localise",
    "mutate",
    "network",
    "operators",
    "run",
    "score",
    "search",
    "show",
    "start_search",
    "status",
    "subjects",
    "tool",
    "tools",
    "train",
    "version",
    "watch",
]
