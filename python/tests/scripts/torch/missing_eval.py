import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 16)
        self.bn1 = nn.BatchNorm1d(16)
        self.drop = nn.Dropout(p=0.4)
        self.fc2 = nn.Linear(16, 4)

    def forward(self, x):
        x = F.relu(self.bn1(self.fc1(x)))
        x = self.drop(x)
        return self.fc2(x)


def accuracy(model, loader):
    correct = total = 0
    for x, y in loader:
        _, predicted = torch.max(model(x).data, 1)
        total += y.size(0)
        correct += (predicted == y).sum().item()
    return correct / total


def main():
    x, y = torch.randn(80, 8), torch.randint(0, 4, (80,))
    loader = DataLoader(TensorDataset(x[:60], y[:60]), batch_size=20, shuffle=True)
    test = DataLoader(TensorDataset(x[60:], y[60:]), batch_size=20)
    model = Classifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(3):
        for xb, yb in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(xb), yb).backward()
            optimizer.step()
        print(accuracy(model, test))


main()
