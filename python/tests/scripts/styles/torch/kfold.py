import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset

k_folds = 3
num_epochs = 4


def reset_weights(m):
    for layer in m.children():
        if hasattr(layer, 'reset_parameters'):
            layer.reset_parameters()


class SimpleNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(9, 20),
            nn.LeakyReLU(0.1),
            nn.Linear(20, 10),
            nn.LeakyReLU(0.1),
            nn.Linear(10, 3),
        )

    def forward(self, x):
        return self.layers(x)


torch.manual_seed(42)
x = torch.randn(240, 9)
y = x[:, :3].argmax(dim=1)
dataset = TensorDataset(x, y)
indices = np.random.RandomState(0).permutation(len(dataset))
folds = np.array_split(indices, k_folds)
results = {}
loss_function = nn.CrossEntropyLoss()

for fold in range(k_folds):
    print(f'FOLD {fold}')
    test_ids = folds[fold]
    train_ids = np.concatenate([f for i, f in enumerate(folds) if i != fold])
    trainloader = DataLoader(dataset, batch_size=10, sampler=SubsetRandomSampler(train_ids.tolist()))
    testloader = DataLoader(dataset, batch_size=10, sampler=SubsetRandomSampler(test_ids.tolist()))

    network = SimpleNet()
    network.apply(reset_weights)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)

    for epoch in range(0, num_epochs):
        print(f'Starting epoch {epoch+1}')
        current_loss = 0.0
        for i, data in enumerate(trainloader, 0):
            inputs, targets = data
            optimizer.zero_grad()
            outputs = network(inputs)
            loss = loss_function(outputs, targets)
            loss.backward()
            optimizer.step()
            current_loss += loss.item()

    correct, total = 0, 0
    with torch.no_grad():
        for i, data in enumerate(testloader, 0):
            inputs, targets = data
            outputs = network(inputs)
            _, predicted = torch.max(outputs.data, 1)
            total += targets.size(0)
            correct += (predicted == targets).sum().item()
        results[fold] = 100.0 * (correct / total)
print(results)
