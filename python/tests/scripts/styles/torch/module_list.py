from collections import OrderedDict
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

HIDDEN = [32, 16, 8]
LR = 1e-2


class MLP(nn.Module):
    def __init__(self, in_features: int, hidden: list, out_features: int, activation=nn.Tanh):
        super().__init__()
        sizes = [in_features] + hidden
        self.layers = nn.ModuleList([nn.Linear(a, b) for a, b in zip(sizes[:-1], sizes[1:])])
        self.act = activation()
        self.head = nn.Linear(sizes[-1], out_features)
        self.apply(self._init_weights)

    def _init_weights(self, m):
        if isinstance(m, nn.Linear):
            nn.init.xavier_uniform_(m.weight)
            nn.init.zeros_(m.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = self.act(layer(x))
        return self.head(x)


def make_data(n=300):
    g = torch.Generator().manual_seed(0)
    x = torch.randn(n, 6, generator=g)
    y = (x[:, 0] * x[:, 1] > 0).long()
    return x, y


def evaluate(model, loader):
    model.eval()
    hits = total = 0
    with torch.inference_mode():
        for xb, yb in loader:
            hits += (model(xb).argmax(-1) == yb).sum().item()
            total += yb.numel()
    return hits / total


def main():
    x, y = make_data()
    train_dl = DataLoader(TensorDataset(x[:240], y[:240]), batch_size=24, shuffle=True)
    test_dl = DataLoader(TensorDataset(x[240:], y[240:]), batch_size=60)
    model = MLP(6, HIDDEN, 2)
    opt = torch.optim.AdamW(model.parameters(), lr=LR, weight_decay=0.0)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(8):
        model.train()
        for xb, yb in train_dl:
            loss = loss_fn(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(OrderedDict(epoch=epoch, loss=loss.item(), acc=evaluate(model, test_dl)))


if __name__ == "__main__":
    main()
