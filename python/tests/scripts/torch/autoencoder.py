import torch
import torch.nn as nn

images = torch.rand(24, 1, 8, 8)
model = nn.Sequential(
    nn.Conv2d(1, 4, 3, stride=2, padding=1),
    nn.ReLU(),
    nn.ConvTranspose2d(4, 1, 2, stride=2),
    nn.Sigmoid(),
)
optimizer = torch.optim.NAdam(model.parameters(), lr=0.002)
loss_fn = nn.MSELoss()
for epoch in range(3):
    for batch in torch.utils.data.DataLoader(images, batch_size=8):
        loss = loss_fn(model(batch), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
