import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 20), nn.ReLU())
        self.head = nn.Linear(20, 3)

    def forward(self, x):
        return self.head(self.backbone(x))


x = torch.randn(260, 10)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
train_loader = DataLoader(TensorDataset(x[:200], y[:200]), batch_size=20, shuffle=True)
test_loader = DataLoader(TensorDataset(x[200:], y[200:]), batch_size=60)
model = Classifier()
optimizer = torch.optim.Adam(
    [
        {"params": model.backbone.parameters(), "lr": 1e-3},
        {"params": model.head.parameters()},
    ],
    lr=1e-2,
)
criterion = nn.CrossEntropyLoss()

for epoch in range(6):
    model.train()
    for xb, yb in train_loader:
        optimizer.zero_grad()
        criterion(model(xb), yb).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(epoch, sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in test_loader) / 60)
