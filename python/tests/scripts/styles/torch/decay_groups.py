import argparse

import torch
from torch import nn


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hidden", type=int, nargs="+", default=[24, 12])
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--wd", type=float, default=0.05)
    parser.add_argument("--milestones", type=int, nargs="*", default=[4, 6])
    parser.add_argument("--epochs", type=int, default=8)
    return parser.parse_args()


def build(sizes):
    parts = []
    for a, b in zip(sizes[:-2], sizes[1:-1]):
        parts += [nn.Linear(a, b), nn.LayerNorm(b), nn.SiLU()]
    parts.append(nn.Linear(sizes[-2], sizes[-1]))
    return nn.Sequential(*parts)


def batches(x, y, size, generator):
    order = torch.randperm(len(x), generator=generator)
    for i in range(0, len(x), size):
        yield x[order[i : i + size]], y[order[i : i + size]]


def main():
    args = get_args()
    g = torch.Generator().manual_seed(0)
    x = torch.rand(240, 6, generator=g)
    y = (x.prod(1, keepdim=True) * 20).sin() + 0.1 * torch.randn(240, 1, generator=g)
    model = build([6, *args.hidden, 1])
    decay = [p for p in model.parameters() if p.dim() > 1]
    no_decay = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW(
        [{"params": decay, "weight_decay": args.wd}, {"params": no_decay, "weight_decay": 0.0}], lr=args.lr
    )
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=args.milestones, gamma=0.3)
    for epoch in range(args.epochs):
        model.train()
        for xb, yb in batches(x[:200], y[:200], 20, g):
            loss = nn.functional.mse_loss(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        scheduler.step()
        model.eval()
        with torch.no_grad():
            print(epoch, nn.functional.mse_loss(model(x[200:]), y[200:]).item())


if __name__ == "__main__":
    main()
