import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

try:
    from tqdm import tqdm
except ImportError:

    def tqdm(items, **_):
        return items


ACCUMULATION_STEPS = 4
BATCH = 8
EPOCHS = 6

gen = torch.Generator().manual_seed(11)
inputs = torch.randn(320, 14, generator=gen)
labels = (inputs[:, :4].sum(1) > 0).long() + (inputs[:, 4] > 1).long()
train_loader = DataLoader(TensorDataset(inputs[:256], labels[:256]), batch_size=BATCH, shuffle=True, drop_last=True)
valid_loader = DataLoader(TensorDataset(inputs[256:], labels[256:]), batch_size=64)

model = nn.Sequential(nn.Linear(14, 24), nn.GELU(), nn.Dropout(p=0.1), nn.Linear(24, 24), nn.GELU(), nn.Linear(24, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(EPOCHS):
    model.train()
    optimizer.zero_grad()
    for step, (x, y) in enumerate(tqdm(train_loader, disable=True)):
        loss = criterion(model(x), y) / ACCUMULATION_STEPS
        loss.backward()
        if (step + 1) % ACCUMULATION_STEPS == 0:
            nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
            optimizer.step()
            optimizer.zero_grad()
    model.eval()
    correct = 0
    with torch.inference_mode():
        for x, y in valid_loader:
            correct += (model(x).argmax(1) == y).sum().item()
    print(f"epoch {epoch}: {correct / 64:.3f}")
