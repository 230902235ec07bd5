import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Waves(Dataset):
    def __init__(self, count, seed):
        generator = np.random.RandomState(seed)
        self.x = generator.uniform(-3, 3, size=(count, 1)).astype(np.float32)
        self.y = np.sin(self.x)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return torch.from_numpy(self.x[index]), torch.from_numpy(self.y[index])


class Regressor(nn.Module):
    def __init__(self, hidden=10):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.head(self.body(x))


class Trainer:
    def __init__(self, model, train_set, valid_set, epochs=4, batch_size=10, lr=0.05):
        self.model = model
        self.epochs = epochs
        self.train_loader = DataLoader(train_set, batch_size=batch_size, shuffle=True)
        self.valid_loader = DataLoader(valid_set, batch_size=batch_size)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, gamma=0.95)
        self.loss_fn = nn.MSELoss()

    def run_epoch(self):
        self.model.train()
        for x, y in self.train_loader:
            loss = self.loss_fn(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_value_(self.model.parameters(), 0.5)
            self.optimizer.step()
        self.scheduler.step()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        losses = [self.loss_fn(self.model(x), y).item() for x, y in self.valid_loader]
        return sum(losses) / len(losses)

    def fit(self):
        for _ in range(self.epochs):
            self.run_epoch()
            print(f"validation loss {self.validate():.4f}")


if __name__ == "__main__":
    Trainer(Regressor(), Waves(45, 0), Waves(20, 1)).fit()
