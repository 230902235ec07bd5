import torch
import torch.nn as nn

torch.manual_seed(3)
features = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 12), nn.ReLU())
classifier = nn.Linear(12, 3)
model = nn.Sequential(features, classifier)

data = torch.randn(180, 8)
labels = (data[:, 0] > 0).long() + (data[:, 1] > 0).long()

optimizer = torch.optim.SGD([
    {'params': features.parameters(), 'lr': 0.05},
    {'params': classifier.parameters(), 'lr': 0.05},
], lr=1e-3, momentum=0.9)
criterion = nn.CrossEntropyLoss()

for epoch in range(6):
    perm = torch.randperm(150)
    for i in range(0, 150, 30):
        idx = perm[i:i + 30]
        optimizer.zero_grad()
        out = model(data[idx])
        loss = criterion(out, labels[idx])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        acc = (model(data[150:]).argmax(1) == labels[150:]).float().mean()
        print(epoch, float(acc))
