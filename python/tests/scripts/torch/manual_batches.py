import torch
import torch.nn as nn

torch.manual_seed(3)
X = torch.randn(50, 6)
y = (X.sum(dim=1, keepdim=True) > 0).float()
X_train, y_train, X_test, y_test = X[:40], y[:40], X[40:], y[40:]

model = nn.Sequential(
    nn.Linear(6, 8),
    nn.LeakyReLU(0.1),
    nn.Linear(8, 1),
    nn.Sigmoid(),
)
loss_fn = nn.BCELoss()
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.005)
n_epochs = 6
batch_size = 8

for epoch in range(n_epochs):
    permutation = torch.randperm(len(X_train))
    for i in range(0, len(X_train), batch_size):
        rows = permutation[i : i + batch_size]
        y_pred = model(X_train[rows])
        loss = loss_fn(y_pred, y_train[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        accuracy = (model(X_test).round() == y_test).float().mean()
    print(f"epoch {epoch}, accuracy {accuracy:.2f}")
