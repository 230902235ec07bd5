import torch
import torch.nn as nn


class ResidualBlock(nn.Module):
    def __init__(self, dim, dropout=0.1):
        super().__init__()
        self.fc1 = nn.Linear(dim, dim)
        self.fc2 = nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        return self.norm(x + self.drop(self.fc2(torch.relu(self.fc1(x)))))


model = nn.Sequential(nn.Linear(5, 16), *[ResidualBlock(16) for _ in range(2)], nn.Linear(16, 1))
x = torch.randn(200, 5)
y = (x ** 2).sum(1, keepdim=True)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(5):
    for i in range(0, 200, 20):
        loss = nn.functional.mse_loss(model(x[i:i + 20]), y[i:i + 20])
        opt.zero_grad()
        loss.backward()
        opt.step()
