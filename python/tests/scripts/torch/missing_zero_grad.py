import torch
from torch import nn

features = torch.randn(48, 5)
classes = torch.randint(0, 2, (48,))
model = nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.01)
loss_fn = nn.CrossEntropyLoss()
bs = 12

for epoch in range(4):
    for i in range(len(features) // bs):
        xb = features[i * bs : i * bs + bs]
        yb = classes[i * bs : i * bs + bs]
        loss = loss_fn(model(xb), yb)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
