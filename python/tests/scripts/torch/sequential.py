import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
points = torch.randn(96, 4)
labels = (points[:, 0] > 0).long() + (points[:, 1] > 0.5).long()
train_loader = DataLoader(TensorDataset(points[:64], labels[:64]), batch_size=16, shuffle=True)
test_loader = DataLoader(TensorDataset(points[64:], labels[64:]), batch_size=32)

model = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Dropout(0.2), nn.Linear(12, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(5):
    model.train()
    for inputs, targets in train_loader:
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
    model.eval()
    correct = 0
    with torch.no_grad():
        for inputs, targets in test_loader:
            predicted = model(inputs).argmax(dim=1)
            correct += (predicted == targets).sum().item()
    print(f"epoch {epoch} accuracy {correct / 32:.3f}")
