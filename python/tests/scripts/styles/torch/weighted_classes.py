import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import Dataset, DataLoader

np.random.seed(7)
torch.manual_seed(7)


class TabularDataset(Dataset):
    def __init__(self, X, y):
        self.X = torch.from_numpy(X).float()
        self.y = torch.from_numpy(y).long()

    def __len__(self):
        return len(self.X)

    def __getitem__(self, i):
        return self.X[i], self.y[i]


X = np.random.randn(400, 9)
y = ((X[:, 0] + 0.5 * X[:, 1]) > 1.0).astype(int)
mean, std = X[:300].mean(0), X[:300].std(0)
X = (X - mean) / std
counts = np.bincount(y[:300])
class_weights = torch.tensor(counts.sum() / (2.0 * counts), dtype=torch.float32)

train_dl = DataLoader(TabularDataset(X[:300], y[:300]), batch_size=30, shuffle=True)
valid_dl = DataLoader(TabularDataset(X[300:], y[300:]), batch_size=100)

model = nn.Sequential(
    nn.Linear(9, 20),
    nn.ReLU(),
    nn.Dropout(0.2),
    nn.Linear(20, 2),
)
criterion = nn.CrossEntropyLoss(weight=class_weights)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-5)

for epoch in range(10):
    model.train()
    for xb, yb in train_dl:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    model.eval()
    preds, truth = [], []
    with torch.no_grad():
        for xb, yb in valid_dl:
            preds.append(model(xb).argmax(1))
            truth.append(yb)
    print(epoch, (torch.cat(preds) == torch.cat(truth)).float().mean().item())
