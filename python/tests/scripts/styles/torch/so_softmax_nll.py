# PyTorch loss not decreasing
import torch
import torch.nn as nn
import torch.optim as optim
import numpy as np

class Classifier(nn.Module):
    def __init__(self):
        super(Classifier, self).__init__()
        self.l1 = nn.Linear(10, 30)
        self.l2 = nn.Linear(30, 30)
        self.l3 = nn.Linear(30, 4)
        self.relu = nn.ReLU()
        self.softmax = nn.Softmax(dim=1)

    def forward(self, x):
        x = self.relu(self.l1(x))
        x = self.relu(self.l2(x))
        x = self.softmax(self.l3(x))
        return x

np.random.seed(0)
X = np.random.randn(400, 10)
Y = np.argmax(X[:, :4], axis=1)

model = Classifier()
model = model.float()
loss_fn = nn.CrossEntropyLoss()
opt = optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

def batches(X, Y, bs):
    p = np.random.permutation(len(X))
    for s in range(0, len(X), bs):
        j = p[s:s+bs]
        yield torch.from_numpy(X[j]).float(), torch.from_numpy(Y[j]).long()

for ep in range(10):
    tot = 0
    for xb, yb in batches(X[:320], Y[:320], 32):
        opt.zero_grad()
        l = loss_fn(model(xb), yb)
        l.backward()
        opt.step()
        tot += l.item()
    pred = model(torch.from_numpy(X[320:]).float()).argmax(1).numpy()
    print(ep, tot, (pred == Y[320:]).mean())
