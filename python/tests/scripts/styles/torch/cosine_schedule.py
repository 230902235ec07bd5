import torch, torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader

X = torch.randn(256, 12, generator=torch.Generator().manual_seed(1))
y = X[:, :3].sum(1).gt(0).float().unsqueeze(1)
dl = DataLoader(TensorDataset(X, y), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(12, 24), nn.GELU(), nn.Linear(24, 1), nn.Sigmoid())
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=10)
bce = nn.BCELoss()
for epoch in range(10):
    for xb, yb in dl:
        opt.zero_grad(); l = bce(model(xb), yb); l.backward(); opt.step()
    sched.step()
print(l.item())
