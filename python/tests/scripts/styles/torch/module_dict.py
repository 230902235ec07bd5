import torch
import torch.nn as nn
import torch.nn.functional as F


def weights_init(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_uniform_(m.weight, gain=nn.init.calculate_gain("relu"))
        nn.init.constant_(m.bias, 0.01)
    elif isinstance(m, nn.Conv1d):
        nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
        if m.bias is not None:
            nn.init.zeros_(m.bias)


class Net(nn.Module):
    def __init__(self, activation="lrelu"):
        super().__init__()
        self.layers = nn.ModuleDict(
            {
                "conv": nn.Conv1d(2, 6, kernel_size=3, padding=1),
                "pool": nn.MaxPool1d(2),
                "fc": nn.Linear(36, 16),
                "out": nn.Linear(16, 1),
            }
        )
        self.activations = nn.ModuleDict(
            [
                ["lrelu", nn.LeakyReLU()],
                ["prelu", nn.PReLU()],
            ]
        )
        self.choice = activation

    def forward(self, x):
        x = self.layers["pool"](F.relu(self.layers["conv"](x)))
        x = x.view(x.size(0), -1)
        x = self.activations[self.choice](self.layers["fc"](x))
        return self.layers["out"](x).squeeze(-1)


torch.manual_seed(0)
t = torch.linspace(0, 6.28, 12)
phase = torch.rand(160, 1) * 6.28
signal = torch.stack([torch.sin(t + phase), torch.cos(2 * t + phase)], dim=1) + 0.1 * torch.randn(160, 2, 12)
target = torch.cos(phase).squeeze(1)

net = Net("prelu")
net.apply(weights_init)
optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3, momentum=0.5)
loss_fn = nn.SmoothL1Loss()

n_train, batch = 120, 20
for epoch in range(10):
    net.train()
    order = torch.randperm(n_train)
    for start in range(0, n_train, batch):
        take = order[start : start + batch]
        optimizer.zero_grad()
        loss = loss_fn(net(signal[take]), target[take])
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        print(epoch, loss_fn(net(signal[n_train:]), target[n_train:]).item())
