import torch
import torch.nn as nn

x, y = torch.randn(30, 3), torch.randint(0, 2, (30,))
model = nn.Sequential(nn.Linear(3, 4), nn.Sigmoid(), nn.Linear(4, 2))
criterion, optimizer = nn.CrossEntropyLoss(), torch.optim.Adam(model.parameters())
for epoch in range(3):
    for i in range(0, 30, 10):
        out = model(x[i : i + 10])
        loss = criterion(out, y[i : i + 10])
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()
