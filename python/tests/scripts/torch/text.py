import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class TextNet(nn.Module):
    def __init__(self, vocabulary=30, width=6):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.conv = nn.Conv1d(width, 8, kernel_size=3)
        self.gru = nn.GRU(8, 5, batch_first=True)
        self.fc = nn.Linear(5, 1)

    def forward(self, tokens):
        x = self.embedding(tokens).permute(0, 2, 1)
        x = torch.relu(self.conv(x)).transpose(1, 2)
        out, _ = self.gru(x)
        return torch.sigmoid(self.fc(out[:, -1, :]))


tokens = torch.randint(0, 30, (40, 9))
labels = (tokens.sum(1) > 130).float().unsqueeze(1)
loader = DataLoader(TensorDataset(tokens, labels), batch_size=10, shuffle=True, drop_last=True)
model = TextNet()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
