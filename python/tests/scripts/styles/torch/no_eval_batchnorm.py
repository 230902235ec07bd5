import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

x = torch.randn(300, 6, generator=torch.Generator().manual_seed(8))
y = ((x[:, 0] ** 2 + x[:, 1] ** 2) > 1.5).float().unsqueeze(1)
train_dl = DataLoader(TensorDataset(x[:240], y[:240]), batch_size=24, shuffle=True)
test_dl = DataLoader(TensorDataset(x[240:], y[240:]), batch_size=30)


def get_model():
    return nn.Sequential(
        nn.Linear(6, 24), nn.BatchNorm1d(24), nn.ReLU(), nn.Dropout(0.4), nn.Linear(24, 1), nn.Sigmoid()
    )


def loop(model, dl, loss_fn, optimizer=None):
    hits = 0
    for xb, yb in dl:
        out = model(xb)
        if optimizer is not None:
            loss = loss_fn(out, yb)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        hits += ((out > 0.5).float() == yb).sum().item()
    return hits / len(dl.dataset)


model = get_model()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(7):
    train_acc = loop(model, train_dl, nn.BCELoss(), opt)
    with torch.no_grad():
        test_acc = loop(model, test_dl, nn.BCELoss())
    print(f"{epoch} train {train_acc:.3f} test {test_acc:.3f}")
