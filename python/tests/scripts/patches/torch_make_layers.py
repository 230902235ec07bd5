import torch
from torch import nn, optim
from collections import OrderedDict
from torch.utils.data import DataLoader, TensorDataset

N_EPOCHS = 3
batch_size = 12


def make_layers(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, n_out), nn.ReLU(inplace=True))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = make_layers(6, 22)
        self.middle = nn.Sequential(OrderedDict([
            ('fc', nn.Linear(22, 11)),
            ('act', nn.Sigmoid()),
        ]))
        self.head = nn.Sequential()
        self.head.add_module('fc1', nn.Linear(11, 5))
        self.head.add_module('act1', nn.Tanh())
        self.head.add_module('fc2', nn.Linear(5, 1))

    def forward(self, x):
        x = self.features(x)
        x = self.middle(x)
        return self.head(x)


device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
net = Net().to(device)
optimizer = optim.SGD(net.parameters(), 0.02, momentum=0.5)
criterion = nn.SmoothL1Loss()
train_loader = DataLoader(TensorDataset(torch.rand(60, 6), torch.rand(60, 1)), batch_size, True)
for epoch in range(1, N_EPOCHS + 1):
    running_loss = 0.0
    for i, data in enumerate(train_loader, 0):
        inputs, labels = data[0].to(device), data[1].to(device)
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
