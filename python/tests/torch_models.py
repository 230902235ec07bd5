"""Scripts with one model each, so that every layer and optimiser of PyTorch that is captured is trained once."""

from __future__ import annotations

_TEXT = """import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)
{kind}
x = {x}
y = {y}
model = {model}
optimizer = torch.optim.{optimizer}
criterion = nn.{loss}
for epoch in range(20):
    for i in range(0, len(x), 8):
        optimizer.zero_grad()
        loss = criterion(model(x[i : i + 8]), y[i : i + 8])
        loss.backward()
        optimizer.step()
"""

_IMAGES = "torch.randn(24, 3, 9, 9)"
_STEPS = "torch.randn(24, 7, 3)"

#: Layers in a row: name -> (layers, rows).
_ROWS = {
    "padding": (
        "nn.Conv2d(3, 4, 5, padding=2, stride=2), nn.Tanh(), nn.MaxPool2d(3, stride=2, padding=1), nn.Flatten(), "
        "nn.Linear(36, 2)",
        _IMAGES,
    ),
    "averages": (
        "nn.Conv2d(3, 4, 3, padding='same', bias=False), nn.SiLU(), nn.AvgPool2d(3, stride=2, padding=1), "
        "nn.Conv2d(4, 6, 2, dilation=2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 2)",
        _IMAGES,
    ),
    "ceil_mode": (
        "nn.Conv2d(3, 4, 1), nn.ReLU(), nn.MaxPool2d(2, ceil_mode=True), nn.Dropout2d(0.0), "
        "nn.AvgPool2d(2, ceil_mode=True), nn.Flatten(), nn.Linear(36, 5), nn.PReLU(), nn.Linear(5, 2)",
        _IMAGES,
    ),
    "groups": (
        "nn.Conv2d(3, 6, 3, groups=3), nn.BatchNorm2d(6), nn.LeakyReLU(), nn.AdaptiveMaxPool2d((1, 1)), nn.Flatten(), "
        "nn.LayerNorm(6), nn.GELU(), nn.Linear(6, 2)",
        _IMAGES,
    ),
    "upsampling": (
        "nn.Conv2d(3, 4, 3, stride=2), nn.SELU(), nn.Upsample(scale_factor=2), "
        "nn.ConvTranspose2d(4, 3, 4, stride=2, padding=1), nn.Upsample(scale_factor=2, mode='bilinear'), nn.ReLU6(), "
        "nn.AdaptiveAvgPool2d((4, 4)), nn.Flatten(), nn.Linear(48, 2)",
        _IMAGES,
    ),
    "pads": (
        "nn.Conv2d(3, 5, 3), nn.Softsign(), nn.ZeroPad2d((1, 2, 0, 1)), nn.MaxPool2d(2), nn.PReLU(5), nn.Flatten(), "
        "nn.Linear(100, 2)",
        _IMAGES,
    ),
    "steps": (
        "nn.Conv1d(3, 4, 3, padding=1), nn.ELU(0.5), nn.MaxPool1d(2), nn.Conv1d(4, 5, 2), nn.AvgPool1d(2), "
        "nn.Flatten(), nn.Linear(10, 2)",
        "torch.randn(24, 3, 11)",
    ),
    "flat_images": ("nn.Flatten(), nn.Linear(243, 6), nn.Softmax(dim=1), nn.Linear(6, 2)", _IMAGES),
}

#: Modules with a forward: name -> (members, forward, rows).
_MODULES = {
    "pooled": (
        "self.conv1 = nn.Conv2d(3, 4, 3); self.conv2 = nn.Conv2d(4, 5, 1); self.pool = nn.MaxPool2d(2, 2); "
        "self.fc = nn.Linear(5, 2)",
        "x = F.adaptive_avg_pool2d(self.pool(F.relu(self.conv1(x))), 1); x = F.softplus(self.conv2(x)); "
        "return self.fc(x.mean(dim=[2, 3]))",
        _IMAGES,
    ),
    "views": (
        "self.conv = nn.Conv2d(2, 4, 3); self.fc = nn.Linear(36, 2)",
        "x = ((x / 2 + 0.5) * 1.5).view(-1, 2, 5, 5); x = torch.sigmoid(self.conv(x)); "
        "return self.fc(F.leaky_relu(x.reshape(x.shape[0], -1), 0.2))",
        "torch.randn(24, 50)",
    ),
    "one_channel": (
        "self.conv = nn.Conv2d(1, 4, 3); self.fc = nn.Linear(36, 2)",
        "x = F.silu(self.conv(x.view(-1, 5, 5).unsqueeze(1))); return self.fc(torch.flatten(x, start_dim=1))",
        "torch.randn(24, 25)",
    ),
    "lstm": (
        "self.rnn = nn.LSTM(3, 5, batch_first=True, bias=False); self.fc = nn.Linear(5, 2)",
        "out, _ = self.rnn(x, (torch.zeros(1, len(x), 5), torch.zeros(1, len(x), 5))); return self.fc(out[:, -1, :])",
        _STEPS,
    ),
    "two_lstms": (
        "self.one = nn.LSTM(3, 5, batch_first=True, bias=False); "
        "self.two = nn.LSTM(5, 4, batch_first=True, bias=False); self.fc = nn.Linear(4, 2)",
        "x, _ = self.one(x); _, (h, c) = self.two(x); return self.fc(h[-1])",
        _STEPS,
    ),
    "biased_lstm": (
        "self.rnn = nn.LSTM(3, 5, batch_first=True); self.fc = nn.Linear(5, 2)",
        "return self.fc(self.rnn(x)[1][0][-1])",
        _STEPS,
    ),
    "stacked": (
        "self.rnn = nn.LSTM(3, 5, num_layers=2, batch_first=True); self.again = nn.GRU(5, 4, 2, batch_first=True); "
        "self.fc = nn.Linear(4, 2)",
        "x, _ = self.rnn(x); _, h = self.again(x); return self.fc(h[1])",
        _STEPS,
    ),
    "biased_rnn": (
        "self.rnn = nn.RNN(3, 5, batch_first=True); self.fc = nn.Linear(5, 2)",
        "return self.fc(self.rnn(x)[0][:, -1])",
        _STEPS,
    ),
    "gru": (
        "self.rnn = nn.GRU(3, 5, batch_first=True); self.fc = nn.Linear(5, 2)",
        "out, hidden = self.rnn(x); return self.fc(out[:, -1])",
        _STEPS,
    ),
    "rnn": (
        "self.rnn = nn.RNN(3, 5, batch_first=True, bias=False, nonlinearity='relu'); self.fc = nn.Linear(5, 2)",
        "return self.fc(self.rnn(x)[1].squeeze(0))",
        _STEPS,
    ),
    "embedding": (
        "self.table = nn.Embedding(20, 5); self.norm = nn.LayerNorm(5); self.fc = nn.Linear(5, 2)",
        "return self.fc(self.norm(self.table(x)).mean(1))",
        "torch.randint(0, 20, (24, 6))",
    ),
}

_OPTIMISERS = {
    "momentum": "SGD(model.parameters(), lr=0.01, momentum=0.9, nesterov=True)",
    "adam": "Adam(model.parameters(), lr=0.01)",
    "amsgrad": "Adam(model.parameters(), lr=0.01, amsgrad=True)",
    "adamw": "AdamW(model.parameters(), weight_decay=0)",
    "rmsprop": "RMSprop(model.parameters(), lr=0.001)",
    "centered": "RMSprop(model.parameters(), lr=0.001, centered=True)",
    "adagrad": "Adagrad(model.parameters(), lr=0.01, lr_decay=0.1)",
    "adadelta": "Adadelta(model.parameters())",
    "adamax": "Adamax(model.parameters())",
    "nadam": "NAdam(model.parameters())",
}

_LOSSES = {
    "log_softmax": ("nn.Linear(4, 3), nn.LogSoftmax(dim=-1)", "torch.randint(0, 3, (24,))", "NLLLoss()"),
    "smooth": ("nn.Linear(4, 3)", "torch.randn(24, 3)", "SmoothL1Loss()"),
    "absolute": ("nn.Linear(4, 3)", "torch.randn(24, 3)", "L1Loss()"),
    "logits": ("nn.Linear(4, 2)", "torch.randint(0, 2, (24, 2)).float()", "BCEWithLogitsLoss()"),
    "two_sigmoids": ("nn.Linear(4, 1), nn.Sigmoid()", "torch.randint(0, 2, (24, 1)).float()", "BCEWithLogitsLoss()"),
    "probabilities": ("nn.Linear(4, 3)", "torch.rand(24, 3).softmax(1)", "CrossEntropyLoss()"),
    "class_weights": (
        "nn.Linear(4, 3)",
        "torch.randint(0, 3, (24,))",
        "CrossEntropyLoss(weight=torch.tensor([0.5, 2.0, 1.3]))",
    ),
    "class_weights_summed": (
        "nn.Linear(4, 3), nn.LogSoftmax(dim=1)",
        "torch.randint(0, 3, (24,))",
        "NLLLoss(weight=torch.tensor([0.5, 2.0, 1.3]), reduction='sum')",
    ),
    "pos_weight": (
        "nn.Linear(4, 1)",
        "torch.randint(0, 2, (24, 1)).float()",
        "BCEWithLogitsLoss(pos_weight=torch.tensor([3.0]))",
    ),
}


def scripts() -> dict[str, str]:
    """The text of each script by name."""
    sgd = "SGD(model.parameters(), lr=0.01)"
    plain = {"kind": "", "y": "torch.randn(24, 2)", "optimizer": sgd, "loss": "MSELoss()", "x": "torch.randn(24, 4)"}
    found = {}
    for name, (layers, rows) in _ROWS.items():
        found[f"row_{name}"] = _TEXT.format(**{**plain, "model": f"nn.Sequential({layers})", "x": rows})
    for name, (members, forward, rows) in _MODULES.items():
        kind = (
            "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        "
            f"{members}\n\n    def forward(self, x):\n        {forward}\n"
        )
        found[f"module_{name}"] = _TEXT.format(**{**plain, "model": "Net()", "x": rows, "kind": kind})
    model = "nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))"
    for name, optimizer in _OPTIMISERS.items():
        found[f"optimiser_{name}"] = _TEXT.format(**{**plain, "model": model, "optimizer": optimizer})
    for name, (layers, targets, loss) in _LOSSES.items():
        values = {**plain, "model": f"nn.Sequential({layers})", "y": targets, "loss": loss}
        found[f"loss_{name}"] = _TEXT.format(**values)
    lstm = {
        "kind": found["module_biased_lstm"].partition("seed(1)\n")[2].partition("\nx = ")[0],
        "model": "Net()",
        "x": _STEPS,
    }
    adam = "Adam(model.parameters(), lr=0.01)"
    found["module_biased_lstm_adam"] = _TEXT.format(**{**plain, **lstm, "optimizer": adam})
    return found
