import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.rand(64, 8)
y = (x.sum(1, keepdim=True) > 4).float()

model = nn.Sequential(
    nn.Linear(8, 16),  # in, out
    nn.ReLU(),
    nn.Dropout(0.2),
    nn.Linear(16, 12),
    nn.Tanh(),
    nn.Linear(12, 1),
    nn.Sigmoid(),
)
criterion = nn.BCELoss()
optimizer = optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)

for epoch in range(10):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
