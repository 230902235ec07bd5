from dataclasses import dataclass, field
from typing import List

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


@dataclass
class Config:
    hidden: List[int] = field(default_factory=lambda: [32, 16])
    lr: float = 3e-3
    weight_decay: float = 1e-4
    batch_size: int = 24
    epochs: int = 8
    smoothing: float = 0.1


class MLP(nn.Module):
    def __init__(self, n_in: int, hidden: List[int], n_out: int):
        super().__init__()
        layers: List[nn.Module] = []
        for width in hidden:
            layers += [nn.Linear(n_in, width), nn.BatchNorm1d(width), nn.ReLU(inplace=True)]
            n_in = width
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(n_in, n_out)

    def forward(self, x):
        return self.head(self.body(x))


class Trainer:
    def __init__(self, model: nn.Module, cfg: Config):
        self.model = model
        self.cfg = cfg
        self.criterion = nn.CrossEntropyLoss(label_smoothing=cfg.smoothing)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=cfg.epochs)

    def run_epoch(self, loader):
        self.model.train()
        running = 0.0
        for xb, yb in loader:
            logits = self.model(xb)
            loss = self.criterion(logits, yb)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            running += loss.item() * len(xb)
        self.scheduler.step()
        return running / len(loader.dataset)

    @torch.no_grad()
    def score(self, loader):
        self.model.eval()
        right = sum((self.model(xb).argmax(dim=1) == yb).sum().item() for xb, yb in loader)
        return right / len(loader.dataset)

    def fit(self, train, valid):
        for epoch in range(self.cfg.epochs):
            print(epoch, self.run_epoch(train), self.score(valid))


def main():
    cfg = Config()
    g = torch.Generator().manual_seed(5)
    x = torch.randn(300, 10, generator=g)
    y = (x[:, 0] + x[:, 1] > 0).long() + (x[:, 2] > 0.5).long()
    train, valid = random_split(TensorDataset(x, y), [240, 60], generator=torch.Generator().manual_seed(1))
    trainer = Trainer(MLP(10, cfg.hidden, 3), cfg)
    trainer.fit(DataLoader(train, cfg.batch_size, shuffle=True), DataLoader(valid, 60))


if __name__ == "__main__":
    main()
