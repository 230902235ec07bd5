import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)


def create_sequences(data, seq_length):
    xs, ys = [], []
    for i in range(len(data) - seq_length):
        xs.append(data[i : i + seq_length])
        ys.append(data[i + seq_length])
    return np.array(xs), np.array(ys)


t = np.linspace(0, 60, 320)
series = (np.sin(t) * 0.6 + np.sin(0.31 * t) * 0.3).astype(np.float32)
X, y = create_sequences(series, 12)
X = torch.tensor(X[:, :, None])
y = torch.tensor(y[:, None])
train_X, train_y, test_X, test_y = X[:240], y[:240], X[240:], y[240:]


class GRUModel(nn.Module):
    def __init__(self, input_dim, hidden_dim, output_dim):
        super(GRUModel, self).__init__()
        self.gru = nn.GRU(input_dim, hidden_dim, batch_first=True)
        self.fc = nn.Linear(hidden_dim, output_dim)
        self.init_weights()

    def init_weights(self):
        for name, param in self.gru.named_parameters():
            if "weight_ih" in name:
                nn.init.xavier_uniform_(param.data)
            elif "weight_hh" in name:
                nn.init.orthogonal_(param.data)
            elif "bias" in name:
                param.data.fill_(0)

    def forward(self, x):
        h0 = torch.zeros(1, x.size(0), self.gru.hidden_size)
        out, _ = self.gru(x, h0)
        return self.fc(out[:, -1, :])


model = GRUModel(1, 10, 1)
criterion = nn.MSELoss()
optimizer = torch.optim.NAdam(model.parameters(), lr=5e-3)
dataset = torch.utils.data.TensorDataset(train_X, train_y)
loader = torch.utils.data.DataLoader(dataset, batch_size=24, shuffle=True)

num_epochs = 8
epoch = 0
while epoch < num_epochs:
    for xb, yb in loader:
        outputs = model(xb)
        optimizer.zero_grad()
        loss = criterion(outputs, yb)
        loss.backward()
        optimizer.step()
    epoch += 1
    model.eval()
    with torch.no_grad():
        rmse = criterion(model(test_X), test_y).sqrt().item()
    model.train()
    print(epoch, rmse)
