import random
import sys

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
np.random.seed(7)
random.seed(7)
loader = DataLoader(TensorDataset(torch.randn(40, 3), torch.randn(40, 1)), batch_size=8, shuffle=True)
test = DataLoader(TensorDataset(torch.randn(16, 3), torch.randn(16, 1)), batch_size=8)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Dropout(0.3), nn.Linear(4, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
best = float("inf")
for epoch in range(100):
    model.train()
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        error = sum(nn.functional.mse_loss(model(x), y, reduction="sum") for x, y in test) / 16
    print(epoch, repr(float(loss)), repr(float(error)))
    if error < best:
        best = error
        torch.save(model.state_dict(), "best.pt")
    if epoch == 6:
        break
print(torch.rand(2), np.random.rand(2), random.random())
print(isinstance(model, nn.Module), type(loader), nn.Linear(2, 2), file=sys.stderr)
sys.exit(3)
