import torch
import torch.nn as nn
from torch.utils.data import DataLoader, random_split, TensorDataset


class ConvNet(nn.Module):
    def __init__(self, num_classes=5):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 6, kernel_size=3, padding=1),
            nn.BatchNorm2d(6),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
            nn.Conv2d(6, 8, kernel_size=3, stride=2, padding=1),
            nn.ReLU(inplace=True),
        )
        self.classifier = nn.Sequential(nn.Linear(8 * 2 * 2, 12), nn.ReLU(), nn.Linear(12, num_classes))

    def forward(self, x):
        x = self.features(x)
        x = x.view(x.size(0), -1)
        return self.classifier(x)


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_uniform_(m.weight)
        m.bias.data.fill_(0.01)
    elif isinstance(m, nn.Conv2d):
        nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")


data = TensorDataset(torch.rand(60, 3, 8, 8), torch.randint(0, 5, (60,)))
train_set, test_set = random_split(data, [48, 12])
train_loader = DataLoader(train_set, batch_size=16)
test_loader = DataLoader(test_set, batch_size=12)
model = ConvNet()
model.apply(init_weights)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, weight_decay=1e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(3):
    model.train()
    for images, labels in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(images), labels)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        hits = sum((model(images).argmax(1) == labels).sum().item() for images, labels in test_loader)
    print(epoch, hits / 12)
