import random
import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset


def set_seed(seed=1234):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class CFG:
    seed = 2021
    n_features = 10
    hidden_size = 24
    n_targets = 4
    batch_size = 32
    lr = 1e-2
    epochs = 12
    early_stopping_steps = 4


class MoADataset(Dataset):
    def __init__(self, features, targets):
        self.features = features
        self.targets = targets

    def __len__(self):
        return (self.features.shape[0])

    def __getitem__(self, idx):
        dct = {
            'x' : torch.tensor(self.features[idx, :], dtype=torch.float),
            'y' : torch.tensor(self.targets[idx, :], dtype=torch.float)
        }
        return dct


class Model(nn.Module):
    def __init__(self, num_features, num_targets, hidden_size):
        super(Model, self).__init__()
        self.batch_norm1 = nn.BatchNorm1d(num_features)
        self.dense1 = nn.Linear(num_features, hidden_size)
        self.batch_norm2 = nn.BatchNorm1d(hidden_size)
        self.dropout2 = nn.Dropout(0.2)
        self.dense2 = nn.Linear(hidden_size, num_targets)

    def forward(self, x):
        x = self.batch_norm1(x)
        x = nn.functional.leaky_relu(self.dense1(x))
        x = self.batch_norm2(x)
        x = self.dropout2(x)
        x = self.dense2(x)
        return x


def train_fn(model, optimizer, loss_fn, dataloader, device):
    model.train()
    final_loss = 0
    for data in dataloader:
        optimizer.zero_grad()
        inputs, targets = data['x'].to(device), data['y'].to(device)
        outputs = model(inputs)
        loss = loss_fn(outputs, targets)
        loss.backward()
        optimizer.step()
        final_loss += loss.item()
    final_loss /= len(dataloader)
    return final_loss


def valid_fn(model, loss_fn, dataloader, device):
    model.eval()
    final_loss = 0
    valid_preds = []
    for data in dataloader:
        inputs, targets = data['x'].to(device), data['y'].to(device)
        outputs = model(inputs)
        loss = loss_fn(outputs, targets)
        final_loss += loss.item()
        valid_preds.append(outputs.sigmoid().detach().cpu().numpy())
    final_loss /= len(dataloader)
    valid_preds = np.concatenate(valid_preds)
    return final_loss, valid_preds


set_seed(CFG.seed)
features = np.random.randn(320, CFG.n_features)
targets = (features[:, :CFG.n_targets] + 0.5 * np.random.randn(320, CFG.n_targets) > 0).astype(int)
train_dataset = MoADataset(features[:256], targets[:256])
valid_dataset = MoADataset(features[256:], targets[256:])
trainloader = DataLoader(train_dataset, batch_size=CFG.batch_size, shuffle=True)
validloader = DataLoader(valid_dataset, batch_size=CFG.batch_size, shuffle=False)

DEVICE = ('cuda' if torch.cuda.is_available() else 'cpu')
model = Model(CFG.n_features, CFG.n_targets, CFG.hidden_size)
model.to(DEVICE)
optimizer = optim.Adam(model.parameters(), lr=CFG.lr)
loss_fn = nn.BCEWithLogitsLoss()

early_step = 0
best_loss = np.inf
for epoch in range(CFG.epochs):
    train_loss = train_fn(model, optimizer, loss_fn, trainloader, DEVICE)
    valid_loss, valid_preds = valid_fn(model, loss_fn, validloader, DEVICE)
    print(f"EPOCH: {epoch}, train_loss: {train_loss:.4f} valid_loss: {valid_loss:.4f}")
    if valid_loss < best_loss:
        best_loss = valid_loss
    else:
        early_step += 1
        if early_step >= CFG.early_stopping_steps:
            break
