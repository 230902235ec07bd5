"""Tabular regression with a config dictionary."""
import math

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

config = {
    "seed": 5201314,
    "valid_ratio": 0.2,
    "n_epochs": 10,
    "batch_size": 20,
    "learning_rate": 1e-3,
    "weight_decay": 1e-4,
    "early_stop": 400,
}


def same_seed(seed):
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    torch.manual_seed(seed)


class My_Model(nn.Module):
    def __init__(self, input_dim):
        super(My_Model, self).__init__()
        self.layers = nn.Sequential(
            nn.Linear(input_dim, 16),
            nn.ReLU(),
            nn.Linear(16, 8),
            nn.ReLU(),
            nn.Linear(8, 1)
        )

    def forward(self, x):
        x = self.layers(x)
        x = x.squeeze(1) # (B, 1) -> (B)
        return x


def trainer(train_loader, valid_loader, model, config, device):
    criterion = nn.MSELoss(reduction='mean')
    optimizer = torch.optim.SGD(model.parameters(), lr=config['learning_rate'],
                                weight_decay=config['weight_decay'], momentum=0.7)
    n_epochs, best_loss, step, early_stop_count = config['n_epochs'], math.inf, 0, 0
    for epoch in range(n_epochs):
        model.train()
        loss_record = []
        for x, y in train_loader:
            optimizer.zero_grad()
            x, y = x.to(device), y.to(device)
            pred = model(x)
            loss = criterion(pred, y)
            loss.backward()
            optimizer.step()
            step += 1
            loss_record.append(loss.detach().item())
        mean_train_loss = sum(loss_record) / len(loss_record)

        model.eval()
        loss_record = []
        for x, y in valid_loader:
            x, y = x.to(device), y.to(device)
            with torch.no_grad():
                pred = model(x)
                loss = criterion(pred, y)
            loss_record.append(loss.item())
        mean_valid_loss = sum(loss_record) / len(loss_record)
        print(f'Epoch [{epoch+1}/{n_epochs}]: Train loss: {mean_train_loss:.4f}, Valid loss: {mean_valid_loss:.4f}')
        if mean_valid_loss < best_loss:
            best_loss = mean_valid_loss
            early_stop_count = 0
        else:
            early_stop_count += 1
        if early_stop_count >= config['early_stop']:
            print('\nModel is not improving, so we halt the training session.')
            return


device = 'cpu'
same_seed(config['seed'])
table = torch.randn(250, 9)
answers = table[:, 0] * 2 - table[:, 4] + 0.05 * torch.randn(250)
everything = TensorDataset(table, answers)
valid_size = int(config['valid_ratio'] * len(everything))
train_set, valid_set = random_split(
    everything, [len(everything) - valid_size, valid_size],
    generator=torch.Generator().manual_seed(config['seed']))
train_loader = DataLoader(train_set, batch_size=config['batch_size'], shuffle=True, pin_memory=False)
valid_loader = DataLoader(valid_set, batch_size=config['batch_size'], shuffle=True, pin_memory=False)
model = My_Model(input_dim=table.shape[1]).to(device)
trainer(train_loader, valid_loader, model, config, device)
