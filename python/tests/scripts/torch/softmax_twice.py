import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 6), nn.Linear(6, 6)])
        self.out = nn.Linear(6, 3)

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return F.softmax(self.out(x), dim=-1)


x = torch.randn(45, 4)
y = torch.randint(0, 3, (45,))
net = Net()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True)
for epoch in range(5):
    total = 0.0
    for xb, yb in zip(x.split(9), y.split(9)):
        net.zero_grad()
        loss = criterion(net(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(epoch, total)
net.eval()
print((net(x).argmax(1) == y).float().mean().item())
