import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = nn.Linear(4, 4)

    def forward(self, x):
        return x + self.b(torch.relu(self.a(x)))


model = nn.Sequential(nn.Linear(3, 4), Block(), nn.Linear(4, 2))
optimizer = torch.optim.Adam(model.parameters())
x, y = torch.randn(16, 3), torch.randint(0, 2, (16,))
for epoch in range(3):
    optimizer.zero_grad()
    nn.CrossEntropyLoss()(model(x), y).backward()
    optimizer.step()
