import torch
from torch import nn, optim


class Encoder(nn.Module):
    def __init__(self, n_in, latent):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_in, 16), nn.Tanh(), nn.Linear(16, latent))

    def forward(self, x):
        return self.net(x)


class Decoder(nn.Module):
    def __init__(self, latent, n_out):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(latent, 16), nn.Tanh(), nn.Linear(16, n_out), nn.Sigmoid())

    def forward(self, z):
        return self.net(z)


class AutoEncoder(nn.Module):
    def __init__(self, n_in=20, latent=4):
        super().__init__()
        self.encoder = Encoder(n_in, latent)
        self.decoder = Decoder(latent, n_in)
        self._init_weights()

    def _init_weights(self):
        for name, p in self.named_parameters():
            if "weight" in name:
                nn.init.trunc_normal_(p, std=0.2)
            else:
                nn.init.zeros_(p)

    def forward(self, x):
        return self.decoder(self.encoder(x))


torch.manual_seed(1)
clean = torch.sigmoid(torch.randn(256, 3) @ torch.randn(3, 20))
noisy = (clean + 0.05 * torch.randn_like(clean)).clamp(0, 1)

model = AutoEncoder()
optimizer = optim.SGD(model.parameters(), lr=0.5, momentum=0.9, nesterov=True)
criterion = nn.MSELoss()
best, patience, bad = float("inf"), 3, 0
for epoch in range(15):
    model.train()
    for xb, yb in zip(noisy[:200].split(25), clean[:200].split(25)):
        loss = criterion(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        val = criterion(model(noisy[200:]), clean[200:]).item()
    if val < best:
        best, bad = val, 0
    else:
        bad += 1
        if bad >= patience:
            break
    print(epoch, val)
