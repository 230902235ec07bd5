import argparse
import logging
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import ExponentialLR
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level=logging.INFO, format="%(message)s")
logger = logging.getLogger(__name__)


class LeNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3)
        self.conv2 = nn.Conv2d(6, 12, 3)
        self.fc1 = nn.Linear(12 * 2 * 2, 32)
        self.fc2 = nn.Linear(32, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.relu(self.conv2(x))
        x = F.max_pool2d(x, 2)
        x = x.view(x.size(0), -1)
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=1)


class Trainer:
    def __init__(self, model, train_loader, valid_loader, lr, gamma, device):
        self.model = model.to(device)
        self.train_loader = train_loader
        self.valid_loader = valid_loader
        self.device = device
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.scheduler = ExponentialLR(self.optimizer, gamma=gamma)
        self.best = 0.0

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for data, target in self.train_loader:
            data, target = data.to(self.device), target.to(self.device)
            self.optimizer.zero_grad(set_to_none=True)
            output = self.model(data)
            loss = F.nll_loss(output, target)
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(self.train_loader)

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        correct = 0
        for data, target in self.valid_loader:
            output = self.model(data.to(self.device))
            pred = output.argmax(dim=1, keepdim=True)
            correct += pred.eq(target.to(self.device).view_as(pred)).sum().item()
        return correct / len(self.valid_loader.dataset)

    def fit(self, epochs):
        for epoch in range(1, epochs + 1):
            loss = self.train_epoch()
            accuracy = self.validate()
            self.scheduler.step()
            logger.info("epoch %d loss %.4f accuracy %.3f", epoch, loss, accuracy)
            self.best = max(self.best, accuracy)


def get_loaders(batch_size):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 300)
    x = rng.random((300, 1, 14, 14)).astype(np.float32)
    for c in range(3):
        x[y == c, :, 4 * c:4 * c + 4, :] += 0.5
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    train = TensorDataset(x[:240], y[:240])
    valid = TensorDataset(x[240:], y[240:])
    return DataLoader(train, batch_size, shuffle=True), DataLoader(valid, 60)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=20)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--gamma", type=float, default=0.9)
    parser.add_argument("--out", type=Path, default=None)
    args = parser.parse_args()
    train_loader, valid_loader = get_loaders(args.batch_size)
    trainer = Trainer(LeNet(3), train_loader, valid_loader, args.lr, args.gamma, torch.device("cpu"))
    trainer.fit(args.epochs)
