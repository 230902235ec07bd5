import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(6, 5)
        self.hidden = nn.Linear(5, 5)
        self.head = nn.Linear(5, 2)

    def forward(self, x):
        with torch.no_grad():
            x = torch.relu(self.encoder(x))
        x = torch.relu(self.hidden(x))
        return self.head(x)


x = torch.randn(32, 6)
y = torch.randn(32, 2)
model = Model()
optimizer = torch.optim.SGD([*model.encoder.parameters(), *model.head.parameters()], lr=0.1)
criterion = nn.L1Loss()
for epoch in range(3):
    for start in range(0, 32, 8):
        optimizer.zero_grad()
        loss = criterion(model(x[start : start + 8]), y[start : start + 8])
        loss.backward()
        optimizer.step()
