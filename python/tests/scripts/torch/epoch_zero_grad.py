import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset

inputs, targets = torch.randn(40, 3), torch.randn(40, 1)
loader = DataLoader(TensorDataset(inputs, targets), batch_size=10, shuffle=False)
model = nn.Sequential(nn.Linear(3, 4), nn.ELU(), nn.Linear(4, 1))
criterion = nn.MSELoss(reduction="sum")
optimizer = optim.SGD(model.parameters(), lr=1e-4)
for epoch in range(1, 4):
    optimizer.zero_grad()
    for x, t in loader:
        loss = criterion(model(x), t)
        loss.backward()
        optimizer.step()
    print(f"Epoch {epoch}: {loss.item()}")
