import torch
import torch.nn as nn
import torch.optim as optim
import numpy as np
from torch.utils.data import Dataset, DataLoader, random_split

torch.manual_seed(42)


class TitanicDataset(Dataset):
    def __init__(self, n=300):
        rng = np.random.RandomState(1)
        self.X = rng.randn(n, 7).astype(np.float32)
        self.y = (self.X[:, 0] - self.X[:, 2] + 0.3 * rng.randn(n) > 0).astype(np.float32)

    def __len__(self):
        return len(self.X)

    def __getitem__(self, idx):
        return torch.from_numpy(self.X[idx]), torch.tensor(self.y[idx])


class Net(nn.Module):
    def __init__(self, n_in, n_hidden=16, p=0.2):
        super(Net, self).__init__()
        self.fc1 = nn.Linear(n_in, n_hidden)
        self.bn1 = nn.BatchNorm1d(n_hidden)
        self.dropout = nn.Dropout(p)
        self.fc2 = nn.Linear(n_hidden, 1)

    def forward(self, x):
        x = torch.relu(self.bn1(self.fc1(x)))
        x = self.dropout(x)
        return self.fc2(x).squeeze(1)


dataset = TitanicDataset()
n_val = int(len(dataset) * 0.2)
train_set, val_set = random_split(dataset, [len(dataset) - n_val, n_val])
train_loader = DataLoader(train_set, batch_size=24, shuffle=True, drop_last=True)
val_loader = DataLoader(val_set, batch_size=60)

model = Net(7)
criterion = nn.BCEWithLogitsLoss()
optimizer = optim.Adam(model.parameters(), lr=0.005)

for epoch in range(8):
    model.train()
    running_loss = 0.0
    for inputs, targets in train_loader:
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        running_loss += loss.item() * inputs.size(0)

    model.eval()
    val_loss, correct = 0.0, 0
    with torch.no_grad():
        for inputs, targets in val_loader:
            outputs = model(inputs)
            val_loss += criterion(outputs, targets).item()
            predicted = (torch.sigmoid(outputs) > 0.5).float()
            correct += (predicted == targets).sum().item()
    print(f'Epoch {epoch+1}: train {running_loss/len(train_set):.4f} val {val_loss:.4f} acc {correct/n_val:.3f}')
