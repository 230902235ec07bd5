import torch
import torch.nn as nn

X = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
Y = torch.tensor([[0.0], [1.0], [1.0], [0.0]])


class Xor(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin1 = nn.Linear(2, 2)
        self.lin2 = nn.Linear(2, 1)

    def forward(self, x):
        x = self.lin1(x)
        x = torch.sigmoid(x)
        return self.lin2(x)


model = Xor()
mse = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
for i in range(20):
    for j in range(4):
        optimizer.zero_grad()
        loss = mse(model(X[j]), Y[j])
        loss.backward()
        optimizer.step()
