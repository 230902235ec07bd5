import argparse
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=6)
parser.add_argument("--lr", type=float, default=0.1)
args = parser.parse_args()

sizes = [32, 16, 8]
layers = []
prev = 4
for n in sizes:
    layers.append(nn.Linear(prev, n))
    layers.append(nn.ReLU())
    prev = n
layers.append(nn.Linear(prev, 1))
model = nn.Sequential(*layers)

x, y = torch.rand(40, 4), torch.rand(40, 1)
opt = torch.optim.RMSprop(model.parameters(), lr=args.lr)
for epoch in range(args.epochs):
    opt.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    opt.step()
