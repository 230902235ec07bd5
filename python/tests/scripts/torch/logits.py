import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

X = torch.randn(64, 10)
y = (X[:, 0] * X[:, 1] > 0).float()
loader = DataLoader(TensorDataset(X, y), batch_size=16, shuffle=True)


def make_model(width, depth):
    layers = []
    size = 10
    for _ in range(depth):
        layers.append(nn.Linear(size, width))
        layers.append(nn.ReLU())
        size = width
    layers.append(nn.Linear(size, 1))
    return nn.Sequential(*layers)


model = make_model(12, 3)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.02, weight_decay=1e-4)
epoch = 0
for epoch in range(4):
    for features, target in loader:
        logits = model(features).squeeze(1)
        loss = criterion(logits, target)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    with torch.inference_mode():
        probability = torch.sigmoid(model(X).squeeze(1))
        print(((probability > 0.5).float() == y).float().mean().item())
