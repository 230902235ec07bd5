"""A wheel of scripts/wheel has the command inside, so that it is one for this kind of machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommandHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        if not (root / "neutra" / "_native").exists():
            return
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-linux_x86_64"
        build_data["shared_data"] = {str(root / "share"): "share"}  # manual pages and completions
