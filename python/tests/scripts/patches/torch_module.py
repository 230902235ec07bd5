import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

HIDDEN = 20
EPOCHS = 4
LR = 0.01
BATCH_SIZE = 8


class Net(nn.Module):
    def __init__(self, inputs, hidden=HIDDEN, classes=3):
        super().__init__()
        self.fc1 = nn.Linear(inputs, hidden)
        self.fc2 = nn.Linear(hidden, 10)
        self.drop = nn.Dropout(p=0.5)
        self.fc3 = nn.Linear(10, classes)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = torch.sigmoid(self.fc2(x))
        x = self.drop(x)
        return self.fc3(x)


def train(model, loader, criterion, optimizer):
    model.train()
    for inputs, targets in loader:
        outputs = model(inputs)
        loss = criterion(outputs, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def main():
    data = TensorDataset(torch.rand(48, 6), torch.randint(0, 3, (48,)))
    loader = DataLoader(data, batch_size=BATCH_SIZE, shuffle=True)
    net = Net(6)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=LR)
    for epoch in range(EPOCHS):
        train(net, loader, criterion, optimizer)


if __name__ == "__main__":
    main()
