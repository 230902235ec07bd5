import numpy as np
import torch
import torch.nn as nn

rng = np.random.default_rng(0)
X = rng.normal(size=(36, 2, 5, 5)).astype(np.float32)
Y = rng.normal(size=(36, 3)).astype(np.float32)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.a = nn.Linear(50, 9)
        self.b = nn.Linear(9, 3)
        self.act = nn.Softplus()

    def forward(self, x):
        return self.b(self.act(self.a(self.flatten(x))))


net = Net()
optim = torch.optim.Adamax(net.parameters(), lr=0.002)
losses = []
for epoch in range(4):
    for k in range(0, len(X), 12):
        x = torch.from_numpy(X[k : k + 12])
        y = torch.tensor(Y[k : k + 12])
        optim.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        optim.step()
        losses.append(float(loss))
with torch.no_grad():
    print(np.abs(net(torch.from_numpy(X)).numpy() - Y).mean())
