import torch
import torch.nn as nn

x = torch.rand(30, 5)
y = torch.rand(30, 1)


class Block(nn.Module):
    def __init__(self, n_in, n_out):
        super(Block, self).__init__()
        self.linear = nn.Linear(n_in, n_out)
        self.act = nn.ELU()

    def forward(self, x):
        return self.act(self.linear(x))


class Model(nn.Module):
    def __init__(self):
        super(Model, self).__init__()
        self.block1 = Block(5, 14)
        self.block2 = Block(14, 9)
        self.act = nn.ReLU()
        self.middle = nn.Linear(9, 7)
        self.last = nn.Linear(7, 6)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(6, 1)

    def forward(self, x):
        x = self.block2(self.block1(x))
        x = self.act(self.middle(x))
        x = self.act(self.last(x))
        return self.head(self.drop(x))


net = Model()
loss_fn = nn.L1Loss(reduction='sum')
opt = torch.optim.Adam(net.parameters(), lr=3e-4, weight_decay=1e-4)
for epoch in range(1, 8):
    for i in range(0, 30, 10):
        out = net(x[i:i + 10])
        loss = loss_fn(out, y[i:i + 10])
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(epoch, loss_fn(net(x), y).item())
