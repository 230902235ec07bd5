import torch
import torch.nn as nn

x, y = torch.randn(24, 3), torch.randn(24, 1)
model = nn.Linear(3, 1)
criterion, optimizer = nn.SmoothL1Loss(), torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(5):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    print(epoch, loss.item())
