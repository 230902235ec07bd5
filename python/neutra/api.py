"""What `import neutra` offers."""

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
