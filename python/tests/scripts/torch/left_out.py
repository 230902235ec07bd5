import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(3, 8), nn.GELU(), nn.Linear(8, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
x, y = torch.randn(16, 3), torch.randint(0, 2, (16,))
for epoch in range(10):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y, label_smoothing=0.1)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0, norm_type=float("inf"))
    optimizer.step()
    scheduler.step()
