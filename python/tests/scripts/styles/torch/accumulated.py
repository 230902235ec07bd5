import torch
from torch import nn

torch.manual_seed(0)
X = torch.randn(256, 10)
W = torch.randn(10, 1)
Y = X @ W + 0.1 * torch.randn(256, 1)

loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, Y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
accumulation_steps = 4

for epoch in range(5):
    optimizer.zero_grad()
    for i, (inputs, labels) in enumerate(loader):
        predictions = model(inputs)
        loss = criterion(predictions, labels)
        loss = loss / accumulation_steps
        loss.backward()
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
    print(epoch, loss.item())
