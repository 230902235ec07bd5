import torch
import torch.nn as nn
import torch.nn.functional as F

config = {'hidden': [24, 12], 'lr': 0.005, 'optimizer': 'Adam', 'epochs': 9, 'dropout': 0.1}


class MLP(nn.Module):
    def __init__(self, n_in, n_out, config):
        super().__init__()
        widths = [n_in] + config['hidden']
        self.hidden = nn.ModuleList([nn.Linear(a, b) for a, b in zip(widths[:-1], widths[1:])])
        self.out = nn.Linear(widths[-1], n_out)
        self.dropout = nn.Dropout(config['dropout'])

    def forward(self, x):
        for layer in self.hidden:
            x = F.relu(layer(x))
            x = self.dropout(x)
        return self.out(x)


def main():
    torch.manual_seed(1)
    x, y = torch.rand(36, 7), torch.rand(36, 2)
    model = MLP(7, 2, config)
    optimizer = getattr(torch.optim, config['optimizer'])(model.parameters(), lr=config['lr'])
    loss_fn = nn.MSELoss()
    for epoch in range(config['epochs']):
        model.train()
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()


main()
