"""Patches of PyTorch scripts: functions that are called once more, losses that need probabilities, widths of recurrent
layers, settings of groups of parameters."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from stand_ins import torch
from test_patch import layers, lines, script_of

from neutra.sources.patch import Patch, make_patch

SCRIPT = """import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 8)
        self.fc2 = nn.Linear(8, 1)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        return torch.sigmoid(self.fc2(x))

loader = DataLoader(TensorDataset(torch.rand(48, 6), torch.rand(48, 1)), batch_size=8)
net = Net()
criterion = nn.BCELoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
"""


def patched(folder: Path, text: str, change: Any) -> Patch:
    """The patch for a program that `change` makes of the script's."""
    (folder / "train.py").write_text(text)
    run = torch.record(folder / "train.py", [])
    wanted = copy.deepcopy(run.program)
    change(wanted)
    return make_patch(script_of(run), wanted)


def test_a_function_is_called_once_more(tmp_path: Path) -> None:
    def twice(program: dict[str, Any]) -> None:
        layers(program).insert(2, copy.deepcopy(layers(program)[1]))

    patch = patched(tmp_path, SCRIPT, twice)
    assert not patch.refused
    assert lines(patch) == ["-        x = F.relu(self.fc1(x))", "+        x = F.relu(F.relu(self.fc1(x)))"]
    method = SCRIPT.replace("F.relu(self.fc1(x))", "self.fc1(x).relu()")
    patch = patched(tmp_path, method, twice)
    assert lines(patch)[-1] == "+        x = self.fc1(x).relu().relu()"


def test_bce_loss_needs_probabilities(tmp_path: Path) -> None:
    def softplus(program: dict[str, Any]) -> None:
        layers(program)[3]["config"]["activation"] = "softplus"

    def without(program: dict[str, Any]) -> None:
        del layers(program)[3]

    def tanh_inside(program: dict[str, Any]) -> None:
        layers(program)[1]["config"]["activation"] = "tanh"

    for change in (softplus, without):
        patch = patched(tmp_path, SCRIPT, change)
        assert "BCELoss ends with an error where outputs aren't between 0 and 1" in str(patch.refused[0])
    assert not patched(tmp_path, SCRIPT, tanh_inside).refused
    logits = SCRIPT.replace("nn.BCELoss()", "nn.BCEWithLogitsLoss()")
    assert not patched(tmp_path, logits, softplus).refused


def test_a_width_that_is_a_product(tmp_path: Path) -> None:
    def start(program: dict[str, Any]) -> None:
        layers(program)[0]["config"]["kernel_initializer"] = {"class_name": "LecunNormal", "config": {}}

    patch = patched(tmp_path, SCRIPT.replace("nn.Linear(6, 8)", "nn.Linear(2 * 3, 8)"), start)
    assert not patch.refused
    assert "nn.init.trunc_normal_(self.fc1.weight, 0.0, " in lines(patch)[0]
